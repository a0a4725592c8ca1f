#include <idletune/calls.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "agent/journal/journal.hpp"
#include "agent/launch/launch_table.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

CallDescription blocks() {
  CallDescription description;
  description.name = "blocks";
  description.parameters = {{"WIDTH", {1, 2, 4, 8}}, {"DEPTH", {1, 3, 5}}};
  description.dimensions = {"KIND"};
  return description;
}

// At problems 0 and 1 WIDTH=4 DEPTH=3 is the best. At problem 2 nothing is better than the default, and
// others are up to ten times slower.
double cost_of(const Problem& problem, const Configuration& c) {
  if (problem[0] == 2) return 1000.0 * static_cast<double>(c[0] == 4 ? 5 : 4 + c[0] * c[1] - 1);
  const auto distance = static_cast<double>((c[0] - 4) * (c[0] - 4) + 2 * (c[1] - 3) * (c[1] - 3));
  return 13000 + (problem[0] == 1 ? 300 : 1000) * distance;
}

// An application of its own that makes calls in a process of the agent's.
struct Application {
  explicit Application(const std::string& state, const CallDescription& description = blocks())
      : agent([&] {
          AgentOptions options;
          options.state = state;
          options.read_environment = false;
          options.model = kNoModel;
          options.seed = 1;
          return Agent::open(options);
        }()),
        calls(open_calls(*agent, description)) {}

  void call(const Problem& problem) {
    auto begun = required(calls->begin(problem));
    ran.insert(calls->text(begun.configuration));
    Measurement measurement;
    measurement.status = judge ? judge(begun.configuration) : TrialStatus::correct;
    const double took = cost_of(problem, begun.configuration);
    measurement.run_time = Nanoseconds(static_cast<std::int64_t>(took));
    REQUIRE(calls->end(begun, measurement).ok());
    spent += took;
    default_spent += cost_of(problem, {1, 1});
    worst_over = std::max(worst_over, spent - 1.02 * default_spent);
    agent->idle(std::chrono::seconds(1));
  }
  std::string running(const Problem& problem) const {
    auto explanation = required(calls->explain(problem));
    return explanation.running_text;
  }
  // Until it runs, or never.
  bool call_until(const Problem& problem, const std::string& best, int most = 20000) {
    for (int i = 0; i < most; ++i) {
      call(problem);
      if (i % 16 == 0 && running(problem) == best) return true;
    }
    return running(problem) == best;
  }

  Result<Agent> agent;
  Result<TunedCalls> calls;
  std::function<TrialStatus(const Configuration&)> judge;
  std::set<std::string> ran;
  double spent = 0, default_spent = 0, worst_over = 0;
};

// A process that is killed in the first call which runs the best. It may have been building another
// then, which is a suspect as well.
void die_in_best(const std::string& state) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Application application(state);
    application.judge = [](const Configuration& c) {
      if (c == Configuration{4, 3}) (void)kill(getpid(), SIGKILL);
      return TrialStatus::correct;
    };
    for (int i = 0; i < 40000; ++i) application.call({0});
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

// What the first process after a power cut makes of that: how many are suspects now.
std::uint64_t cut_power(const std::string& state) {
  journal::JournalOptions options;
  options.boot = 44;
  const auto journal = journal::Journal::open(open_posix_storage(state), options);
  REQUIRE(journal->recovery().new_suspects > 0);  // whoever was in the race
  REQUIRE(journal->shutdown().ok());
  return journal->recovery().new_suspects;
}

}  // namespace

constexpr char kBest[] = "WIDTH=4 DEPTH=3", kSecond[] = "WIDTH=2 DEPTH=3";

TEST_CASE("calls come to run the best configuration, each problem its own") {
  Application application("");
  REQUIRE(application.calls.ok());
  CHECK(application.call_until({0}, kBest));
  CHECK(application.call_until({1}, kBest));
  CHECK(application.spent < application.default_spent);
  CHECK(application.running({0}) == kBest);
}

TEST_CASE("what is tried never costs more than the promise and one call") {
  Application application("");
  REQUIRE(application.calls.ok());
  for (int i = 0; i < 5000; ++i) application.call({2});
  CHECK(application.ran.size() > 6);
  CHECK(application.worst_over <= cost_of({2}, {8, 5}));
  CHECK(application.running({2}) == "WIDTH=1 DEPTH=1");  // nothing is faster
}

