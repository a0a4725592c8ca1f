// Which shapes behave alike, as a package derives it.
#include <doctest/doctest.h>

#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/package/sealing.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

KernelDescription row_kernel() {
  KernelDescription d =
      test::made_kernel("rows", "kernel void rows(int n, int k, global float* y) {}");
  d.dialect = Dialect::opencl;
  d.dimensions = {"N", "K"};
  d.parameters = {{"WG", ParameterKind::work_group, {32, 64}, 32},
                  {"WPT", ParameterKind::coarsening, {1, 4}, 1},
                  {"VW", ParameterKind::vectorization, {1, 4}, 1}};
  d.launch.global = {"ceil_div(N, WG * WPT) * WG"};
  d.launch.local = {"WG"};
  d.arguments = {test::made_dimension("n", "N"), test::made_dimension("k", "K"),
                 test::made_buffer("y", "N * K")};
  return d;
}

std::shared_ptr<const KernelPackage> packed(const KernelDescription& description) {
  return required(KernelPackage::open(required(pack(description)), "rows"));
}

std::size_t term_count(const KernelDescription& description) {
  const auto bytes = required(pack(description));
  return idletune::kernel_schema::GetKernelPackage(bytes.data())->class_kinds()->size();
}

std::uint64_t key_of(const KernelPackage& package, const Shape& shape, const Configuration& c) {
  return package.class_key(shape, c);
}

}  // namespace

TEST_CASE("Shapes of a class have the same whole tiles, up to two, and a rest or none") {
  const auto package = packed(row_kernel());
  CHECK(package->has_classes());
  const Configuration c{64, 4, 1};  // tiles of 256 rows
  const auto key = [&](std::int64_t n) { return key_of(*package, {n, 8}, c); };
  CHECK(key(1001) == key(7777));
  CHECK(key(512) == key(5120));
  CHECK(key(512) != key(513));         // a rest
  CHECK(key(257) != key(513));         // one whole tile
  CHECK(key(255) != key(257));         // none
  CHECK(key(1) != key(3));             // one element
  CHECK(key(1001) != key(1002 + 2));   // 1004 is a whole number of WPT
  CHECK(key(1004) != key(1024 + 64));  // of WG
  CHECK(key(63) != key(65));           // below one work-group
}

TEST_CASE("A global size that divides is counted in groups, unless its tiles are whole groups") {
  const auto launching = [](const char* global) {
    KernelDescription d = row_kernel();
    d.launch.global = {global};
    return d;
  };
  for (const char* global : {"N / WPT", "ceil_div(N, WPT)"}) {
    const auto package = packed(launching(global));
    const auto key = [&](std::int64_t n) { return key_of(*package, {n, 8}, {64, 4, 1}); };
    CHECK(key(256) != key(512));  // one group
    CHECK(key(512) == key(768));
    CHECK(key(256 * 1000) == key(512));
  }
  const std::size_t whole = term_count(row_kernel());
  CHECK(term_count(launching("2 * WG * (N / (WPT * WG))")) == whole);
  CHECK(term_count(launching("round_up(N, WG * WPT)")) == whole);
  CHECK(term_count(launching("ceil_div(N, WG * WPT)")) > whole);
}

TEST_CASE("Vectors tell rows apart that they divide, and those they do not") {
  const auto package = packed(row_kernel());
  const auto same = [&](std::int64_t width) {
    const Configuration c{32, 1, width};
    return key_of(*package, {1002, 8}, c) == key_of(*package, {1003, 8}, c);
  };
  CHECK(same(1));
  CHECK(key_of(*package, {1004, 8}, {32, 1, 4}) != key_of(*package, {1003, 8}, {32, 1, 4}));
}

TEST_CASE("A number below 0 makes no tiles, and is none of their counts") {
  KernelDescription d = row_kernel();
  d.classes.terms.push_back({"K - 200", "16"});
  const auto package = packed(d);
  const Configuration c{64, 4, 1};
  const auto key = [&](std::int64_t k) { return key_of(*package, {1001, k}, c); };
  for (std::int64_t k = 1; k < 200; ++k) {
    CHECK(key(k) != key(k + 1));
    for (const std::int64_t tiles : {200, 201, 216, 217, 232, 233}) CHECK(key(k) != key(tiles));
  }
  CHECK(key(232) == key(248));
}

