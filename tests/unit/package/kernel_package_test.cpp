#include "models/package/kernel_package.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "models/package/package_contents.hpp"
#include "models/package/package_writer.hpp"
#include "tests/unit/package/package_bytes.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

namespace fb = idletune::kernel_schema;
using Package = std::shared_ptr<const KernelPackage>;

Package golden() { return required(KernelPackage::open(golden_package(), "saxpy_v1.itkernel")); }

std::string refusal(std::vector<std::uint8_t> bytes, StatusCode code = StatusCode::corrupt) {
  const auto package = KernelPackage::open(std::move(bytes), "bad.itkernel");
  REQUIRE_FALSE(package.ok());
  CHECK(package.code() == code);
  CHECK(package.status().message().find("kernel package 'bad.itkernel': ") == 0);
  return package.status().message();
}

// The golden package with some bytes of one table or vector overwritten and a correct seal.
template <class T>
std::vector<std::uint8_t> patched(const void* (*locate)(const fb::KernelPackage*),
                                  std::size_t offset, T value) {
  std::vector<std::uint8_t> bytes = golden_package();
  const void* part = locate(fb::GetKernelPackage(bytes.data()));
  const auto position =
      static_cast<std::size_t>(static_cast<const std::uint8_t*>(part) - bytes.data()) + offset;
  REQUIRE(position + sizeof(value) <= bytes.size());
  std::memcpy(bytes.data() + position, &value, sizeof(value));
  REQUIRE(seal_again(bytes));
  return bytes;
}

// Uses everything a package offers, as an agent would.
void exercise(const KernelPackage& package) {
  const Space& space = package.space();
  Random random(1);
  const Shape shape = [&] {
    Shape s;
    for (std::size_t i = 0; i < package.dimension_count(); ++i) s.push_back(128);
    return s;
  }();
  for (int i = 0; i < 20; ++i) {
    const Configuration configuration = space.sample(random);
    CHECK(space.contains(configuration));
    if (space.indexed()) CHECK(space.at(*space.index_of(configuration)) == configuration);
    CHECK_FALSE(package.compile_options(configuration).empty());
    const auto plan = package.plan(shape, configuration);
    if (!plan.ok()) continue;
    for (std::size_t axis = 0; axis < plan->first().range.dimensions; ++axis) {
      CHECK(plan->first().range.global[axis] % plan->first().range.local[axis] == 0);
    }
  }
  (void)package.reference().plan(shape);
  (void)package.reference().tolerance(shape);
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    (void)package.buffer_bytes(i, shape, package.default_configuration());
    (void)package.derived_value(i, shape, package.default_configuration());
  }
}

}  // namespace

TEST_CASE("a package of version 0.1.0 stays readable and keeps its digests") {
  const Package package = golden();
  CHECK(package->name() == "saxpy");
  CHECK(package->entry() == "saxpy");
  CHECK(package->dialect() == Dialect::opencl);
  CHECK(package->source().find("__kernel void saxpy(") != std::string_view::npos);
  CHECK(package->dimension_count() == 1);
  CHECK(package->inputs().dimension_name(0) == "N");
  CHECK(package->digest() == 13415779371038235188ull);
  CHECK(package->space().digest() == 89194974023696566ull);
  CHECK(package->space().key(package->default_configuration()) == 17185385766168681660ull);
  CHECK(package->prebuilt_count() == 0);
  CHECK(package->prebuilt(package->default_configuration()).empty());
}

