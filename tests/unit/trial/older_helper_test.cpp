// Helpers of other releases, played by shell scripts.
#include "agent/trial/helper_trials.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "agent/trial/trial_wire.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;

namespace {

// What becomes of a first stage if this script is the helper.
std::string failure_with(const std::string& script) {
  const test::TemporaryFolder folder;
  HelperTrialsOptions options;
  options.program = folder.file("helper");
  test::overwrite(options.program, "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(options.program, std::filesystem::perms::owner_all);
  auto package = KernelPackage::open(test::played_package(), "play.itkernel");
  REQUIRE_MESSAGE(package.ok(), package.status().to_string());
  HelperTrials trials(DeviceInfo(), *package, options);
  TrialRequest request;
  request.stage = TrialStage::prepare;
  request.shape = {64};
  request.configuration = {1, 1};
  TrialOutcome outcome;
  REQUIRE(trials.start(request).ok());
  REQUIRE(trials.poll(std::chrono::minutes(5), outcome));
  CHECK(outcome.stage == TrialStage::prepare);  // no verdict on the configuration
  CHECK(outcome.status == TrialStatus::runtime);
  return outcome.message;
}

bool says_why(const std::string& message) {
  return message.find("helper and library are of different releases") != std::string::npos;
}

}  // namespace

TEST_CASE("an older helper, which does not understand the first message, is refused by name") {
  const std::string message = failure_with("exit 112");
  CHECK_MESSAGE(says_why(message), message);
  CHECK_MESSAGE(message.find("/helper' refuses messages of version " +
                             std::to_string(wire::kVersion)) != std::string::npos,
                message);
}

TEST_CASE("a helper that answers in an older version is refused") {
  const std::string message = failure_with(
      "printf '\\327\\001\\002\\000\\005\\000\\000\\000\\000\\000\\000\\000' >&3; cat <&3 "
      ">/dev/null");
  CHECK_MESSAGE(says_why(message), message);
  CHECK_MESSAGE(
      message.find("version 1, expected " + std::to_string(wire::kVersion)) != std::string::npos,
      message);
}
