// Packages whose variants prepare something once: what is stored, planned and refused.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/package/package_contents.hpp"
#include "models/package/package_writer.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/trial/setup_kernel.hpp"

using namespace idletune;
using idletune::fake::setup_description;
using idletune::fake::setup_package;

namespace {

std::string refusal_of_setup(const KernelDescription& description) {
  const auto packed = pack(description);
  CHECK(packed.code() == StatusCode::invalid_argument);
  return packed.status().message();
}

bool says(const std::string& message, const char* part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a package with a setup keeps it behind the steps") {
  const auto package = setup_package();
  REQUIRE(package->step_count() == 3);
  CHECK(package->setup_count() == 1);
  CHECK(package->step(0).entry == "direct");
  CHECK(package->step(2).entry == "convert");
  CHECK(package->argument(0).constant);
  CHECK_FALSE(package->argument(1).constant);
  CHECK(package->argument(3).kind == ArgumentKind::prepared);
  CHECK(package->argument(3).access == Access::out);
  CHECK(*package->buffer_bytes(3, {100}, {0, 4, 1}) == 400);
  CHECK(*package->buffer_bytes(3, {100}, {0, 4, 0}) == 4);  // not needed: one element

  const auto converted = required(package->plan({100}, {0, 16, 1}));
  REQUIRE(converted.steps().size() == 1);
  CHECK(converted.first().spec.entry == "scale");
  REQUIRE(converted.setup().size() == 1);
  CHECK(converted.setup()[0].spec.entry == "convert");
  CHECK(converted.setup()[0].index == 2);
  CHECK(converted.all().size() == 2);
  const auto direct = required(package->plan({100}, {0, 16, 0}));
  CHECK(direct.setup().empty());
  const auto reference = required(package->reference().plan({100}));
  CHECK(reference.setup().empty());
  CHECK(reference.first().spec.arguments.size() == 4);  // without the prepared memory
}

TEST_CASE("a step of the setup is another kernel than the same step of every launch") {
  const auto digest_of = [](const KernelDescription& description) {
    const auto package = required(KernelPackage::open(*pack(description), "test"));
    return package->digest();
  };
  const KernelDescription description = setup_description();
  KernelDescription other = description;
  other.setup[0].entry = "convert_otherwise";
  CHECK(digest_of(other) != digest_of(description));
  other = description;
  other.arguments[3].size = "CONVERT ? 2 * N : 0";
  CHECK(digest_of(other) != digest_of(description));
  other = description;
  other.arguments[3].kind = ArgumentKind::scratch;
  KernelDescription moved = other;
  moved.steps.push_back(moved.setup[0]);
  moved.setup.clear();
  moved.arguments[3].kind = ArgumentKind::scratch;
  CHECK(digest_of(moved) != digest_of(description));
}

TEST_CASE("a setup takes nothing that changes from launch to launch") {
  KernelDescription wrong = setup_description();
  wrong.arguments[0].constant = false;
  std::string message = refusal_of_setup(wrong);
  CHECK_MESSAGE(says(message, "step 'convert': the setup runs once, and 'w' may change"), message);
  wrong = setup_description();
  wrong.setup[0].arguments[0] = "y";  // nor does it write what is the application's
  message = refusal_of_setup(wrong);
  CHECK_MESSAGE(says(message, "'y' may change from launch to launch"), message);
  wrong = setup_description();
  wrong.arguments[2].constant = true;
  message = refusal_of_setup(wrong);
  CHECK_MESSAGE(says(message, "argument 'y': only a buffer of access=\"in\" can be constant"),
                message);
}

TEST_CASE("what no setup writes, or no step reads, is refused") {
  KernelDescription wrong = setup_description();
  wrong.setup.clear();
  std::string message = refusal_of_setup(wrong);
  CHECK_MESSAGE(says(message, "prepared memory 'p': expected a step of <setup>"), message);
  wrong = setup_description();
  wrong.steps.pop_back();
  message = refusal_of_setup(wrong);
  CHECK_MESSAGE(says(message, "prepared memory 'p': expected a step of <setup>"), message);
  wrong = setup_description();
  wrong.setup.resize(23, wrong.setup[0]);
  message = refusal_of_setup(wrong);
  CHECK_MESSAGE(says(message, "25 steps, expected at most 24"), message);
}

// A reader does not rely on whoever wrote the file.
TEST_CASE("a package whose setup takes what may change is refused by its reader") {
  const auto bytes = required(pack(setup_description()));
  auto shared = std::make_shared<const std::vector<std::uint8_t>>(bytes);
  const auto rewritten = [&](void (*change)(package::PackageContents&)) {
    auto contents = required(package::read_package(shared));
    change(*contents);
    return KernelPackage::open(package::write_package(*contents, Expression()), "test").status();
  };
  CHECK(rewritten([](package::PackageContents&) {}).ok());
  Status status = rewritten([](package::PackageContents& c) { c.arguments[0].constant = false; });
  CHECK(status.code() == StatusCode::corrupt);
  CHECK_MESSAGE(says(status.message(), "what may change from launch to launch"), status.message());
  status = rewritten([](package::PackageContents& c) { c.arguments[2].constant = true; });
  CHECK(status.code() == StatusCode::corrupt);
  CHECK_MESSAGE(says(status.message(), "only a buffer of access in is constant"), status.message());
  status = rewritten([](package::PackageContents& c) { c.arguments[3].access = Access::in; });
  CHECK(status.code() == StatusCode::corrupt);
  status = rewritten([](package::PackageContents& c) {
    for (package::StepContents& step : c.steps) step.of_setup = true;
  });
  CHECK(status.code() == StatusCode::unsupported);  // nothing to launch
}
