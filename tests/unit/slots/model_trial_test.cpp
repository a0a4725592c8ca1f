// A model on trial on a played board, whose configurations take recorded times: it stays or goes
// back by what its picks and its trials are worth.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <idletune/slots.hpp>

#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/predict/model_builder.hpp"
#include "tests/unit/repeats.hpp"

using namespace idletune;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kProblems = 24;  // half of them from the beginning
constexpr std::size_t kCount = 256;     // configurations

struct Space256 {
  std::string name;
  std::array<double, kCount> times{};  // over the best, in order
};

std::vector<Space256> recorded_spaces() {
  std::vector<Space256> spaces;
  std::ifstream file(std::string(std::getenv("IDLETUNE_TEST_DATA")) + "/landscapes/recorded.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Space256 space;
    words >> space.name;
    for (double& each : space.times) words >> each;
    REQUIRE(words);
    // There is something that is half as fast as a good one.
    if (space.times.back() > 3) spaces.push_back(space);
  }
  return spaces;
}

// The kernel's configurations by rank, the default in the middle; some crash.
class Landscape {
 public:
  Landscape(const Space256& space, std::mt19937_64& random) : times_(space.times) {
    for (std::size_t i = 0; i < kCount; ++i) rank_[i] = i;
    std::shuffle(rank_.begin(), rank_.end(), random);
    std::swap(rank_[0], *std::find(rank_.begin(), rank_.end(), kCount / 2));
  }
  RecordedTrial operator()(const Configuration& c) const {
    const std::size_t rank = rank_[static_cast<std::size_t>((c[0] - 1) * 16 + c[1] - 1)];
    if (crashes_[rank]) return {TrialStatus::crash, 0ns, 20ms};
    return {TrialStatus::correct, Nanoseconds(static_cast<std::int64_t>(time(rank) * 5e5)), 20ms};
  }
  double time(std::size_t rank) const { return times_[rank]; }
  std::size_t slower_than(double time) const {
    const auto found = std::lower_bound(times_.begin(), times_.end() - 1, time);
    return static_cast<std::size_t>(found - times_.begin());
  }
  std::vector<std::int64_t> values(std::size_t rank) const {
    const auto i = std::find(rank_.begin(), rank_.end(), rank) - rank_.begin();
    return {i / 16 + 1, i % 16 + 1};
  }
  void let_crash(std::size_t rank) { crashes_[rank] = true; }

 private:
  std::array<double, kCount> times_;
  std::array<std::size_t, kCount> rank_{};
  std::array<bool, kCount> crashes_{};
};

// What a model names: ranks.
struct Named {
  std::vector<std::size_t> picks;      // of the problems, in order
  std::vector<std::size_t> portfolio;  // the likeliest first
};

std::vector<std::uint8_t> bytes_of(const Named& named, const Landscape& landscape,
                                   std::uint64_t generation) {
  test::ModelContent content;
  content.generation = generation;
  content.kernel = "play";
  content.parameters = {"A", "B"};
  content.sources[0].shape = {64};
  content.sources[0].valid = content.sources[0].measured = kCount;
  float worth = 1;
  for (const std::size_t each : named.portfolio) {
    for (const std::int64_t value : landscape.values(each))
      content.portfolio_values.push_back(value);
    content.portfolio_relative.push_back(worth);
    content.portfolio_score.push_back(worth);
    worth *= 0.97f;
  }
  for (std::size_t i = 0; i < named.picks.size(); ++i) {
    const auto problem = static_cast<std::int64_t>(64 * (i + 1));
    content.picks.push_back({-1, {problem}, landscape.values(named.picks[i]), 0.95f});
  }
  return test::build_model(content);
}

enum class Kind { spoilt, equal, better };

struct Models {
  Models(Kind kind, Landscape& landscape, std::mt19937_64& random) {
    const auto among = [&](std::size_t from, std::size_t to) {
      return from + static_cast<std::size_t>(random() % (to - from));
    };
    for (int i = 0; i < kProblems; ++i) {
      const std::size_t pick = among(4, 20);
      before.picks.push_back(pick);
      after.picks.push_back(kind == Kind::spoilt   ? landscape.slower_than(2 * landscape.time(pick))
                            : kind == Kind::better ? among(0, 4)
                                                   : among(4, 20));
    }
    for (int i = 0; i < 24; ++i) before.portfolio.push_back(among(0, 40));
    after.portfolio = before.portfolio;
    std::shuffle(after.portfolio.begin(), after.portfolio.end(), random);
    if (kind != Kind::spoilt) return;
    for (std::size_t i = 3; i < after.portfolio.size(); i += 10) {
      after.portfolio[i] = among(kCount - 20, kCount);
      landscape.let_crash(after.portfolio[i]);
    }
  }
  Named before, after;
};

struct Outcome {
  bool went_back = false, confirmed = false;
  double slower = 0;  // all launches during the trial, beside the default's, as a share
};

