// kernels/histogram on this machine's OpenCL device: the reference against counting on the host,
// and every configuration against the reference, on made-up values and on captured ones.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/trial/trial_executor.hpp"
#include "models/package/captured_arguments.hpp"
#include "platform/os/storage.hpp"
#include "tests/paths.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;
using namespace idletune::kernel_tests;

const std::string kXml = IDLETUNE_SOURCE_FOLDER "/kernels/histogram/histogram.xml";

// Hot bins, a run, and single values.
std::vector<std::int32_t> contended(std::int64_t n, std::int32_t bins) {
  std::vector<std::int32_t> values;
  for (std::int32_t i = 0; i < n; ++i) {
    values.push_back(i % 3 == 0 ? bins - 1 : i < n / 2 ? i % 7 % bins : i * 31 % bins);
  }
  return values;
}

struct Lent {
  std::string path;
  std::uint64_t digest = 0;
};

Lent capture(const KernelPackage& package, const Shape& shape, const std::string& path) {
  auto made = required(CapturedArguments::make(package, shape, 1 << 20));
  const auto values = contended(shape[0], static_cast<std::int32_t>(shape[1]));
  std::memcpy(made.writable(0).data(), values.data(), values.size() * sizeof values[0]);
  made.seal();
  REQUIRE(made.check(package).ok());
  REQUIRE(write_file_atomically(path, made.bytes()).ok());
  return {path, made.digest()};
}

std::shared_ptr<const KernelPackage> package_with(const std::string& right,
                                                  const std::string& wrong) {
  auto description = required(read_kernel_xml(kXml));
  const std::size_t at = description.source.find(right);
  REQUIRE(at != std::string::npos);
  description.source.replace(at, right.size(), wrong);
  return *KernelPackage::open(required(pack(description)), kXml);
}

TrialRequest check_of(const Shape& shape, const Configuration& configuration) {
  TrialRequest request;
  request.stage = TrialStage::check;
  request.shape = shape;
  request.configuration = configuration;
  return request;
}

// Runs it once on counts that begin at 5. With buffers of our own, which Oclgrind follows.
void check_counts(Device& device, const KernelPackage& package, std::string_view entry,
                  const std::string& options, const Range& range, const Shape& shape) {
  const auto program = compile(device, package, entry, options);
  const auto bins = static_cast<std::size_t>(shape[1]);
  const std::vector<std::int32_t> values = contended(shape[0], static_cast<std::int32_t>(shape[1]));
  std::vector<std::int32_t> expected(bins, 5);
  const auto in = upload(device, values);
  const auto out = upload(device, expected);
  for (const std::int32_t value : values) ++expected[static_cast<std::size_t>(value)];
  const Argument arguments[] = {Argument(static_cast<std::int32_t>(shape[0])), in->argument(),
                                out->argument()};
  run(device, *program, range, arguments);
  CHECK(download<std::int32_t>(device, *out, bins) == expected);
}

}  // namespace

TEST_CASE("the reference of histogram counts like the host") {
  const auto package = open_package(kXml);
  const auto device = open_first_device();
  const Shape shape({1000, 37});
  check_counts(*device, *package, "histogram_reference", package->reference().options(),
               package->reference().plan(shape)->first().range, shape);
}

TEST_CASE("every parameter value of histogram is right for a tiny shape") {
  const auto package = open_package(kXml);
  const auto device = open_first_device();
  const Shape shape({301, 37});
  std::set<std::pair<std::size_t, std::int64_t>> seen;
  for (std::uint64_t i = 0; i < package->space().valid_count(); ++i) {
    const Configuration configuration = package->space().at(i);
    bool has_new = false;
    for (std::size_t p = 0; p < configuration.size(); ++p) {
      has_new = seen.insert({p, configuration[p]}).second || has_new;
    }
    if (!has_new) continue;
    CAPTURE(i);
    check_counts(*device, *package, package->entry(), package->compile_options(configuration),
                 package->plan(shape, configuration)->first().range, shape);
  }
}

TEST_CASE("configurations of histogram are right on made-up and on captured values") {
  const auto package = open_package(kXml);
  const auto device = open_first_device();
  TrialExecutor executor(*device, package);
  const test::TemporaryFolder folder;
  const Shape shapes[] = {{1, 1}, {1021, 300}, {5000, 2}};
  std::vector<Lent> captured;
  for (const Shape& shape : shapes) {
    captured.push_back(capture(*package, shape, folder.file(std::to_string(shape[0]))));
  }
  for (std::uint64_t i = 0; i < package->space().valid_count(); i += 7) {
    const Configuration configuration = package->space().at(i);
    for (std::size_t s = 0; s < captured.size(); ++s) {
      TrialRequest request = check_of(shapes[s], configuration);
      CAPTURE(i);
      CAPTURE(s);
      for (const Lent& lent : {Lent(), captured[s]}) {
        request.captured = lent.path;
        request.captured_digest = lent.digest;
        const TrialOutcome outcome = executor.run(request);
        CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
      }
    }
  }
}

TEST_CASE("a fault in histogram that made-up values do not show is found on captured ones") {
  // A private count that overflows after 255 equal values.
  const auto package =
      package_with("found[place] += 1;", "found[place] = (found[place] + 1) & 255;");
  const auto device = open_first_device();
  TrialExecutor executor(*device, package);
  const test::TemporaryFolder folder;
  const Shape shape({5000, 300});
  TrialRequest request = check_of(shape, Configuration{64, 1024, 0, 1});
  TrialOutcome outcome = executor.run(request);
  CHECK_MESSAGE(outcome.status == TrialStatus::correct, outcome.message);
  auto made = required(CapturedArguments::make(*package, shape, 1 << 20));
  made.seal();  // all in bin 0
  request.captured = folder.file("flat");
  request.captured_digest = made.digest();
  REQUIRE(write_file_atomically(request.captured, made.bytes()).ok());
  outcome = executor.run(request);
  CHECK(outcome.status == TrialStatus::correctness);
  CHECK(outcome.message.find("output 'counts': element 0 is ") != std::string::npos);
}
