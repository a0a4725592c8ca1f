#include "agent/host/explore/journal_history.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/host/cli/histories.hpp"
#include "agent/journal/journal.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/learn/learn.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::explore;
using namespace std::chrono_literals;
using idletune::test::Disk;
using idletune::test::PlayedBoard;
using idletune::test::TemporaryFolder;

namespace {

using Journaled = std::unique_ptr<journal::Journal>;

Journaled open_on(const std::shared_ptr<Disk>& disk) {
  return journal::Journal::open(idletune::test::open_faulty_storage(disk), {});
}

Result<std::vector<History>> imported(const std::shared_ptr<Disk>& disk) {
  return histories_of_journal(disk->files().at(journal::kJournalName), "board/journal");
}

void name_everything(journal::Journal& journal) {
  journal.named({journal::NameKind::device, 2, "opencl\nPlatform\nSome GPU\nVendor\n8"});
  journal.named({journal::NameKind::driver, 3, "22.1"});
  journal.named({journal::NameKind::kernel, 1, "gemm\n4092\nM N\nMWG NWG"});
}

journal::Measurement measurement(std::int64_t a, std::int64_t b, journal::Origin origin) {
  journal::Measurement result;
  result.trial.kernel = 1;
  result.trial.device = 2;
  result.trial.driver = 3;
  result.trial.shape = Shape{128, 64};
  result.trial.configuration = Configuration{a, b};
  result.median = result.minimum = Nanoseconds(1000 + a);
  result.compile = 3ms;
  result.unix_seconds = 1750000000 - a;
  result.origin = origin;
  return result;
}

const CellColumn& extra_of(const History& history, const std::string& name) {
  for (const CellColumn& column : history.extras) {
    if (column.name() == name) return column;
  }
  FAIL("no extra ", name);
  return history.extras.front();
}

// A board of its own kind, on which the best configuration is {a, b}, and how it is tuned.
struct TunedBoard {
  TunedBoard(const std::string& device, std::uint64_t identity, std::int64_t a, std::int64_t b,
             double speed, const std::string& state, const std::string& model = std::string())
      : board(idletune::test::board_that([=](const Configuration& configuration) {
          const Nanoseconds time =
              idletune::test::played_time(configuration[0] - a + 8, configuration[1] - b + 8);
          return RecordedTrial{
              TrialStatus::correct,
              Nanoseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) / speed)),
              20ms};
        })) {
    board->device.device_info.name = device;
    board->identity = identity;
    AgentOptions options;
    options.state = state;
    options.model = model.empty() ? kNoModel : model;
    agent.emplace(idletune::test::agent_on(*board, options));
    kernel = required(agent->kernel(board->device, idletune::test::played_package()));
    x = std::move(*board->device.allocate(64 * sizeof(float)));
    REQUIRE(kernel->launch(Shape{64}, {x->argument()}).ok());
  }
  Explanation explain() { return *kernel->explain(Shape{64}); }
  void tune_until(std::uint64_t evaluated) {
    while (explain().evaluated < evaluated) (void)agent->tune_now(10ms);
  }
  // Configurations tried until launches take at most that long.
  std::uint64_t evaluated_until(double milliseconds) {
    do {
      (void)agent->tune_now(10ms);
    } while (explain().running_ms > milliseconds || explain().running_ms == 0);
    return explain().evaluated;
  }

  const std::unique_ptr<PlayedBoard> board;
  std::unique_ptr<Buffer> x;
  std::optional<Agent> agent;
  std::optional<TunedKernel> kernel;
};

std::vector<History> brought_home(const std::string& state) {
  const auto bytes = required(read_file(state + "/" + journal::kJournalName, 1 << 20));
  return required(histories_of_journal(bytes, state));
}

std::set<std::pair<std::int64_t, std::int64_t>> draws_of(const History& history) {
  std::set<std::pair<std::int64_t, std::int64_t>> draws;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    const Configuration configuration = history.configuration(row);
    if (drawn_uniformly(history.proposals(), row))
      draws.insert({configuration[0], configuration[1]});
  }
  return draws;
}

}  // namespace