Outcome play_trial(Kind kind, const Space256& space, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Landscape landscape(space, random);
  const Models models(kind, landscape, random);
  const test::TemporaryFolder folder;
  AgentOptions options;
  options.state = folder.path() + "/state";
  options.model = folder.path() + "/own.itmodel";
  options.slots = model_slots();
  REQUIRE(write_file_atomically(options.model, bytes_of(models.before, landscape, 1)).ok());
  const auto board = test::board_that(landscape);
  const auto x = board->device.allocate(64 * kProblems * sizeof(float));
  std::optional<Agent> agent;
  Nanoseconds launched{0};
  std::int64_t launches = 0;
  // A session of a hundred frames; what a session ended tuning for does not last.
  const auto play = [&](std::int64_t problems) {
    agent.reset();
    agent.emplace(test::agent_on(*board, options));
    auto kernel = agent->kernel(board->device, test::played_package());
    REQUIRE(kernel.ok());
    for (int f = 0; f < 100; ++f) {
      const Nanoseconds start = board->clock.now();
      for (std::int64_t i = 0; i < 5 * problems; ++i)
        REQUIRE(kernel->launch(Shape{64 * (i / 5 + 1)}, {(*x)->argument()}).ok());
      launched += board->clock.now() - start;
      launches += 5 * problems;
      board->clock.advance(1s - agent->idle(200ms).used);
    }
    return agent->status().model_standing;
  };
  (void)play(kProblems / 2);
  launched = 0ns;
  launches = 0;
  const std::string pushed = folder.path() + "/pushed.itmodel";
  REQUIRE(write_file_atomically(pushed, bytes_of(models.after, landscape, 2)).ok());
  REQUIRE(agent->reload_model(pushed).ok());
  ModelStanding standing = agent->status().model_standing;
  REQUIRE(standing.state == ModelState::trial);
  for (int i = 0; i < 20 && standing.state == ModelState::trial; ++i) standing = play(kProblems);
  Outcome outcome;
  outcome.went_back = standing.refuted > 0;
  outcome.confirmed = !outcome.went_back && standing.state == ModelState::confirmed;
  const double untuned = landscape.time(kCount / 2) * 5e5 + 5e3;
  outcome.slower =
      static_cast<double>(launched.count()) / (untuned * static_cast<double>(launches)) - 1;
  return outcome;
}

}  // namespace

TEST_CASE("a model on trial stays or goes back by what it is worth" *
          doctest::skip(test::fewer_repeats())) {
  const std::uint64_t runs = test::number_from_environment("IDLETUNE_TEST_MODEL_TRIALS", 2);
  const std::vector<Space256> spaces = recorded_spaces();
  for (const Kind kind : {Kind::spoilt, Kind::equal, Kind::better}) {
    std::uint64_t back = 0, confirmed = 0;
    double slower = -1;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
      const Outcome outcome =
          play_trial(kind, spaces[static_cast<std::size_t>(seed % spaces.size())], seed);
      back += outcome.went_back ? 1 : 0;
      confirmed += outcome.confirmed ? 1 : 0;
      slower = std::max(slower, outcome.slower);
    }
    const char* name = kind == Kind::spoilt  ? "half as fast, and one of ten crashes"
                       : kind == Kind::equal ? "as good"
                                             : "better";
    MESSAGE(std::string(name), ": of ", runs, " models ", back, " went back, ", confirmed,
            " were confirmed; launches took at most ", 100 * slower, " % more than untuned");
    CHECK(slower < 0.02);
    if (kind == Kind::spoilt) CHECK(100 * back >= 99 * runs);
    if (kind != Kind::spoilt) CHECK(100 * back <= runs);
  }
}

TEST_CASE("a problem counts once, however many kernels were opened") {
  const Configuration good{2, 2}, on_trial{3, 3};
  const auto board = test::board_that([&](const Configuration& c) -> RecordedTrial {
    return {TrialStatus::correct, c == good ? 250us : c == on_trial ? 500us : 1000us, 20ms};
  });
  const auto naming = [](const std::vector<std::int64_t>& pick, std::uint64_t generation) {
    test::ModelContent content;
    content.generation = generation;
    content.kernel = "play";
    content.parameters = {"A", "B"};
    for (std::int64_t problem = 1; problem <= 5; ++problem)
      content.picks.push_back({-1, {64 * problem}, pick, 0.95f});
    return test::build_model(content);
  };
  const test::TemporaryFolder folder;
  AgentOptions options = test::options_in(folder.path() + "/state");
  options.model = folder.path() + "/own.itmodel";
  options.slots = model_slots();
  REQUIRE(write_file_atomically(options.model, naming({2, 2}, 1)).ok());
  Agent agent = test::agent_on(*board, options);
  std::vector<TunedKernel> kernels;
  for (int i = 0; i < 4; ++i) {
    auto kernel = agent.kernel(board->device, test::played_package());
    REQUIRE(kernel.ok());
    kernels.push_back(std::move(*kernel));
  }
  const auto x = board->device.allocate(5 * 64 * sizeof(float));
  const auto play = [&](std::int64_t first, std::int64_t last) {
    for (int frame = 0; frame < 100; ++frame) {
      for (std::int64_t i = 5 * first; i <= 5 * last; ++i)
        REQUIRE(kernels[0].launch(Shape{64 * (i / 5)}, {(*x)->argument()}).ok());
      board->clock.advance(1s - agent.idle(200ms).used);
    }
  };
  play(1, 3);
  const std::string pushed = folder.path() + "/pushed.itmodel";
  REQUIRE(write_file_atomically(pushed, naming({3, 3}, 2)).ok());
  REQUIRE(agent.reload_model(pushed).ok());
  play(4, 5);
  CHECK(
      std::any_of(board->requested.begin(), board->requested.end(),
                  [&](const TrialRequest& request) { return request.configuration == on_trial; }));
  CHECK(agent.status().model_standing.state == ModelState::trial);
  CHECK(agent.status().model_standing.refuted == 0);
}
