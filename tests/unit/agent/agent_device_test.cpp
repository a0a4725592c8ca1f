// The agent on a real OpenCL device through its public interface: broken and deadly configurations,
// tuning beside launches, deaths of the application.
#include <idletune/agent.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "models/core/random.hpp"
#include "platform/os/process.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/agent/raw_application.hpp"
#include "tests/unit/agent/tuned_packages.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;
using namespace idletune::test;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kScale = 1.5f;
constexpr float kAlpha = 1.25f;
// Only ever reached by a failure: the machine may be slow.
constexpr auto kPatience = 120s;

// Collects the agent's messages.
struct Messages {
  static void take(void* self, int, const char* message) {
    auto& messages = *static_cast<Messages*>(self);
    const std::lock_guard<std::mutex> lock(messages.mutex);
    messages.lines.emplace_back(message);
  }
  std::size_t count(const std::string& part) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::size_t found = 0;
    for (const std::string& line : lines) found += line.find(part) != std::string::npos;
    return found;
  }
  std::string text() {
    const std::lock_guard<std::mutex> lock(mutex);
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

AgentOptions options_with(const std::string& state, Messages& messages) {
  AgentOptions options;
  options.state = state;
  options.run_deadline = 300ms;
  options.log = &Messages::take;
  options.log_user = &messages;
  options.log_level = 2;
  return options;
}

Agent open_agent(const AgentOptions& options) {
  auto agent = Agent::open(options);
  REQUIRE_MESSAGE(agent.ok(), agent.status().to_string());
  return std::move(*agent);
}

TunedKernel load(Agent& agent, Device& device, const std::vector<std::uint8_t>& package) {
  auto kernel = agent.kernel(device, package);
  REQUIRE_MESSAGE(kernel.ok(), kernel.status().to_string());
  return *kernel;
}

Explanation explain(const TunedKernel& kernel, const Shape& shape) {
  auto explanation = kernel.explain(shape);
  REQUIRE_MESSAGE(explanation.ok(), explanation.status().to_string());
  return *explanation;
}

std::vector<float> random_values(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(size);
  for (float& x : values) x = static_cast<float>(random.uniform() - 0.5);
  return values;
}

journal::JournalSummary journal_of(const std::string& state) {
  auto bytes = read_file(state + "/" + journal::kJournalName, 8u << 20);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().to_string());
  auto summary = journal::read_journal(*bytes);
  REQUIRE_MESSAGE(summary.ok(), summary.status().to_string());
  return std::move(*summary);
}

std::vector<journal::Quarantine> quarantines_of(const std::string& state) {
  std::vector<journal::Quarantine> result;
  const journal::JournalSummary summary = journal_of(state);
  summary.state.for_each_quarantine(
      [&](const journal::Quarantine& quarantine) { result.push_back(quarantine); });
  return result;
}

// The broken kernel at one shape, every output compared with the host's.
struct Transposition {
  static constexpr std::int64_t kRows = 100;
  static constexpr std::int64_t kColumns = 70;
  const Shape shape{kRows, kColumns};
  RawApplication application{/*profiling=*/true};
  std::vector<float> input = random_values(kRows * kColumns, 7);
  cl_mem in = application.buffer(input);
  cl_mem out = application.buffer(input);

  // Launches once; the number of wrong elements.
  std::size_t wrong(TunedKernel& kernel) {
    application.write(out, std::vector<float>(input.size(), kNan));
    const Status status = kernel.launch(shape, in, out, kScale);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    const std::vector<float> result = application.read(out, input.size());
    std::size_t count = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        count += !(result[c * kRows + r] == kScale * input[r * kColumns + c]);
      }
    }
    return count;
  }
};

// The deadly kernel at one shape.
struct Doubling {
  const Shape shape{1000};
  RawApplication application{/*profiling=*/true};
  std::vector<float> input = random_values(1000, 8);
  cl_mem in = application.buffer(input);
  cl_mem out = application.buffer(input);

  std::size_t wrong(TunedKernel& kernel) {
    application.write(out, std::vector<float>(input.size(), kNan));
    const Status status = kernel.launch(shape, in, out);
    REQUIRE_MESSAGE(status.ok(), status.to_string());
    const std::vector<float> result = application.read(out, input.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < input.size(); ++i) count += !(result[i] == 2 * input[i]);
    return count;
  }
};