TEST_CASE("the space of a package is read in place") {
  const Package package = golden();
  const Space& space = package->space();
  REQUIRE(space.parameter_count() == 3);
  CHECK(space.parameter_name(1) == "WPT");
  CHECK(space.parameter_kind(0) == ParameterKind::work_group);
  CHECK(space.parameter_values(2).size() == 3);
  CHECK(space.backing() == SpaceBacking::diagram);
  CHECK(space.combinations() == 48);
  // (WPT, VW): 1 + 2 + 3 + 3 = 9 for each of 4 WG, less WG = 256 with WPT = 8: 3.
  CHECK(space.valid_count() == 33);
  CHECK(space.at(0) == Configuration{32, 1, 1});
  CHECK(space.at(32) == Configuration{256, 4, 4});
  CHECK_FALSE(space.contains(Configuration{256, 8, 1}));
  CHECK_FALSE(space.contains(Configuration{32, 1, 3}));
  CHECK(package->default_configuration() == Configuration{64, 1, 1});
  CHECK(to_text(space, space.at(0)) == "WG=32 WPT=1 VW=1");
}

TEST_CASE("a space outlives the package that it came from") {
  Space space;
  { space = golden()->space(); }
  CHECK(space.at(32) == Configuration{256, 4, 4});
}

TEST_CASE("a plan has the sizes of the description") {
  const Package package = golden();
  const auto plan = required(package->plan(Shape{1000}, Configuration{64, 4, 2}));
  CHECK(plan.first().range.dimensions == 1);
  CHECK(plan.first().range.global[0] == 256);  // ceil(1000 / 256) * 64
  CHECK(plan.first().range.local[0] == 64);
  CHECK(plan.first().local_memory_bytes == 0);
  CHECK(package->compile_options(Configuration{64, 4, 2}) == "-DWG=64 -DWPT=4 -DVW=2");
}

TEST_CASE("a configuration that does not apply to a shape is unsupported, with the constraint") {
  const Package package = golden();
  const auto plan = package->plan(Shape{1001}, Configuration{64, 4, 2});
  CHECK(plan.code() == StatusCode::unsupported);
  CHECK(plan.status().message() ==
        "kernel 'saxpy': the constraint 'N % VW == 0' does not hold for this shape");
  CHECK(package->plan(Shape{1001}, Configuration{64, 4, 1}).ok());
}

TEST_CASE("shapes and configurations of the wrong size are the caller's mistake") {
  const Package package = golden();
  const Configuration good{64, 4, 2};
  for (const Shape& shape :
       {Shape{}, Shape{1, 2}, Shape{0}, Shape{-4}, Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}}) {
    CHECK(package->plan(shape, good).code() == StatusCode::invalid_argument);
    CHECK(package->reference().plan(shape).code() == StatusCode::invalid_argument);
    CHECK(package->reference().tolerance(shape).code() == StatusCode::invalid_argument);
    CHECK(package->derived_value(0, shape, good).code() == StatusCode::invalid_argument);
    CHECK(package->buffer_bytes(2, shape, good).code() == StatusCode::invalid_argument);
  }
  CHECK(package->plan(Shape{64}, Configuration{64, 4}).code() == StatusCode::invalid_argument);
  CHECK(package->plan(Shape{64}, Configuration{}).code() == StatusCode::invalid_argument);
  // Rounding the largest number up would not fit 64 bits.
  CHECK(package->plan(Shape{INT64_MAX}, Configuration{64, 1, 1}).code() ==
        StatusCode::invalid_argument);
}

TEST_CASE("arguments come in order with what tuning needs to fill them") {
  const Package package = golden();
  REQUIRE(package->argument_count() == 4);
  CHECK(package->argument(0).kind == ArgumentKind::dimension);
  CHECK(package->argument(0).type == ScalarType::i32);
  CHECK(*package->derived_value(0, Shape{77}, {}) == 77);
  CHECK(package->argument(1).kind == ArgumentKind::scalar);
  CHECK(package->argument(1).fill == Fill::constant);
  CHECK(package->argument(1).fill_low == 1.5);
  CHECK(package->argument(3).name == "y");
  CHECK(package->argument(3).access == Access::inout);
  CHECK(package->argument(3).fill == Fill::uniform);
  CHECK(package->argument(3).fill_low == -1);
  CHECK(package->argument(3).fill_high == 1);
  CHECK(*package->buffer_bytes(3, Shape{77}, package->default_configuration()) == 77 * 4);
  CHECK(package->buffer_bytes(1, Shape{77}, package->default_configuration()).code() ==
        StatusCode::invalid_argument);
  CHECK(package->derived_value(1, Shape{77}, {}).code() == StatusCode::invalid_argument);
  CHECK(package->derived_value(9, Shape{77}, {}).code() == StatusCode::invalid_argument);
}

