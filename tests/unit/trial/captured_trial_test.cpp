// Trials on arguments that an application lent.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "models/package/captured_arguments.hpp"
#include "platform/os/storage.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/trial/trial_bench.hpp"

using namespace idletune;
using namespace idletune::fake;

namespace {

KernelDescription captured_description() {
  KernelDescription description = scale_description();
  description.arguments[0].captured = true;
  return description;
}

struct CapturedBench : Bench {
  test::TemporaryFolder folder;
  std::string path = folder.path() + "/x.itcapture";
  std::uint64_t lent_digest = 0;
  std::vector<float> seen;  // x[7] at each run of a candidate

  CapturedBench() : Bench(captured_description()) {
    const auto right = device.kernels["scale"];
    device.kernels["scale"] = [this, right](const Launch& launch) {
      seen.push_back(launch.buffer<float>(0)[7]);
      return right(launch);
    };
  }

  void lend(float value, std::int64_t elements = kElements) {
    auto made = CapturedArguments::make(*package, Shape({elements}), 1 << 20);
    REQUIRE_MESSAGE(made.ok(), made.status().message());
    for (std::size_t at = 0; at < made->writable(0).size(); at += sizeof value) {
      std::memcpy(made->writable(0).data() + at, &value, sizeof value);
    }
    made->seal();
    lent_digest = made->digest();
    REQUIRE(write_file_atomically(path, made->bytes()).ok());
  }
  TrialOutcome run(TrialStage stage, std::int64_t fault = kNoFault) {
    TrialRequest asked = request(stage, fault);
    asked.captured = path;
    asked.captured_digest = lent_digest;
    return get().run(asked);
  }
};

}  // namespace

TEST_CASE("checks and measurements run on what the application lent, without it on made-up data") {
  CapturedBench bench;
  bench.lend(40);
  TrialOutcome outcome = bench.run(TrialStage::check);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  outcome = bench.run(TrialStage::measure);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  for (const float value : bench.seen) CHECK(value == 40);
  bench.seen.clear();
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
  REQUIRE(bench.seen.size() == 1);
  CHECK(bench.seen[0] < 2);
  // Lent again: the file is another one.
  bench.lend(50);
  bench.seen.clear();
  CHECK(bench.run(TrialStage::measure).status == TrialStatus::correct);
  CHECK(bench.seen.back() == 50);
  bench.lend(60);
  CHECK(bench.run(TrialStage::measure).status == TrialStatus::correct);
  CHECK(bench.seen.back() == 60);
}

TEST_CASE("nothing runs on data that took the place of those that were meant") {
  CapturedBench bench;
  bench.lend(40);
  const std::uint64_t first = bench.lent_digest;
  CHECK(bench.run(TrialStage::check).status == TrialStatus::correct);
  bench.lend(50);
  const std::uint64_t second = bench.lent_digest;
  bench.lent_digest = first;  // those are at hand
  CHECK(bench.run(TrialStage::measure).status == TrialStatus::correct);
  for (const float value : bench.seen) CHECK(value == 40);
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);  // and are not any more
  bench.seen.clear();
  for (const TrialStage stage : {TrialStage::prepare, TrialStage::check, TrialStage::measure}) {
    const TrialOutcome outcome = bench.run(stage);
    CHECK(outcome.stage == TrialStage::prepare);
    CHECK(outcome.status == TrialStatus::constraints);
    CHECK(outcome.message == "captured arguments '" + bench.path + "' were replaced by others");
  }
  CHECK(bench.seen.empty());
  bench.lent_digest = second;
  CHECK(bench.run(TrialStage::check).status == TrialStatus::correct);
  CHECK(bench.seen.back() == 50);
}

TEST_CASE("a candidate that writes into what the application lent is found") {
  CapturedBench bench;
  bench.lend(40);
  const TrialOutcome outcome = bench.run(TrialStage::check, kChangesInput);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK_MESSAGE(contains(outcome.message, "wrote into input 'x', element 500"), outcome.message);
}

TEST_CASE("what cannot be used of a capture fails the preparation, not the configuration") {
  CapturedBench bench;
  TrialOutcome outcome = bench.run(TrialStage::check);
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK(outcome.status == TrialStatus::constraints);
  CHECK_MESSAGE(contains(outcome.message, bench.path), outcome.message);
  bench.lend(40, 500);
  outcome = bench.run(TrialStage::measure);
  CHECK(outcome.stage == TrialStage::prepare);
  CHECK(outcome.message == "captured arguments '" + bench.path + "' are of another problem");
  const std::string text = "ITC1";
  REQUIRE(write_file_atomically(bench.path, test::bytes_of(text)).ok());
  CHECK(bench.run(TrialStage::check).stage == TrialStage::prepare);
  // And the next one without a capture is right.
  CHECK(bench.check(kNoFault).status == TrialStatus::correct);
}