// Tunes in slices until everything has been tried; `between` runs after each.
template <class Between>
Explanation tune_all(Agent& agent, TunedKernel& kernel, const Shape& shape, Between between) {
  const auto end = Clock::now() + kPatience;
  for (;;) {
    const IdleReport report = agent.tune_now(400ms);
    between();
    const Explanation now = explain(kernel, shape);
    const bool idled = report.stages == 0 && report.used < 400ms;
    if (idled && !report.waiting && report.needs == 0ns) return now;
    REQUIRE_MESSAGE(Clock::now() < end, "not done: " << now.evaluated << " tried, " << now.reason);
  }
}

// A matrix product with beta 0: C is poisoned before each launch and compared after it.
struct Product {
  Product(RawApplication& owner, std::int64_t m, std::int64_t n, std::int64_t k)
      : application(owner), shape{m, n, k} {
    const auto rows = static_cast<std::size_t>(m);
    const auto columns = static_cast<std::size_t>(n);
    const auto depth = static_cast<std::size_t>(k);
    const std::vector<float> left = random_values(rows * depth, 1);
    const std::vector<float> right = random_values(depth * columns, 2);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        double sum = 0;
        double size = 0;
        for (std::size_t d = 0; d < depth; ++d) {
          const double term = static_cast<double>(left[i * depth + d]) *
                              static_cast<double>(right[d * columns + j]);
          sum += term;
          size += std::fabs(term);
        }
        expected.push_back(static_cast<double>(kAlpha) * sum);
        slack.push_back(static_cast<double>(kAlpha) * size * (std::sqrt(k) + 2) / (1 << 23));
      }
    }
    poison.assign(rows * columns, kNan);
    a = application.buffer(left);
    b = application.buffer(right);
    c = application.buffer(poison);
  }
  // Launches once; the number of wrong elements.
  std::size_t wrong(TunedKernel& kernel) {
    application.write(c, poison);
    const Status status = kernel.launch(shape, a, b, c, kAlpha, 0.0f);
    if (!status.ok()) throw std::runtime_error(status.to_string());
    const std::vector<float> result = application.read(c, poison.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      count += !(std::fabs(static_cast<double>(result[i]) - expected[i]) <= slack[i]);
    }
    return count;
  }

  RawApplication& application;
  Shape shape;
  std::vector<double> expected;
  std::vector<double> slack;
  std::vector<float> poison;
  cl_mem a = nullptr;
  cl_mem b = nullptr;
  cl_mem c = nullptr;
};

// Options under which search is worth everything, so that a test need not launch for hours.
AgentOptions eager(const std::string& state, Messages& messages) {
  AgentOptions options = options_with(state, messages);
  options.run_deadline = 2s;
  options.sysfs_root = state;  // no sensors
  options.idle_cost = 0;
  options.compile_cost = 0;
  options.overhead_limit = 1;
  return options;
}

// --- applications in processes of their own ---