TEST_CASE("the reference has an entry point, sizes and options of its own") {
  const Package package = golden();
  CHECK(package->reference().entry() == "saxpy_reference");
  CHECK(package->reference().configuration() == package->default_configuration());
  CHECK(package->reference().options() == "-DWG=64 -DWPT=1 -DVW=1");
  const auto plan = required(package->reference().plan(Shape{1001}));
  CHECK(plan.first().range.global[0] == 1001);
  CHECK(plan.first().range.local[0] == 1);
}

TEST_CASE("the tolerance grows with the larger of the reference and the scale") {
  const auto tolerance = required(golden()->reference().tolerance(Shape{10}));
  CHECK(tolerance.scale == 2);
  CHECK(tolerance.allowed(0) == doctest::Approx(2e-6));
  CHECK(tolerance.allowed(-10) == doctest::Approx(1e-5));
}

TEST_CASE("every truncation of a package is refused") {
  const std::vector<std::uint8_t> bytes = golden_package();
  REQUIRE(bytes.size() > 1000);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(size);
    const auto package =
        KernelPackage::open(std::vector<std::uint8_t>(bytes.begin(), end), "bad.itkernel");
    REQUIRE(package.code() == StatusCode::corrupt);
  }
}

TEST_CASE("every flipped bit of a package is noticed") {
  const std::vector<std::uint8_t> bytes = golden_package();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::uint8_t> flipped = bytes;
    flipped[i] = static_cast<std::uint8_t>(flipped[i] ^ (1u << (i % 8)));
    REQUIRE_FALSE(KernelPackage::open(std::move(flipped), "bad.itkernel").ok());
  }
}

TEST_CASE("other files are named as what they are not") {
  CHECK(refusal({}).find("not a kernel package") != std::string::npos);
  CHECK(refusal(std::vector<std::uint8_t>(100, 0)).find("not a kernel package") !=
        std::string::npos);
  std::vector<std::uint8_t> bytes = golden_package();
  bytes[4] = 'X';
  CHECK(refusal(bytes).find("not a kernel package") != std::string::npos);
}

TEST_CASE("damage that the seal does not show is refused for what it is") {
  using K = const fb::KernelPackage*;
  const auto child = [](K k) -> const void* { return k->space()->diagram()->edge_child()->Data(); };
  const auto value = [](K k) -> const void* { return k->space()->diagram()->edge_value()->Data(); };
  const auto before = [](K k) -> const void* {
    return k->space()->diagram()->edge_before()->Data();
  };
  const auto first = [](K k) -> const void* {
    return k->space()->diagram()->node_first_edge()->Data();
  };
  const auto levels = [](K k) -> const void* {
    return k->space()->diagram()->level_nodes()->Data();
  };
  CHECK(refusal(patched(+child, 0, std::uint32_t{1000})).find("child out of range") !=
        std::string::npos);
  CHECK(refusal(patched(+child, 0, UINT32_MAX)).find("child out of range") != std::string::npos);
  CHECK(refusal(patched(+value, 0, std::uint16_t{1})).find("do not ascend") != std::string::npos);
  CHECK(refusal(patched(+value, 6, std::uint16_t{9})).find("value out of range") !=
        std::string::npos);
  CHECK(refusal(patched(+before, 8, UINT64_MAX)).find("do not add up") != std::string::npos);
  CHECK(refusal(patched(+first, 4, std::uint32_t{0})).find("decision diagram") !=
        std::string::npos);
  CHECK(refusal(patched(+first, 0, std::uint32_t{1})).find("do not cover") != std::string::npos);
  CHECK(refusal(patched(+levels, 0, std::uint32_t{2})).find("decision diagram") !=
        std::string::npos);
  CHECK(refusal(patched(+levels, 0, UINT32_MAX)).find("decision diagram") != std::string::npos);
}