TEST_CASE("what is told to be wrong runs no more at its problem, after a restart neither") {
  const test::TemporaryFolder folder;
  const auto wrong = [](const Configuration& c) {
    return c == Configuration{4, 3} ? TrialStatus::correctness : TrialStatus::correct;
  };
  {
    Application application(folder.path());
    application.judge = wrong;
    int times = 0;
    application.judge = [&](const Configuration& c) {
      times += wrong(c) == TrialStatus::correct ? 0 : 1;
      return wrong(c);
    };
    for (int i = 0; i < 6000; ++i) application.call({0});
    CHECK(application.running({0}) == kSecond);
    CHECK(times == 1);
  }
  Application again(folder.path());
  again.judge = wrong;
  for (int i = 0; i < 3000; ++i) again.call({0});
  CHECK(again.ran.count(kBest) == 0);
  CHECK(again.running({0}) == kSecond);
}

TEST_CASE("what is told to have been fatal runs nowhere any more") {
  const test::TemporaryFolder folder;
  for (const TrialStatus fatal : {TrialStatus::crash, TrialStatus::timeout}) {
    Application application(folder.path());
    int times = 0;
    application.judge = [&](const Configuration& c) {
      const bool dies = c == Configuration{4, 3};
      times += dies ? 1 : 0;
      return dies ? fatal : TrialStatus::correct;
    };
    for (int i = 0; i < 6000; ++i) application.call({0});
    CHECK(application.running({0}) == kSecond);
    for (int i = 0; i < 2000; ++i) application.call({1});
    CHECK(times == (fatal == TrialStatus::crash ? 1 : 0));
    CHECK(application.agent->status().quarantined == 1);
  }
}

TEST_CASE("what fails at its own call gives way, and the default is never to blame") {
  Application application("");
  application.judge = [](const Configuration& c) {
    const bool fails = c == Configuration{4, 3} || c == Configuration{1, 1};
    return fails ? TrialStatus::runtime : TrialStatus::correct;
  };
  for (int i = 0; i < 200; ++i) application.call({0});
  CHECK(application.running({0}) == "WIDTH=1 DEPTH=1");
  application.judge = [](const Configuration& c) {
    return c == Configuration{4, 3} ? TrialStatus::runtime : TrialStatus::correct;
  };
  CHECK(application.call_until({0}, kSecond));
}

TEST_CASE("a process that dies in a call does not begin that call again") {
  const test::TemporaryFolder folder;
  die_in_best(folder.path());
  Application again(folder.path());
  CHECK(again.agent->status().new_suspects >= 1);
  for (int i = 0; i < 6000; ++i) again.call({0});
  CHECK(again.ran.count(kBest) == 0);
  CHECK(again.running({0}) == kSecond);
}

TEST_CASE("what ran in a call when the power went comes back last of all") {
  const test::TemporaryFolder folder;
  die_in_best(folder.path());
  const std::uint64_t suspects = cut_power(folder.path());
  Application again(folder.path());
  const auto suspect = again.calls->text({4, 3});
  std::size_t before = 0;
  for (int i = 0; i < 20000 && again.running({0}) != kBest; ++i) {
    again.call({0});
    if (again.ran.count(suspect) == 0) before = again.ran.size();
  }
  CHECK(again.running({0}) == kBest);
  // Whatever else there was to try had run before, or took turns with it.
  CHECK(before > 1);
  CHECK(again.ran.size() < before + suspects + detail::LaunchTurns::kCandidates);
  CHECK(again.worst_over <= 13000 * 11);
}

TEST_CASE("what ran in a call at a second death runs nowhere any more") {
  const test::TemporaryFolder folder;
  die_in_best(folder.path());
  cut_power(folder.path());
  die_in_best(folder.path());
  Application again(folder.path());
  CHECK(again.agent->status().new_quarantines == 1);
  for (int i = 0; i < 6000; ++i) again.call({0});
  CHECK(again.ran.count(kBest) == 0);
}

TEST_CASE("a later process runs from its first call what was adopted") {
  const test::TemporaryFolder folder;
  {
    Application application(folder.path());
    REQUIRE(application.call_until({0}, kBest));
  }
  Application again(folder.path());
  again.call({0});
  CHECK(again.ran == std::set<std::string>{kBest});
}