class Process {
 public:
  Process(const std::string& package, const std::string& state, const std::string& isolation,
          const Shape& shape) {
    auto folder = self_executable_folder();
    REQUIRE(folder.ok());
    ProcessOptions options;
    options.program = *folder + "/idletune_application_process";
    options.arguments = {package, state, isolation};
    for (std::size_t i = 0; i < shape.size(); ++i) {
      options.arguments.push_back(std::to_string(shape[i]));
    }
    options.inherit_output = true;  // what a sanitizer says of it
    auto child = ChildProcess::start(options);
    REQUIRE_MESSAGE(child.ok(), child.status().to_string());
    child_ = std::move(*child);
  }
  // Takes in lines until one begins with `begin`, the time is over or the process is gone. Whether
  // there was such a line.
  bool read_until(const std::string& begin, Nanoseconds wait) {
    const auto end = Clock::now() + wait;
    for (;;) {
      std::uint8_t bytes[4096];
      const auto left = std::max<Nanoseconds>(end - Clock::now(), Nanoseconds(0));
      const auto got = child_->channel().receive(MutableBytes(bytes), left);
      if (!got.ok()) return false;
      const std::size_t before = lines.size();
      take(bytes, *got);
      for (std::size_t i = before; i < lines.size() && !begin.empty(); ++i) {
        if (lines[i].compare(0, begin.size(), begin) == 0) return true;
      }
      if (Clock::now() >= end) return false;
    }
  }
  void kill() {
    child_->kill();
    (void)read_until("", 5s);  // what it had said before
  }
  ExitStatus wait() {
    (void)read_until("", kPatience);
    REQUIRE_MESSAGE(child_->ended(kPatience), text());
    return child_->exit_status();
  }
  // The last line that begins with one of the words; empty if there is none.
  std::string last(const std::string& begin) const {
    for (std::size_t i = lines.size(); i-- > 0;) {
      if (lines[i].compare(0, begin.size(), begin) == 0) return lines[i];
    }
    return {};
  }
  std::size_t count(const std::string& part) const {
    std::size_t found = 0;
    for (const std::string& line : lines) found += line.find(part) != std::string::npos;
    return found;
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }
  std::vector<std::string> lines;

 private:
  void take(const std::uint8_t* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      if (bytes[i] != '\n') {
        rest_ += static_cast<char>(bytes[i]);
      } else {
        lines.push_back(rest_);
        rest_.clear();
      }
    }
  }
  std::unique_ptr<ChildProcess> child_;
  std::string rest_;
};

std::string write_package(const TemporaryFolder& folder, const KernelDescription& description) {
  const std::string path = folder.file("package.itkernel");
  REQUIRE(write_file_atomically(path, packed(description)).ok());
  return path;
}

}  // namespace

TEST_CASE(
    "no wrong configuration of the broken kernel ever runs, and endless ones are quarantined") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::vector<std::uint8_t> package = packed(broken_kernel());
  Transposition work;
  {
    Messages messages;
    Agent agent = open_agent(options_with(state, messages));
    TunedKernel kernel = load(agent, work.application.device(), package);
    CHECK(work.wrong(kernel) == 0);
    const Explanation after = tune_all(agent, kernel, work.shape, [&] {
      CHECK(explain(kernel, work.shape).running[0] == 0);
      CHECK(work.wrong(kernel) == 0);
    });
    INFO(messages.text());
    CHECK(after.evaluated == 19);  // all but the default
    CHECK(after.rejected == 18);
    CHECK(after.quarantined == 2);
    CHECK(messages.count("BUG=7 TILE=8: reject_failed (timeout") == 1);
    CHECK(messages.count("BUG=7 TILE=16: reject_failed (timeout") == 1);
    CHECK(messages.count("BUG=8 TILE=8: reject_failed (constraints") == 1);
    for (const char* wrong : {"1", "2", "3", "4", "5", "6", "9"}) {
      CHECK(messages.count("BUG=" + std::string(wrong) + " TILE=8: reject_failed (correctness") ==
            1);
    }
    CHECK(agent.status().tuning_enabled);
    CHECK(agent.status().storage.ok());
  }
  const std::vector<journal::Quarantine> kept = quarantines_of(state);
  REQUIRE(kept.size() == 2);
  for (const journal::Quarantine& quarantine : kept) {
    CHECK(quarantine.reason == journal::QuarantineReason::hang);
    CHECK(quarantine.trial.configuration[0] == 7);
  }

  Messages messages;
  Agent agent = open_agent(options_with(state, messages));
  TunedKernel kernel = load(agent, work.application.device(), package);
  CHECK(work.wrong(kernel) == 0);
  const Explanation after =
      tune_all(agent, kernel, work.shape, [&] { CHECK(work.wrong(kernel) == 0); });
  INFO(messages.text());
  CHECK(messages.count("BUG=") == 0);  // nothing was tried
  CHECK(after.running[0] == 0);
  CHECK(after.evaluated == 19);
  CHECK(after.quarantined == 2);
}