TEST_CASE("A dimension that nothing divides counts as it is, unless the package says more") {
  KernelDescription d = row_kernel();
  const Configuration c{64, 4, 1};
  CHECK(key_of(*packed(d), {1001, 100}, c) != key_of(*packed(d), {1001, 101}, c));
  d.classes.terms.push_back({"K", "16"});
  CHECK(key_of(*packed(d), {1001, 100}, c) == key_of(*packed(d), {1001, 101}, c));
  CHECK(key_of(*packed(d), {1001, 96}, c) != key_of(*packed(d), {1001, 101}, c));
  d.classes.terms.clear();
  d.classes.any.emplace_back("K");
  CHECK(key_of(*packed(d), {1001, 1}, c) == key_of(*packed(d), {1001, 96}, c));
  d.classes.none = true;
  CHECK_FALSE(packed(d)->has_classes());
  CHECK(key_of(*packed(d), {1001, 96}, c) != key_of(*packed(d), {1003, 96}, c));
  d.classes.none = false;
  d.classes.any.emplace_back("L");
  CHECK(pack(d).status().message().find("'L' is no dimension") != std::string::npos);
}

TEST_CASE("Sizes that need wider offsets, and groups beyond what every device has, are classes") {
  KernelDescription d = row_kernel();
  d.classes.any.emplace_back("K");
  const auto package = packed(d);
  const Configuration c{64, 4, 1};
  const auto key = [&](std::int64_t n, std::int64_t k) { return key_of(*package, {n, k}, c); };
  CHECK(key(1001, 1000) == key(1001, 2000));
  CHECK(key(1001, 1000) != key(1001, 1000000));       // bytes of 32 bits
  CHECK(key(1001, 2000000) != key(1001, 4000000));    // elements of 31 bits
  CHECK(key(1001, 1) != key(256 * 65536 + 1001, 1));  // groups

  // The same where both sizes have numbers that stand beside their code.
  d.launch.global = {"round_up(N, WG) * 16777216 / 16777216"};
  d.launch.local = {"33554432 / 524288 * WG / 64"};
  const auto wide = packed(d);
  const auto wide_key = [&](std::int64_t groups) { return key_of(*wide, {64 * groups, 1}, c); };
  CHECK(wide_key(65534) == wide_key(65535));
  CHECK(wide_key(65535) != wide_key(65536));
}

TEST_CASE("Conditions and comparisons between shape and parameters are flags") {
  KernelDescription d = row_kernel();
  d.classes.terms.push_back({"K", "1"});
  d.constraints.emplace_back("K >= VW or WPT == 1");
  d.arguments[2].size = "N * max(K, 100) + (K > 50 ? 1 : 2)";
  const auto package = packed(d);
  const Configuration c{64, 4, 4};
  const auto key = [&](std::int64_t k) { return key_of(*package, {1001, k}, c); };
  CHECK(key(3) != key(5));     // the constraint
  CHECK(key(99) != key(101));  // max
  CHECK(key(49) != key(51));   // ?:
  CHECK(key(101) == key(107));
}

TEST_CASE("A dimension of 0 is no tile and no rest") {
  KernelDescription d = row_kernel();
  d.zero_dimensions = {"N", "K"};
  d.classes.terms.push_back({"K", "16"});
  const auto package = packed(d);
  const Configuration c{64, 4, 1};
  const auto key = [&](std::int64_t n, std::int64_t k) { return key_of(*package, {n, k}, c); };
  CHECK(key(0, 20) != key(1, 20));
  CHECK(key(0, 20) != key(256, 20));
  CHECK(key(300, 0) != key(300, 5));
  CHECK(key(300, 0) == key(308, 0));
}

TEST_CASE("Features make no difference to a class, since they change nothing that is launched") {
  KernelDescription d = row_kernel();
  d.features.resize(1);
  d.features[0].name = "mean_row";
  const auto package = packed(d);
  const Configuration c{64, 4, 1};
  CHECK(key_of(*package, Shape({1001, 8}, {1.5}), c) == key_of(*package, Shape({7777, 8}, {9}), c));
}

TEST_CASE("Terms of a kind that a later version knows leave no classes; damaged ones are refused") {
  namespace fb = idletune::kernel_schema;
  const auto bytes = *pack(row_kernel());
  const auto patched = [&](std::size_t term, std::uint8_t kind) {
    std::vector<std::uint8_t> changed = bytes;
    auto* kinds =
        const_cast<std::uint8_t*>(fb::GetKernelPackage(changed.data())->class_kinds()->Data());
    kinds[term] = kind;
    REQUIRE(test::seal_again(changed));
    return KernelPackage::open(changed, "rows");
  };
  const auto later = required(patched(1, 32));
  CHECK_FALSE(later->has_classes());
  CHECK(key_of(*later, {1001, 8}, {64, 4, 1}) != key_of(*later, {7777, 8}, {64, 4, 1}));
  // One kind less: the length stands in front of the data.
  CHECK(patched(std::size_t(0) - 4, 1).status().message().find("has no kind") != std::string::npos);
}