TEST_CASE("elsewhere, or with other parameters or dimensions, what was adopted is not trusted") {
  const test::TemporaryFolder folder;
  {
    Application application(folder.path());
    REQUIRE(application.call_until({0}, kBest));
  }
  CallDescription elsewhere = blocks();
  elsewhere.runs_on = "another library";
  Application there(folder.path(), elsewhere);
  there.call({0});
  CHECK(there.ran == std::set<std::string>{"WIDTH=1 DEPTH=1"});
  CHECK(there.call_until({0}, kBest));
  CallDescription wider = blocks(), renamed = blocks();
  wider.parameters[0].values.push_back(16);
  renamed.dimensions[0] = "LEVEL";
  for (const CallDescription& other : {wider, renamed}) {
    Application more(folder.path(), other);
    more.call({0});
    CHECK(more.ran == std::set<std::string>{"WIDTH=1 DEPTH=1"});
  }
}

TEST_CASE("problems are told apart by features, and may have neither") {
  CallDescription description = blocks();
  description.dimensions.clear();
  Application plain("", description);
  REQUIRE(plain.calls.ok());
  auto call = required(plain.calls->begin({}));
  CHECK(plain.calls->end(call, {TrialStatus::correct, Nanoseconds(5)}).ok());
  description.features = {"entropy"};
  auto calls = required(open_calls(*plain.agent, description));
  for (const double entropy : {0.5, 0.75}) {
    CHECK(calls.begin(Problem({0}, {entropy})).ok());
    CHECK(calls.explain(Problem({0}, {entropy})).ok());
  }
  CHECK(calls.explain(Problem({0}, {1.5})).code() == StatusCode::not_found);
  CHECK(calls.begin(Problem({0})).code() == StatusCode::invalid_argument);
}

TEST_CASE("calls without dimensions are of one problem in all that is said of them") {
  CallDescription description = blocks();
  description.dimensions.clear();
  Application application("", description);
  const auto cost = [](const Configuration& c) { return cost_of({0}, c); };
  const auto call = [&](TrialStatus bad) {
    auto begun = required(application.calls->begin({}));
    const bool best = begun.configuration == Configuration{4, 3};
    const Nanoseconds took(static_cast<std::int64_t>(cost(begun.configuration)));
    REQUIRE(application.calls->end(begun, {best ? bad : TrialStatus::correct, took}).ok());
    application.agent->idle(std::chrono::seconds(1));
    return best;
  };
  application.calls->expect({}, 1e6);
  int bitten = 0;
  for (int i = 0; i < 6000; ++i) bitten += call(TrialStatus::crash) ? 1 : 0;
  CHECK(bitten == 1);
  const auto explanation = required(application.calls->explain({}));
  CHECK(explanation.running_text == kSecond);
  CHECK(explanation.quarantined == 1);
  description.features = {"entropy"};
  auto calls = required(open_calls(*application.agent, description));
  CHECK(calls.begin(Problem({}, {0.5})).ok());
  CHECK(calls.explain(Problem({}, {0.5})).ok());
}

TEST_CASE("what failed runs no more, though nobody ever looks") {
  const test::TemporaryFolder folder;
  {
    Application application(folder.path());
    REQUIRE(application.call_until({0}, kBest));
  }
  Application again(folder.path());
  const auto call = [&](TrialStatus status) {
    const auto begun = required(again.calls->begin({0}));
    REQUIRE(again.calls->end(begun, {status, Nanoseconds(13000)}).ok());
    return again.calls->text(begun.configuration);
  };
  CHECK(call(TrialStatus::runtime) == kBest);
  for (int i = 0; i < 50; ++i) CHECK(call(TrialStatus::correct) == "WIDTH=1 DEPTH=1");
}

TEST_CASE("a failed call that never ended costs what is a time") {
  Application application("");
  application.judge = [](const Configuration& c) {
    return c == Configuration{4, 3} ? TrialStatus::timeout : TrialStatus::correct;
  };
  bool met = false;
  for (int i = 0; i < 6000 && !met; ++i) {
    const auto begun = required(application.calls->begin({0}));
    met = begun.configuration == Configuration{4, 3};
    const Nanoseconds took(static_cast<std::int64_t>(cost_of({0}, begun.configuration)));
    const auto told = met ? Measurement{TrialStatus::timeout, Nanoseconds::max()}
                          : Measurement{TrialStatus::correct, took};
    REQUIRE(application.calls->end(begun, told).ok());
    application.agent->idle(std::chrono::seconds(1));
  }
  REQUIRE(met);
  CHECK(application.call_until({1}, kSecond));
}