TEST_CASE(
    "a configuration that crashes takes the helper, not the application, and is never tried "
    "again") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::vector<std::uint8_t> package = packed(fatal_kernel("FATAL == 1 && WIDTH == 32"));
  Doubling work;
  {
    Messages messages;
    Agent agent = open_agent(options_with(state, messages));
    TunedKernel kernel = load(agent, work.application.device(), package);
    CHECK(work.wrong(kernel) == 0);
    const Explanation after =
        tune_all(agent, kernel, work.shape, [&] { CHECK(work.wrong(kernel) == 0); });
    INFO(messages.text());
    CHECK(after.evaluated == 4);
    CHECK(after.rejected == 1);
    CHECK(after.quarantined == 1);
    CHECK(after.running[0] == 0);
    CHECK(messages.count("FATAL=1 WIDTH=32: reject_failed (crash") == 1);
    CHECK(messages.count("SIGILL") >= 1);
    CHECK(agent.status().tuning_enabled);
  }
  const std::vector<journal::Quarantine> kept = quarantines_of(state);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].reason == journal::QuarantineReason::crash);
  CHECK(kept[0].trial.configuration == Configuration{1, 32});

  Messages messages;
  Agent agent = open_agent(options_with(state, messages));
  TunedKernel kernel = load(agent, work.application.device(), package);
  CHECK(work.wrong(kernel) == 0);
  const Explanation after =
      tune_all(agent, kernel, work.shape, [&] { CHECK(work.wrong(kernel) == 0); });
  INFO(messages.text());
  CHECK(messages.count("FATAL=") == 0);
  CHECK(after.quarantined == 1);
}

TEST_CASE("many crashes end tuning for the process, and the next one goes on with the rest") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::vector<std::uint8_t> package = packed(fatal_kernel("FATAL == 1"));
  for (const bool first : {true, false}) {
    CAPTURE(first);
    Messages messages;
    Doubling work;
    Agent agent = open_agent(options_with(state, messages));
    TunedKernel kernel = load(agent, work.application.device(), package);
    CHECK(work.wrong(kernel) == 0);
    const Explanation after =
        tune_all(agent, kernel, work.shape, [&] { CHECK(work.wrong(kernel) == 0); });
    INFO(messages.text());
    CHECK(agent.status().tuning_enabled != first);
    CHECK(after.quarantined == (first ? 3 : 4));
    CHECK(messages.count("(crash") == (first ? 3 : 1));
    CHECK(after.running[0] == 0);
    CHECK(agent.tune_now(100ms).stages == 0);
  }
}

TEST_CASE("in the application's process a deadly configuration kills it once and never again") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::string package = write_package(folder, fatal_kernel("FATAL == 2 && WIDTH == 32"));
  Process first(package, state, "in_process", {1000});
  const ExitStatus death = first.wait();
  INFO(first.text());
  CHECK(death.kind == ExitStatus::Kind::signaled);
  CHECK(death.value == SIGABRT);

  Process second(package, state, "in_process", {1000});
  const ExitStatus survived = second.wait();
  INFO(second.text());
  CHECK_MESSAGE(survived.clean(), survived.to_string());
  CHECK(second.count("FATAL=2") == 0);
  CHECK(first.count(": FATAL=0 ") + second.count(": FATAL=0 ") == 3);
  const std::vector<journal::Quarantine> kept = quarantines_of(state);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].reason == journal::QuarantineReason::in_process_death);
  CHECK(kept[0].trial.configuration == Configuration{2, 32});

  Process third(package, state, "in_process", {1000});
  CHECK(third.wait().clean());
  INFO(third.text());
  CHECK(third.count("FATAL=2") == 0);
  CHECK(quarantines_of(state).size() == 1);
}

TEST_CASE("in the application's process an endless configuration ends tuning and nothing else") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  KernelDescription kernel = broken_kernel();
  kernel.constraints = {DescribedExpression("BUG == 0 || (BUG == 7 && TILE == 8)")};
  const std::string package = write_package(folder, kernel);
  const Shape shape{100, 70};
  bool met = false;
  for (int start = 0; start < 2; ++start) {
    Process process(package, state, "in_process", shape);
    CHECK(process.read_until("end ", kPatience));
    CAPTURE(process.text());
    met = met || process.count("BUG=7 TILE=8: reject_failed (timeout") == 1;
    CHECK(process.count("BUG=7") <= 1);
    process.kill();  // its device is occupied for good
    CHECK(quarantines_of(state).size() == 1);
  }
  CHECK(met);
}