TEST_CASE("values, numbers and expressions of a package are checked") {
  using K = const fb::KernelPackage*;
  const auto values = [](K k) -> const void* {
    return k->space()->parameters()->Get(0)->values()->Data();
  };
  const auto configuration = [](K k) -> const void* { return k->default_configuration()->Data(); };
  const auto code = [](K k) -> const void* {
    return k->variant()->steps()->Get(0)->global()->Get(0)->code()->Data();
  };
  const auto entry = [](K k) -> const void* {
    return k->variant()->steps()->Get(0)->entry()->Data();
  };
  CHECK(refusal(patched(+values, 8, std::int64_t{32})).find("occurs twice") != std::string::npos);
  CHECK(refusal(patched(+configuration, 0, std::int64_t{65})).find("not valid") !=
        std::string::npos);
  CHECK(refusal(patched(+code, 0, std::uint32_t{255})).find("unknown") != std::string::npos);
  CHECK(refusal(patched(+entry, 0, ' ')).find("identifier") != std::string::npos);
}

TEST_CASE("numbers that are not finite are refused") {
  std::vector<std::uint8_t> bytes = golden_package();
  const double relative = 1e-6, nan = std::numeric_limits<double>::quiet_NaN();
  std::size_t position = 0;
  while (std::memcmp(bytes.data() + position, &relative, sizeof(relative)) != 0) ++position;
  for (double bad : {nan, std::numeric_limits<double>::infinity(), -1.0}) {
    std::memcpy(bytes.data() + position, &bad, sizeof(bad));
    REQUIRE(seal_again(bytes));
    CHECK(refusal(bytes).find("finite tolerances") != std::string::npos);
  }
}

TEST_CASE("fills without a period that can be told are refused") {
  const auto refused = [](Fill fill, double low, double high) {
    const auto golden = std::make_shared<const std::vector<std::uint8_t>>(golden_package());
    const auto contents = required(package::read_package(golden));
    ArgumentSpec& spec = contents->arguments[2];
    spec.fill = fill;
    spec.fill_low = low;
    spec.fill_high = high;
    const auto package = KernelPackage::open(package::write_package(*contents), "bad.itkernel");
    return package.status().message().find("expected finite fill values") != std::string::npos;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(refused(Fill::index, 0, 0x1p63));
  CHECK(refused(Fill::index, -0x1p62, 0x1p62));
  CHECK_FALSE(refused(Fill::index, 0, 0x1p62));
  CHECK(refused(Fill::uniform, -1e308, 1e308));
  CHECK_FALSE(refused(Fill::uniform, -1e300, 1e300));
  CHECK(refused(Fill::constant, infinity, infinity));
  CHECK(refused(Fill::uniform, 0, std::nan("")));
  CHECK(refused(Fill::uniform, 1, 0));
}

TEST_CASE("random damage under a correct seal is refused or harmless") {
  const std::vector<std::uint8_t> bytes = golden_package();
  Random random(99);
  std::uint64_t opened = 0, refused = 0;
  const std::uint64_t rounds = test::repeats(20000);
  for (std::uint64_t round = rounds; round > 0; --round) {
    std::vector<std::uint8_t> damaged = bytes;
    for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
      damaged[static_cast<std::size_t>(random.below(damaged.size()))] =
          static_cast<std::uint8_t>(random.next());
    }
    if (!seal_again(damaged)) continue;
    const auto package = KernelPackage::open(std::move(damaged), "bad.itkernel");
    ++(package.ok() ? opened : refused);
    if (package.ok()) exercise(**package);
  }
  CHECK(opened > rounds / 10);  // texts and sizes may change
  CHECK(refused > rounds / 10);
}
