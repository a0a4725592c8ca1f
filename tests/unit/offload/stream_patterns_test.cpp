// Features of streams whose accesses and branches have closed forms.
#include <doctest/doctest.h>

#include <functional>

#include "models/host/offload/analysis/footprint.hpp"
#include "tests/unit/offload/stream.hpp"

namespace idletune::offload {
namespace {

using test::Stream;
constexpr std::uint64_t kBase = std::uint64_t{1} << 30U;   // of an array, aligned to pages
constexpr std::uint64_t kArray = std::uint64_t{1} << 24U;  // from one array to the next

// One load, executed `count` times at an address that follows from its number.
Stream walk(std::uint64_t count, std::uint32_t bytes,
            const std::function<std::uint64_t(std::uint64_t)>& offset) {
  Stream stream;
  const auto load = stream.load(1, bytes);
  for (std::uint64_t i = 0; i < count; ++i) stream.run(load, kBase + offset(i));
  return stream;
}

TEST_CASE("floats in a row: every window is one transaction without a conflict") {
  Stream stream = walk(8192, 4, [](std::uint64_t i) { return 4 * i; });
  CHECK(stream.feature("mem") == 1);
  CHECK(stream.feature("coldRef") == 1.0 / 32);
  CHECK(stream.feature("blocks") == 32);
  CHECK(stream.feature("pages") == 1024);
  CHECK(stream.feature("reuseDist2") == 31.0 / 32);
  CHECK(stream.feature("stride0") == 0);
  CHECK(stream.feature("noConflict") == 1);
  CHECK(stream.feature("shMemBW") == 1);
  CHECK(stream.feature("gMemBW") == 1);
  CHECK(stream.feature("coalesced") == 1);
}

TEST_CASE("floats in a row that begin beside a block take two transactions") {
  Stream stream = walk(3200, 4, [](std::uint64_t i) { return 64 + 4 * i; });
  CHECK(stream.feature("gMemBW") == 0.5);
  CHECK(stream.feature("coalesced") == 0);
  CHECK(stream.feature("noConflict") == 1);
}

TEST_CASE("behind a gap no reference counts until it can be known whether it is a reuse") {
  // Two arrays in turn, a block each 32 elements, seen seven accesses at a time.
  ShortReuse whole;
  ShortReuse bursts;
  std::uint64_t number = 0;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    for (const std::uint64_t array : {std::uint64_t{0}, kArray}) {
      if (number++ % 7 == 0) bursts.restart();
      whole.reference(kBase + array + 4 * i);
      bursts.reference(kBase + array + 4 * i);
    }
  }
  CHECK(whole.share() == doctest::Approx(31.0 / 32));
  CHECK(bursts.share() == doctest::Approx(31.0 / 32).epsilon(0.01));
}

TEST_CASE("every 2^i-th float has a 2^i-fold conflict and touches 2^i blocks") {
  for (std::uint64_t step = 2; step <= 32; step *= 2) {
    Stream stream = walk(4096, 4, [step](std::uint64_t i) { return 4 * step * i; });
    const double one = 1.0 / static_cast<double>(step);
    CHECK(stream.feature("shMemBW") == one);
    CHECK(stream.feature("gMemBW") == one);
    CHECK(stream.feature("noConflict") == 0);
    CHECK(stream.feature("coalesced") == 0);
    CHECK(stream.feature("coldRef") == static_cast<double>(step) / 32);
    CHECK(stream.feature("blocks") == 32 * one);
  }
}

TEST_CASE("every 64th float is worse than any stride that counts") {
  Stream stream = walk(3200, 4, [](std::uint64_t i) { return 256 * i; });
  CHECK(stream.feature("shMemBW") == 0);
  CHECK(stream.feature("gMemBW") == 1.0 / 32);
  CHECK(stream.feature("coldRef") == 1);
  CHECK(stream.feature("reuseDist2") == 0);
}

TEST_CASE("every third float has no conflict, and touches three blocks") {
  Stream stream = walk(32 * 100, 4, [](std::uint64_t i) { return 12 * i; });
  CHECK(stream.feature("noConflict") == 1);
  CHECK(stream.feature("shMemBW") == 0);
  CHECK(stream.feature("gMemBW") == doctest::Approx(1.0 / 3).epsilon(1e-14));
}

TEST_CASE("backwards is a stride like forwards") {
  Stream stream = walk(4096, 4, [](std::uint64_t i) { return 4 * (4095 - i); });
  CHECK(stream.feature("noConflict") == 1);
  CHECK(stream.feature("shMemBW") == 1);
  CHECK(stream.feature("coalesced") == 1);
}

TEST_CASE("doubles in a row are two words apart") {
  Stream stream = walk(4096, 8, [](std::uint64_t i) { return 8 * i; });
  CHECK(stream.feature("shMemBW") == 0.5);
  CHECK(stream.feature("noConflict") == 0);
  CHECK(stream.feature("gMemBW") == 0.5);
}

TEST_CASE("bytes in a row are no whole number of words apart") {
  Stream stream = walk(4096, 1, [](std::uint64_t i) { return i; });
  CHECK(stream.feature("shMemBW") == 0);
  CHECK(stream.feature("noConflict") == 0);
  CHECK(stream.feature("coalesced") == 1);
  CHECK(stream.feature("blocks") == 128);
}

TEST_CASE("one address again and again is what constant memory is for") {
  Stream stream = walk(3200, 4, [](std::uint64_t) { return std::uint64_t{0}; });
  CHECK(stream.feature("stride0") == 1);
  CHECK(stream.feature("coalesced") == 1);
  CHECK(stream.feature("shMemBW") == 0);
  CHECK(stream.feature("reuseDist2") == 3199.0 / 3200);
  CHECK(stream.feature("pages") == 3200);
}

TEST_CASE("strides that change count as none, and blocks are counted all the same") {
  // +1, +3, +1, +3 floats: 32 executions span 64 floats.
  Stream stream = walk(3200, 4, [](std::uint64_t i) { return 4 * (4 * (i / 2) + i % 2); });
  CHECK(stream.feature("noConflict") == 0);
  CHECK(stream.feature("shMemBW") == 0);
  CHECK(stream.feature("gMemBW") == 0.5);
}

TEST_CASE("a column of a matrix with rows of a page touches a page per access") {
  Stream stream = walk(1024, 4, [](std::uint64_t i) { return 4096 * i; });
  CHECK(stream.feature("pages") == 1);
  CHECK(stream.feature("blocks") == 1);
}

TEST_CASE("between two arrays in turn blocks are found again, between three they are not") {
  for (const std::uint64_t arrays : {2U, 3U}) {
    Stream stream;
    std::vector<std::uint32_t> loads;
    for (std::uint64_t a = 0; a < arrays; ++a) loads.push_back(stream.load(1));
    for (std::uint64_t i = 0; i < 3200; ++i) {
      for (std::uint64_t a = 0; a < arrays; ++a) stream.run(loads[a], kBase + a * kArray + 4 * i);
    }
    CHECK(stream.feature("reuseDist2") == (arrays == 2 ? 31.0 / 32 : 0));
    CHECK(stream.feature("coalesced") == 1);  // each instruction by itself
  }
}

TEST_CASE("each access weighs as many windows as its executions fill") {
  Stream stream;
  const auto rows = stream.load(1), same = stream.load(2);
  for (std::uint64_t i = 0; i < 96; ++i) stream.run(rows, kBase + 4 * i);
  for (int i = 0; i < 63; ++i) stream.run(same, kBase);
  CHECK(stream.feature("stride0") == 0.25);
  // Of bursts the windows seen stand for those that were not.
  CHECK(stream.feature("stride0", {320, 320}) == 0.5);
  // Where none was seen nothing is said.
  CHECK(stream.feature("stride0", {96, 0}) == 0);
}

Stream decide(int count, const std::function<bool(int)>& taken) {
  Stream stream;
  const auto branch = stream.branch();
  for (int i = 0; i < count; ++i) stream.run(branch, taken(i) ? 1 : 0);
  return stream;
}

const char* const kDivergence[] = {"Lbdiv.16",  "Lbdiv.32",  "Lbdiv.64",  "Lbdiv.128",
                                   "Lbdiv.256", "Lbdiv.512", "Lbdiv.1024"};

TEST_CASE("a branch that always goes one way never parts threads") {
  Stream stream = decide(4096, [](int) { return true; });
  for (const char* name : kDivergence) CHECK(stream.feature(name) == 0);
  CHECK(stream.feature("ctrl") == 1);
}

TEST_CASE("a branch that alternates always does") {
  Stream stream = decide(4096, [](int i) { return i % 2 == 0; });
  for (const char* name : kDivergence) CHECK(stream.feature(name) == 1);
}

TEST_CASE("the end of a loop of 64 iterations parts one window of 16 in four") {
  Stream stream = decide(4096, [](int i) { return i % 64 != 63; });
  CHECK(stream.feature("Lbdiv.16") == 0.25);
  CHECK(stream.feature("Lbdiv.32") == 0.5);
  CHECK(stream.feature("Lbdiv.64") == 1);
  CHECK(stream.feature("Lbdiv.1024") == 1);
}

TEST_CASE("a change between two windows is one of neither") {
  Stream stream = decide(4096, [](int i) { return (i / 16) % 2 == 0; });
  CHECK(stream.feature("Lbdiv.16") == 0);
  CHECK(stream.feature("Lbdiv.32") == 1);
}

TEST_CASE("one odd decision among 8192 parts one window of each size") {
  Stream stream = decide(8192, [](int i) { return i == 5000; });
  double windows = 8192.0 / 16;
  for (const char* name : kDivergence) {
    CHECK(stream.feature(name) == 1 / windows);
    windows /= 2;
  }
}

TEST_CASE("branches that are too rare for a window say nothing") {
  Stream stream = decide(15, [](int i) { return i % 2 == 0; });
  CHECK(stream.feature("Lbdiv.16") == 0);
}

// n x n floats: c[i][j] += a[i][k] * b[k][j], all arrays aligned to pages.
TEST_CASE("a product of matrices has the features that one computes by hand") {
  const std::uint64_t n = 64;
  Stream stream;
  const auto load_a = stream.load(1), load_b = stream.load(2);
  const auto multiply = stream.operation(OperationKind::single_multiply, 3, {1, 2});
  const auto add = stream.operation(OperationKind::single_other, 4, {3, 4});
  const auto count = stream.operation(OperationKind::integer, 5, {5});
  const auto branch = stream.branch();
  const auto store = stream.store({4});
  for (std::uint64_t i = 0; i < n; ++i) {
    for (std::uint64_t j = 0; j < n; ++j) {
      for (std::uint64_t k = 0; k < n; ++k) {
        stream.run(load_a, kBase + 4 * (n * i + k));
        stream.run(load_b, kBase + kArray + 4 * (n * k + j));
        for (const auto operation : {multiply, add, count}) stream.run(operation);
        stream.run(branch, k + 1 < n ? 1 : 0);
      }
      stream.run(store, kBase + 2 * kArray + 4 * (n * i + j));
    }
  }
  const double all = 6.0 * 64 * 64 * 64 + 64 * 64, accesses = 2.0 * 64 * 64 * 64 + 64 * 64;
  CHECK(stream.feature("ninst") == all);
  CHECK(stream.feature("mem") == accesses / all);
  CHECK(stream.feature("fp") == 2.0 * 64 * 64 * 64 / all);
  CHECK(stream.feature("mulf") == 0.5);
  CHECK(stream.feature("coldRef") == 3 * 128 / accesses);  // 16 KB each
  CHECK(stream.feature("pages") == accesses / 12);
  // Windows: n^3 / 32 each of a and b, n^2 / 32 of c; b is 64 words apart.
  const double windows = 2 * 8192 + 128;
  CHECK(stream.feature("coalesced") == (8192 + 128) / windows);
  CHECK(stream.feature("noConflict") == (8192 + 128) / windows);
  CHECK(stream.feature("gMemBW") == (8192 + 128 + 8192 / 32.0) / windows);
  CHECK(stream.feature("Lbdiv.64") == 1);
  CHECK(stream.feature("Lbdiv.16") == 0.25);
}

TEST_CASE("what a GPU would get and give back is counted in blocks, the stack left out") {
  Stream stream;
  const auto load = stream.load(1), store = stream.store({1});
  Footprint& footprint = stream.analysis().footprint();
  footprint.set_own(kBase + 2 * kArray, kBase + 3 * kArray);
  for (std::uint64_t i = 0; i < 64; ++i) {
    stream.run(load, kBase + 4 * i);            // only read
    stream.run(store, kBase + kArray + 4 * i);  // written, then read
    stream.run(load, kBase + kArray + 4 * i);
    stream.run(store, kBase + 2 * kArray + 4 * i);  // its own
  }
  for (std::uint64_t i = 0; i < 32; ++i) stream.run(store, kBase + 4 * i);  // read, then written
  CHECK(footprint.blocks() == 6);
  CHECK(footprint.blocks_in() == 2);
  CHECK(footprint.blocks_out() == 3);
  CHECK(footprint.pages() == 3);
  CHECK(footprint.overflow() == 0);
}

TEST_CASE("a block that was written with gaps is an input once it is read, and no later") {
  Footprint footprint;
  footprint.set_own(4096, 8192);
  for (const std::uint64_t gaps : {0, 1024, 4096}) {
    footprint.write(gaps, gaps > 0);
    footprint.write(gaps + 16, gaps > 0);
    CHECK(footprint.blocks_in() == (gaps > 1024 ? 1 : 0));
    footprint.read(gaps + 4);
    footprint.read(gaps + 8);
    CHECK(footprint.blocks_in() == (gaps > 0 ? 1 : 0));
  }
  CHECK(footprint.blocks_out() == 2);
  footprint.write(2048, true);
  footprint.write(2048);
  footprint.read(2052);
  CHECK(footprint.blocks_in() == 1);
}

}  // namespace
}  // namespace idletune::offload