TEST_CASE("the features of a board's problems come home by name, computed ones too") {
  const auto disk = std::make_shared<Disk>();
  const Journaled journal = open_on(disk);
  name_everything(*journal);
  journal->named(
      {journal::NameKind::kernel, 1,
       "gemm\n4092\nM N\nMWG NWG\nmean_row;padding=round_up(M, 48) - M;aspect=M over N"});
  for (const double mean_row : {12.5, 3.0}) {
    journal::Measurement measured = measurement(16, 8, journal::Origin::random);
    measured.trial.shape.push_feature(mean_row);
    journal->measured(measured);
  }
  const auto histories = required(imported(disk));
  REQUIRE(histories.size() == 2);
  const bool first = histories[0].shape.feature(0) == 12.5;
  CHECK(problem_text(histories[first ? 0 : 1]) == "M=128 N=64 mean_row=12.5 padding=16 aspect=2");
  CHECK(histories[first ? 1 : 0].shape == Problem({128, 64}, {3, 16, 2}));
  CHECK(can_share_file(histories[0], histories[1]));
}

TEST_CASE("a journal of two kernels is not imported as one of another name") {
  const auto disk = std::make_shared<Disk>();
  const Journaled journal = open_on(disk);
  name_everything(*journal);
  journal->named({journal::NameKind::kernel, 7, "gemv\n4092\nM N\nMWG NWG"});
  journal::Measurement measured = measurement(16, 8, journal::Origin::random);
  journal->measured(measured);
  const auto named = [&] {
    ImportOptions options;
    options.kernel = "mine";
    return cli::import_named(disk->files().at(journal::kJournalName), "board/journal", options);
  };
  CHECK(required(named())[0].kernel == "mine");
  measured.trial.kernel = 7;
  journal->measured(measured);
  CHECK(named().status().message() ==
        "board/journal: holds 2 kernels, which cannot all be named 'mine'");
}

TEST_CASE("a journal that has no number of configurations holds a sample all the same") {
  const auto disk = std::make_shared<Disk>();
  const Journaled journal = open_on(disk);
  name_everything(*journal);
  journal->named({journal::NameKind::kernel, 1, "gemm\n0\nM N\nMWG NWG"});
  for (std::int64_t a = 1; a <= 20; ++a)
    journal->measured(measurement(a, 8, journal::Origin::random));
  const auto histories = required(imported(disk));
  const PerformanceDistribution distribution = distribution_of(histories.front());
  CHECK(distribution.is_sample());
  CHECK(distribution.better_share_bound() == doctest::Approx(1 - std::pow(0.05, 1 / 20.0)));
  REQUIRE(histories.front().warnings.size() == 1);
  CHECK(histories.front().warnings[0].find("the size of the space is not known") == 0);
}

TEST_CASE("a journal becomes a history with names, in the order of the board's clock") {
  const auto disk = std::make_shared<Disk>();
  const Journaled journal = open_on(disk);
  name_everything(*journal);
  journal->measured(measurement(16, 8, journal::Origin::application));
  journal->measured(measurement(32, 8, journal::Origin::random));
  journal::Measurement failed = measurement(64, 8, journal::Origin::learned);
  failed.status = TrialStatus::timeout;
  failed.median = failed.minimum = failed.compile = 0ns;
  journal->measured(failed);
  const auto histories = required(imported(disk));
  REQUIRE(histories.size() == 1);
  const History& history = histories.front();
  CHECK(history.kernel == "gemm");
  CHECK(history.device == "Some GPU");
  CHECK(history.driver == "Platform; 22.1");
  CHECK(history.shape == Shape{128, 64});
  CHECK(history.valid_count == 4092);
  CHECK(history.parameter_names() == std::vector<std::string>{"MWG", "NWG"});
  REQUIRE(history.rows() == 3);
  CHECK(history.configuration(0) == Configuration{64, 8});
  CHECK(history.status[0] == TrialStatus::timeout);
  CHECK(history.run_time_ns(1) == 1032);
  CHECK(history.compile_time_ns(1) == 3e6);
  CHECK(extra_of(history, "proposal").text(0) == "learned");
  CHECK(extra_of(history, "proposal").text(1) == "random");
  CHECK(extra_of(history, "proposal").text(2) == "application");
  CHECK(extra_of(history, "measured_at").integer(2) == 1750000000 - 16);
  CHECK(history.warnings.empty());
  const auto again = required(read_history(write_history(history), "again"));
  CHECK(again == history);
}

