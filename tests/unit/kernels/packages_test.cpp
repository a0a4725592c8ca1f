// Every kernel of this repository packs, and its space is as large as kernels/README.md says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "models/core/random.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/kernels/kernel_path.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;

const std::string kKernels = IDLETUNE_SOURCE_FOLDER "/kernels";

struct Row {
  std::uint64_t parameters = 0;
  std::uint64_t valid = 0;
};

std::uint64_t number_in(const std::string& cell) {
  std::uint64_t number = 0;
  for (char c : cell) {
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

// The row "| `name` | parameters | valid | ..." of the README's table; zeros if there is none.
Row row_of(const std::string& kernel) {
  std::ifstream readme(kKernels + "/README.md");
  const std::string start = "| `" + kernel + "` |";
  for (std::string line; std::getline(readme, line);) {
    if (line.compare(0, start.size(), start) != 0) continue;
    const std::size_t second = line.find('|', start.size());
    const std::size_t third = line.find('|', second + 1);
    REQUIRE(third != std::string::npos);
    return {number_in(line.substr(start.size(), second - start.size())),
            number_in(line.substr(second, third - second))};
  }
  return {};
}

std::set<std::string> kernel_names() {
  std::set<std::string> names;
  for (const std::string& folder : {kKernels, kKernels + "/blas"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (std::filesystem::exists(entry.path() / (name + ".xml"))) names.insert(name);
    }
  }
  return names;
}

}  // namespace

TEST_CASE("every kernel has as many parameters and valid configurations as the README says") {
  const auto names = kernel_names();
  CHECK(names.size() >= 24);
  for (const std::string& name : names) {
    CAPTURE(name);
    auto description = required(read_kernel_xml(test::kernel_path(name)));
    CHECK(description.name == name);
    CHECK(description.dialect == Dialect::portable);
    CHECK(!description.reference.entry.empty());
    auto package = required(KernelPackage::open(required(pack(description)), name));
    const Space& space = package->space();
    REQUIRE(space.indexed());
    const Row row = row_of(name);
    CHECK(space.parameter_count() == row.parameters);
    CHECK(space.valid_count() == row.valid);
  }
}

TEST_CASE("every kernel's local size stays within 1024 work items") {
  for (const std::string& name : kernel_names()) {
    CAPTURE(name);
    auto description = required(read_kernel_xml(test::kernel_path(name)));
    auto package = required(KernelPackage::open(required(pack(description)), name));
    Shape shape;
    for (const std::string& dimension : description.dimensions) {
      const auto& may_be_zero = description.zero_dimensions;
      const bool zero = std::count(may_be_zero.begin(), may_be_zero.end(), dimension) > 0;
      shape.push_back(zero ? 0 : 67);
    }
    Random random(1);
    int planned = 0;
    for (int i = 0; i < 200; ++i) {
      const Configuration configuration = package->space().sample(random);
      const auto plan = package->plan(shape, configuration);
      if (plan.status().code() == StatusCode::unsupported) continue;  // says the description
      REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
      ++planned;
      for (const PlannedStep& step : plan->steps()) {
        const auto& local = step.range.local;
        CHECK(local[0] * local[1] * local[2] <= 1024);
        CHECK(step.local_memory_bytes <= 32768);
      }
    }
    CHECK(planned >= 150);
  }
}
