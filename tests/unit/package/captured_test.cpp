// Buffers that are tuned on what the application lent, and indices: from XML to the package, and
// the files that hold such data.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/core/version.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/captured_arguments.hpp"
#include "models/package/kernel_package.hpp"
#include "models/schema/kernel_generated.h"
#include "tests/paths.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

const std::string kRows = R"(fill="captured" otherwise="ramp" index-below="entries + 1")";
const std::string kColumns = R"(fill="captured" index-below="columns")";

std::string sparse(const std::string& rows, const std::string& columns) {
  return R"xml(<kernel name="sparse">
  <source file="saxpy.cl" entry="saxpy" dialect="opencl"/>
  <dimensions><dimension name="rows"/><dimension name="columns"/><dimension name="entries"/></dimensions>
  <parameters><parameter name="WG" values="64 32"/></parameters>
  <launch><global x="round_up(rows, WG)"/><local x="WG"/></launch>
  <arguments>
    <buffer name="starts" type="i32" access="in" elements="rows + 1" )xml" +
         rows + R"xml(/>
    <buffer name="places" type="u32" access="in" elements="entries" )xml" +
         columns + R"xml(/>
    <buffer name="x" type="f32" access="in" elements="columns" fill="captured" otherwise="uniform"
            low="-1" high="1"/>
    <buffer name="y" type="f32" access="out" elements="rows"/>
  </arguments>
</kernel>)xml";
}

std::string refusal(const std::string& rows, const std::string& columns) {
  const std::string path = std::string(IDLETUNE_TEST_DATA_FOLDER) + "/packages/k.xml";
  const auto description = parse_kernel_xml(sparse(rows, columns), path);
  if (description.ok()) {
    const auto bytes = pack(*description);
    REQUIRE_FALSE(bytes.ok());
    return bytes.status().message().substr(path.size());
  }
  return description.status().message().substr(path.size());
}

std::vector<std::uint8_t> packed() {
  const auto description = required(parse_kernel_xml(
      sparse(kRows, kColumns), std::string(IDLETUNE_TEST_DATA_FOLDER) + "/packages/k.xml"));
  return required(pack(description));
}

}  // namespace

TEST_CASE(
    "a package says which buffers are captured, what stands in for them, and how indices end") {
  const auto package = required(KernelPackage::open(packed(), "sparse"));
  const KernelPackage& sparse = *package;
  const Shape shape({10, 20, 35});
  CHECK(sparse.argument(0).captured);
  CHECK(sparse.argument(0).fill == Fill::ramp);
  CHECK(*sparse.index_bound(0, shape) == 36);
  CHECK(sparse.argument(1).captured);
  CHECK(sparse.argument(1).fill == Fill::uniform);
  CHECK(*sparse.index_bound(1, shape) == 20);
  CHECK(sparse.argument(2).captured);
  CHECK_FALSE(sparse.argument(2).is_index);
  CHECK(sparse.argument(2).fill_low == -1);
  CHECK_FALSE(sparse.argument(3).captured);
}

TEST_CASE("agents that would make up indices out of bounds refuse such a package") {
  CHECK(kernel_schema::GetKernelPackage(packed().data())->minimum_agent_version() ==
        version_number("0.2.0"));
}

TEST_CASE("what cannot be captured or be an index is refused with its place") {
  CHECK(refusal(R"(fill="ramp")", kColumns) ==
        ":7: <buffer>: a ramp ends at the largest index: expected 'index-below'");
  CHECK(refusal(R"(fill="zero" otherwise="ramp")", kColumns) ==
        ":7: <buffer>: 'otherwise' goes with fill=\"captured\"");
  CHECK(refusal(kRows, R"(fill="captured" index-below="columns" high="3")") ==
        ":8: <buffer>: 'index-below' bounds the values: expected no 'low', 'high' or 'value'");
  CHECK(refusal(kRows, R"(index-below="WG")") ==
        ":8: <buffer>: column 1: unknown name 'WG', expected a dimension, a parameter or a "
        "function in 'WG'");
}

TEST_CASE("who captures too much is told the limit that applied") {
  const auto package = required(KernelPackage::open(packed(), "sparse"));
  const auto refused = CapturedArguments::make(*package, {10, 20, 150 << 20}, 1u << 30);
  CHECK(refused.code() == StatusCode::out_of_memory);
  CHECK(refused.status().message().find(std::to_string(CapturedArguments::kMaxBytes / 2)) !=
        std::string::npos);
}