TEST_CASE("shares are those of uniform draws, relative to the best there is") {
  const auto disk = std::make_shared<Disk>();
  const Journaled journal = open_on(disk);
  name_everything(*journal);
  for (std::int64_t i = 0; i < 20; ++i) {
    journal->measured(measurement(i, 8, journal::Origin::portfolio));  // all of them good
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    journal->measured(measurement(1000 * i + 50, 8, journal::Origin::random));
  }
  const auto histories = required(imported(disk));
  const PerformanceDistribution shares = distribution_of(histories.front());
  CHECK(shares.measured == 4);
  CHECK(shares.space == 4092);
  CHECK(shares.is_sample());
  CHECK(shares.best_ns == 1000);
  CHECK(shares.fraction(0.9) == 0.25);
}

TEST_CASE("a journal without names or without measurements says what is missing") {
  const auto disk = std::make_shared<Disk>();
  const Journaled journal = open_on(disk);
  CHECK(imported(disk).code() == StatusCode::invalid_argument);
  journal->measured(measurement(1, 2, journal::Origin::unknown));
  const auto nameless = imported(disk);
  CHECK(nameless.code() == StatusCode::unsupported);
  CHECK(nameless.status().message().find("board/journal: 1 measurements of kernels") == 0);
  name_everything(*journal);
  const auto named = required(imported(disk));
  CHECK(named.front().warnings.size() == 1);  // no uniform draws
  CHECK(distribution_of(named.front()).measured == 0);
}

TEST_CASE("what is no journal is refused, and a torn one gives what came before") {
  CHECK_FALSE(is_journal(Bytes()));
  const std::vector<std::uint8_t> text(100, 'x');
  CHECK_FALSE(is_journal(text));
  CHECK(histories_of_journal(text, "x").code() == StatusCode::corrupt);
  const auto disk = std::make_shared<Disk>();
  const Journaled journal = open_on(disk);
  name_everything(*journal);
  journal->measured(measurement(1, 2, journal::Origin::random));
  journal->measured(measurement(2, 2, journal::Origin::random));
  std::vector<std::uint8_t> bytes = disk->files().at(journal::kJournalName);
  CHECK(is_journal(bytes));
  bytes.pop_back();
  const auto histories = required(histories_of_journal(bytes, "x"));
  CHECK(histories.front().rows() == 1);
  CHECK(histories.front().warnings.size() == 1);
}

TEST_CASE("what two boards measured serves a third one from its first step on") {
  const TemporaryFolder folder;
  TunedBoard(std::string("Board A"), 10, 8, 8, 1.0, folder.file("a")).tune_until(60);
  TunedBoard(std::string("Board B"), 140, 9, 8, 1.3, folder.file("b")).tune_until(60);
  const std::vector<History> a = brought_home(folder.file("a"));
  const std::vector<History> b = brought_home(folder.file("b"));
  REQUIRE(a.size() == 1);
  REQUIRE(b.size() == 1);
  CHECK(a[0].device == "Board A");
  CHECK(a[0].valid_count == 256);
  // Each has drawn its own part of one order.
  std::set<std::pair<std::int64_t, std::int64_t>> both = draws_of(a[0]);
  CHECK(both.size() >= 59);
  for (const auto& drawn : draws_of(b[0])) CHECK(both.insert(drawn).second);

  const auto learned = required(learn({&a[0], &b[0]}, LearnOptions()));
  const std::string model = folder.file("fleet.itmodel");
  REQUIRE(write_file_atomically(model, learned.bytes).ok());
  const double good_ms = 1 / 0.8 / 0.7;  // 70 % of the best there is on the third
  TunedBoard alone("Board C", 77, 8, 9, 0.8, folder.file("c"));
  TunedBoard helped("Board C", 77, 8, 9, 0.8, folder.file("d"), model);
  const std::uint64_t without = alone.evaluated_until(good_ms);
  const std::uint64_t with = helped.evaluated_until(good_ms);
  MESSAGE("configurations tried until 70 % of the best: " << without << " alone, " << with
                                                          << " with what two boards knew");
  CHECK(helped.explain().first_pick_quality == "other_device");
  CHECK(with <= 4);
  CHECK(without >= 3 * with);
}