TEST_CASE("of a default that failed nothing is said, whether its problem has room or not") {
  AgentOptions options;
  options.read_environment = false;
  options.model = kNoModel;
  options.max_shapes = 1;
  auto agent = required(Agent::open(options));
  auto calls = required(open_calls(agent, blocks()));
  for (std::int64_t kind = 0; kind < 3; ++kind) {
    const auto begun = required(calls.begin({kind}));
    CHECK(calls.end(begun, {TrialStatus::crash, Nanoseconds(5)}).ok());
  }
  CHECK(agent.status().quarantined == 0);
}

TEST_CASE("who tunes calls alone is told of no missing helper") {
  int told = 0;
  AgentOptions options;
  options.read_environment = false;
  options.model = kNoModel;
  options.helper = "/nowhere/idletune-helper";
  options.log = [](void* count, int, const char*) { ++*static_cast<int*>(count); };
  options.log_user = &told;
  auto agent = required(Agent::open(options));
  CHECK(open_calls(agent, blocks()).ok());
  CHECK(told == 0);
}

TEST_CASE("a call ends once") {
  Application application("");
  auto call = required(application.calls->begin({0}));
  CHECK(application.calls->end(call, {TrialStatus::correct, Nanoseconds(5)}).ok());
  CHECK(application.calls->end(call, {TrialStatus::correct, Nanoseconds(5)}).code() ==
        StatusCode::invalid_argument);
}

TEST_CASE("a call that never began ends nothing, and accuses nobody") {
  Application application("");
  TunedCalls& calls = *application.calls;
  const TunedCalls::Call call = required(calls.begin({0}));
  for (const std::uint64_t number : {0, 5, 63}) {
    const TunedCalls::Call none{{0}, {4, 3}, number};
    CHECK(calls.end(none, {TrialStatus::crash, {}}).code() == StatusCode::invalid_argument);
    CHECK(calls.end(none, {TrialStatus::correct, Nanoseconds(5)}).code() ==
          StatusCode::invalid_argument);
  }
  // Nor does one that is told with what cannot be, which may then be told right.
  for (const TunedCalls::Call& wrong :
       {TunedCalls::Call{{0, 0, 0}, {4, 3}, call.number}, TunedCalls::Call{{0}, {}, call.number},
        TunedCalls::Call{{0}, {4, 4}, call.number}}) {
    CHECK(calls.end(wrong, {TrialStatus::crash, {}}).code() == StatusCode::invalid_argument);
  }
  CHECK(calls.end(call, {TrialStatus::crash, {}}).ok());
  CHECK(application.agent->status().quarantined == 0);
  CHECK(application.call_until({0}, kBest));
}

TEST_CASE("descriptions that make no sense are refused by name") {
  auto agent = Agent::open([] {
    AgentOptions options;
    options.read_environment = false;
    options.model = kNoModel;
    return options;
  }());
  REQUIRE(agent.ok());
  const auto why = [&](const std::function<void(CallDescription&)>& spoil) {
    CallDescription description = blocks();
    spoil(description);
    const auto calls = open_calls(*agent, description);
    CHECK(calls.code() == StatusCode::invalid_argument);
    return calls.status().message();
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != text.npos;
  };
  CHECK(has(why([](CallDescription& d) { d.name = "two words"; }), "no identifier"));
  CHECK(has(why([](CallDescription& d) { d.parameters[0].name = "two words"; }), "two words"));
  CHECK(has(why([](CallDescription& d) { d.dimensions = {"9"}; }), "dimension '9'"));
  CHECK(has(why([](CallDescription& d) { d.features = {""}; }), "feature ''"));
  CHECK(has(why([](CallDescription& d) { d.parameters[1].values.clear(); }), "DEPTH"));
  CHECK(has(why([](CallDescription& d) { d.parameters[1].name = "WIDTH"; }), "WIDTH"));
  why([](CallDescription& d) { d.parameters.clear(); });
  why([](CallDescription& d) { d.dimensions.assign(kMaxDimensions + 1, "D"); });
  why([](CallDescription& d) { d.max_slowdown = std::numeric_limits<double>::quiet_NaN(); });
  why([](CallDescription& d) { d.max_slowdown = 0; });
}