TEST_CASE("idle time in small pieces tunes gemm, and every launch is right") {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  Product work(application, 96, 100, 64);
  Agent agent = open_agent(eager(folder.file("state"), messages));
  TunedKernel kernel = load(agent, application.device(), packed(small_gemm()));
  CHECK(agent.idle(1s).stages == 0);  // nothing was launched yet
  CHECK(work.wrong(kernel) == 0);
  kernel.expect_launches(work.shape, 1e9);
  const IdleReport none = agent.idle(0ns);
  CHECK(none.stages == 0);
  Explanation now;
  const auto end = Clock::now() + kPatience;
  Nanoseconds offered{0};
  Nanoseconds used{0};
  bool stage_runs = false;
  for (int frame = 0; now.selection != Selection::tuned; ++frame) {
    CHECK(work.wrong(kernel) == 0);
    const Nanoseconds budget = frame % 3 == 0 ? Nanoseconds(1us) : Nanoseconds(20ms);
    const IdleReport report = agent.idle(budget);
    // No stage fits a microsecond, so none can end that did not run before.
    if (budget == 1us && !stage_runs) CHECK(report.stages == 0);
    stage_runs = report.waiting;
    offered += budget;
    used += report.used;
    now = explain(kernel, work.shape);
    REQUIRE_MESSAGE(Clock::now() < end, now.reason << "\n" << messages.text());
  }
  CHECK(used <= 2 * offered + 1s);
  CHECK(now.speed_up > 1.0);
  for (int i = 0; i < 50; ++i) CHECK(work.wrong(kernel) == 0);
  CHECK(explain(kernel, work.shape).launches > 50);
}

TEST_CASE("launches are right while another thread tunes and adopts") {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  Product square(application, 96, 96, 64);
  Product odd(application, 101, 67, 33);
  Product flat(application, 8, 300, 40);
  const std::vector<Product*> shapes{&square, &odd, &flat};
  Agent agent = open_agent(eager(folder.file("state"), messages));
  TunedKernel kernel = load(agent, application.device(), packed(small_gemm()));
  for (Product* product : shapes) {
    CHECK(product->wrong(kernel) == 0);
    kernel.expect_launches(product->shape, 1e9);
  }
  BackgroundOptions background;
  background.max_duty = 1;
  background.max_gap = 80ms;
  REQUIRE(agent.start_background(background).ok());
  CHECK(agent.start_background(background).code() == StatusCode::busy);

  // A second thread launches at the same time: the same shapes, buffers of its own.
  Product second_square(application, 96, 96, 64);
  Product second_odd(application, 101, 67, 33);
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{false};  // not in the gap between two frames
  std::atomic<std::size_t> second_launches{0};
  std::atomic<std::size_t> second_wrong{0};
  std::thread second([&] {
    while (!stop.load()) {
      if (busy.load()) {
        second_wrong += second_square.wrong(kernel) + second_odd.wrong(kernel);
        second_launches += 2;
      } else {
        std::this_thread::sleep_for(1ms);
      }
    }
  });
  struct Join {
    ~Join() {
      stop = true;
      thread.join();
    }
    std::atomic<bool>& stop;
    std::thread& thread;
  };

  std::size_t wrong = 0;
  std::size_t launches = 0;
  std::size_t tuned = 0;
  {
    const Join join{stop, second};
    const auto begin = Clock::now();
    while (tuned < 1 || Clock::now() - begin < 5s) {
      busy = true;
      for (Product* product : shapes) {
        for (int i = 0; i < 5; ++i) wrong += product->wrong(kernel);
        launches += 5;
      }
      busy = false;
      std::this_thread::sleep_for(80ms);
      tuned = 0;
      for (Product* product : shapes) {
        tuned += explain(kernel, product->shape).selection == Selection::tuned;
      }
      REQUIRE_MESSAGE(Clock::now() - begin < kPatience, agent.explain() << messages.text());
    }
  }
  agent.stop_background();
  CHECK(wrong == 0);
  CHECK(second_wrong == 0);
  CHECK(second_launches > 0);
  launches += second_launches;
  MESSAGE(launches << " launches, " << messages.count(": adopt (") << " adoptions");
  for (Product* product : shapes) CHECK(product->wrong(kernel) == 0);
}

