// An application that lends the values of its histogram: tuned in the helper, on this machine's
// OpenCL device.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/opencl.hpp>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "tests/bytes_of.hpp"
#include "tests/paths.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

TEST_CASE("a histogram is tuned on the values that the application lends") {
  const auto description =
      required(read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/kernels/histogram/histogram.xml"));
  auto package = required(pack(description));
  auto device = required(opencl::open(0));
  const test::TemporaryFolder folder;
  AgentOptions options;
  options.state = folder.path();
  auto agent = required(Agent::open(options));
  auto kernel = required(agent.kernel(*device, std::move(package)));

  const Shape shape({50000, 1000});
  const std::vector<std::int32_t> values(50000, 999);  // all in the last bin
  std::vector<std::int32_t> counts(1000, 0);
  auto in = device->allocate(values.size() * 4);
  auto out = device->allocate(counts.size() * 4);
  REQUIRE((in.ok() && out.ok()));
  REQUIRE(device->write(**in, 0, test::bytes_of(values)).ok());
  REQUIRE(device->write(**out, 0, test::bytes_of(counts)).ok());
  const Status lent = kernel.capture(shape, (*in)->argument(), (*out)->argument());
  REQUIRE_MESSAGE(lent.ok(), lent.to_string());
  const auto start = std::chrono::steady_clock::now();
  auto known = kernel.explain(shape);
  do {
    (void)agent.tune_now(std::chrono::seconds(2));
    known = kernel.explain(shape);
    REQUIRE_MESSAGE(known.ok(), known.status().to_string());
  } while (known->rejected == known->evaluated &&
           std::chrono::steady_clock::now() - start < test::kPatience);
  CHECK(known->default_ms > 0);
  CHECK(known->evaluated > 0);
  CHECK(known->rejected < known->evaluated);
  // What runs counts right, and nothing of it was written by tuning.
  REQUIRE(kernel.launch(shape, (*in)->argument(), (*out)->argument()).ok());
  REQUIRE(kernel.launch(shape, (*in)->argument(), (*out)->argument()).ok());
  CHECK(device->copy_out((*out)->argument(), test::writable_bytes_of(counts)).ok());
  CHECK(counts[999] == 100000);
  MESSAGE("runs: " << known->running_text << ", default " << known->default_ms << " ms, now "
                   << known->running_ms << " ms after " << known->evaluated << " configurations");
}
