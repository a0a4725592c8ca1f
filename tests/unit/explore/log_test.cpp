#include "agent/host/explore/log.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/unit/explore/scripted_runner.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::explore;
using idletune::test::Cut;
using idletune::test::Disk;
using idletune::test::Files;
using idletune::test::open_faulty_storage;
using idletune::test::PowerCutter;

namespace {

const Identity kIdentity = {{"kernel", "k"}, {"seed", 1}};

ExploredConfiguration result(std::uint64_t number) {
  ExploredConfiguration r;
  r.number = number;
  r.configuration = {1, -2, std::int64_t{1} << 40};
  r.compile = Nanoseconds(123456789);
  r.check = Nanoseconds(5);
  r.measure = Nanoseconds(7);
  r.max_error = 0.25;
  r.samples = {Nanoseconds(10), Nanoseconds(11)};
  r.unix_seconds = 1700000000;
  return r;
}

ExploredConfiguration failure(std::uint64_t number) {
  ExploredConfiguration r = result(number);
  r.samples.clear();
  r.status = TrialStatus::correctness;
  r.message = "element 3 of 'y'\nis \xff wrong";
  r.max_error = std::numeric_limits<double>::infinity();
  return r;
}

Result<std::unique_ptr<Log>> open(const std::shared_ptr<Disk>& disk,
                                  const Identity& identity = kIdentity) {
  disk->locked = false;
  return Log::open(open_faulty_storage(disk), identity);
}

std::shared_ptr<Disk> disk_with(std::uint64_t results) {
  auto disk = std::make_shared<Disk>();
  auto log = required(open(disk));
  for (std::uint64_t i = 0; i < results; ++i) REQUIRE(log->append(result(i)).ok());
  return disk;
}

}  // namespace

TEST_CASE("results and controls are read back as they were written") {
  auto disk = std::make_shared<Disk>();
  {
    auto log = required(open(disk));
    REQUIRE(log->append(result(7)).ok());
    REQUIRE(log->append(failure(8)).ok());
    REQUIRE(log->append(ControlMeasurement{2, {Nanoseconds(3)}, 1700000001}).ok());
  }
  auto log = required(open(disk));
  REQUIRE(log->results().size() == 2);
  const ExploredConfiguration& good = log->results()[0];
  const ExploredConfiguration expected = result(7);
  CHECK(good.number == 7);
  CHECK(good.configuration == expected.configuration);
  CHECK(good.status == TrialStatus::correct);
  CHECK(good.compile == expected.compile);
  CHECK(good.check == expected.check);
  CHECK(good.measure == expected.measure);
  CHECK(good.max_error == expected.max_error);
  CHECK(good.samples == expected.samples);
  CHECK(good.unix_seconds == expected.unix_seconds);
  const ExploredConfiguration& bad = log->results()[1];
  CHECK(bad.status == TrialStatus::correctness);
  CHECK(bad.message == "element 3 of 'y' is ? wrong");
  CHECK(bad.max_error == std::numeric_limits<double>::infinity());
  REQUIRE(log->controls().size() == 1);
  CHECK(log->controls()[0].after == 2);
  CHECK(log->controls()[0].samples == std::vector<Nanoseconds>{Nanoseconds(3)});
}

TEST_CASE("cut at any byte, the log keeps the results before the cut and goes on behind them") {
  const auto empty = disk_with(0)->files().at(kLogName);
  const auto whole = disk_with(3)->files().at(kLogName);
  std::vector<std::size_t> kept;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Files files;
    files[kLogName] =
        idletune::test::Content(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    auto disk = std::make_shared<Disk>(files);
    if (size < empty.size()) {  // nothing of ours leaves such a file behind
      CHECK(open(disk).code() == StatusCode::corrupt);
      continue;
    }
    std::size_t before = 0;
    {
      auto log = open(disk);
      REQUIRE_MESSAGE(log.ok(), "cut at ", size, ": ", log.status().to_string());
      before = (*log)->results().size();
      REQUIRE((*log)->append(result(100)).ok());
    }
    auto log = required(open(disk));
    REQUIRE(log->results().size() == before + 1);
    CHECK(log->results().back().number == 100);
    kept.push_back(before);
  }
  CHECK(std::is_sorted(kept.begin(), kept.end()));
  CHECK(kept.front() == 0);
  CHECK(kept.back() == 3);
}

TEST_CASE("what was synced survives a power cut at any moment") {
  auto disk = std::make_shared<Disk>();
  std::vector<std::size_t> synced_after;  // operations at which result i was synced
  {
    auto log = required(open(disk));
    for (std::uint64_t i = 0; i < 4; ++i) {
      REQUIRE(log->append(result(i)).ok());
      REQUIRE(log->sync().ok());
      synced_after.push_back(disk->operations.size());
    }
  }
  Random random(5);
  std::size_t images = 0;
  for (PowerCutter cutter(*disk);; cutter.advance()) {
    std::size_t promised = 0;
    while (promised < synced_after.size() && synced_after[promised] <= cutter.position()) {
      ++promised;
    }
    for (const Cut cut : idletune::test::kAllCuts) {
      auto after = std::make_shared<Disk>(cutter.image(cut, random));
      auto log = required(open(after));
      const auto& results = log->results();
      CHECK(results.size() >= promised);
      for (std::size_t i = 0; i < results.size(); ++i) CHECK(results[i].number == i);
      ++images;
    }
    if (cutter.at_end()) break;
  }
  CHECK(images > 30);
}

TEST_CASE("the progress of another exploration is refused by what differs") {
  auto disk = disk_with(1);
  auto log = open(disk, {{"kernel", "k"}, {"seed", 2}});
  REQUIRE(log.code() == StatusCode::invalid_argument);
  CHECK(log.status().message().find("seed: 1 there, 2 here") != std::string::npos);
  CHECK(open(disk).ok());
}

TEST_CASE("another file and a newer format are refused and left alone") {
  const auto whole = disk_with(1)->files().at(kLogName);
  for (const std::size_t damaged : {std::size_t{0}, std::size_t{9}, std::size_t{13}}) {
    Files files;
    files[kLogName] = whole;
    files[kLogName][damaged] ^= 1;
    auto disk = std::make_shared<Disk>(files);
    CHECK(open(disk).code() == StatusCode::corrupt);
    CHECK(disk->files().at(kLogName) == files[kLogName]);
  }
}

TEST_CASE("two processes cannot write the same log") {
  auto disk = std::make_shared<Disk>();
  auto first = Log::open(open_faulty_storage(disk), kIdentity);
  REQUIRE(first.ok());
  CHECK(Log::open(open_faulty_storage(disk), kIdentity).code() == StatusCode::busy);
}

TEST_CASE("a full disk is said, and what was there is read back later") {
  auto disk = disk_with(2);
  {
    auto log = required(open(disk));
    disk->fault.first = disk->changes;
    disk->fault.code = StatusCode::no_space;
    disk->fault.torn = true;
    CHECK(log->append(result(2)).code() == StatusCode::no_space);
  }
  disk->fault = {};
  auto log = required(open(disk));
  CHECK(log->results().size() == 2);
}