TEST_CASE("launches time candidates in place, without any call for idle time") {
  const TemporaryFolder folder;
  Messages messages;
  RawApplication application(/*profiling=*/true);
  Product work(application, 128, 96, 96);
  Product other(application, 64, 128, 80);  // timed at the same time
  const std::vector<Product*> shapes{&work, &other};
  Agent agent = open_agent(eager(folder.file("state"), messages));
  TunedKernel kernel = load(agent, application.device(), packed(small_gemm()));
  InPlaceOptions in_place;
  in_place.allowed = true;
  in_place.max_slowdown = 0.5;
  kernel.allow_in_place(in_place);
  for (Product* product : shapes) {
    CHECK(product->wrong(kernel) == 0);
    kernel.expect_launches(product->shape, 1e9);
  }
  BackgroundOptions background;
  background.max_duty = 1;
  background.max_gap = 200ms;
  REQUIRE(agent.start_background(background).ok());
  const auto end = Clock::now() + kPatience;
  std::size_t wrong = 0;
  const auto tuned = [&](const Product* product) {
    return explain(kernel, product->shape).selection == Selection::tuned;
  };
  while (!tuned(&work) || !tuned(&other)) {
    for (int i = 0; i < 20; ++i) wrong += work.wrong(kernel) + other.wrong(kernel);
    REQUIRE_MESSAGE(Clock::now() < end, agent.explain() << messages.text());
  }
  for (int i = 0; i < 50; ++i) wrong += work.wrong(kernel) + other.wrong(kernel);
  CHECK(wrong == 0);
  CHECK(explain(kernel, work.shape).speed_up > 1.0);
  // The agent goes while it is tuning.
}

TEST_CASE("an application killed ten times keeps every adoption that it had told of") {
  const TemporaryFolder folder;
  const std::string state = folder.file("state");
  const std::string package = write_package(folder, small_gemm());
  const Shape shape{128, 128, 64};
  Random random(20261121);
  std::string told;  // "<milliseconds> <configuration>"
  int adoptions = 0;
  int deaths_while_tuning = 0;
  for (int death = 0; death < 10; ++death) {
    CAPTURE(death);
    Process process(package, state, "helper", shape);
    CHECK(process.read_until("start ", kPatience));
    CAPTURE(process.text());
    const std::string start = process.last("start ").substr(6);
    if (!told.empty()) {
      // The same, or a faster one adopted in the moment between its adoption and the death.
      CHECK(start != "default");
      CHECK(std::atof(start.c_str()) <= std::atof(told.c_str()) + 1e-9);
    }
    if (start != "default") told = start;
    // A random moment: so many steps later, and up to a quarter of a second more.
    const std::uint64_t steps = random.below(4);
    for (std::uint64_t i = 0; i < steps; ++i) CHECK(process.read_until("log ", kPatience));
    (void)process.read_until("end ", std::chrono::microseconds(random.below(250000)));
    process.kill();
    deaths_while_tuning += process.last("end ").empty();
    if (const std::string state_line = process.last("state "); !state_line.empty()) {
      told = state_line.substr(6);
    }
    for (const std::string& line : process.lines) adoptions += line.compare(0, 6, "state ") == 0;
  }
  const journal::JournalSummary kept = journal_of(state);
  MESSAGE(adoptions << " adoptions told of, " << kept.state.measurement_count()
                    << " measurements and "
                    << kept.state.suspect_count() + kept.state.open_trials().size()
                    << " interrupted trials kept");
  CHECK(deaths_while_tuning >= 7);  // on a busy machine a life may end by itself
  CHECK(adoptions >= 1);
  CHECK(kept.state.measurement_count() > 1);
  Process last(package, state, "helper", shape);
  CHECK(last.read_until("start ", kPatience));
  if (last.last("start ") == "start default") CHECK(last.read_until("state ", kPatience));
  last.kill();
  CAPTURE(last.text());
  CHECK(journal_of(state).state.adoption_count() == 1);
}
