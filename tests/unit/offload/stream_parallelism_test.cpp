// Features of streams whose dependences and mix of instructions have closed forms.
#include <doctest/doctest.h>

#include "models/host/offload/features.hpp"
#include "tests/unit/offload/stream.hpp"

namespace idletune::offload {
namespace {

using test::Stream;
constexpr auto kInteger = OperationKind::integer;
constexpr auto kSingle = OperationKind::single_other;

TEST_CASE("the analysis names the features that profiles have") {
  const auto& names = kStreamFeatureNames;
  CHECK(profiled_features().names == std::vector<std::string>(names.begin(), names.end()));
}

TEST_CASE("operations that wait for nothing could all run at once") {
  Stream stream;
  const auto add = stream.operation(kInteger, 1);
  for (int i = 0; i < 3 * 65536; ++i) stream.run(add);
  CHECK(stream.feature("ilp.32") == 32);
  CHECK(stream.feature("ilp.256") == 256);
  CHECK(stream.feature("ilp.2048") == 2048);
  CHECK(stream.feature("ilp.65536") == 65536);
  CHECK(stream.feature("ilpRate") == 512);
  CHECK(stream.feature("ninst") == 3 * 65536);
  CHECK(stream.feature("int") == 1);
}

TEST_CASE("a chain runs one operation after the other") {
  Stream stream;
  const auto add = stream.operation(kSingle, 1, {1});
  for (int i = 0; i < 65536; ++i) stream.run(add);
  CHECK(stream.feature("ilp.32") == 1);
  CHECK(stream.feature("ilp.65536") == 1);
  CHECK(stream.feature("ilpRate") == 1);
  CHECK(stream.feature("fp") == 1);
}

TEST_CASE("eight chains side by side run eight operations at once, in every window") {
  Stream stream;
  std::vector<std::uint32_t> adds;
  for (ValueNumber i = 1; i <= 8; ++i) adds.push_back(stream.operation(kSingle, i, {i}));
  for (int i = 0; i < 2 * 65536; ++i) stream.run(adds[static_cast<std::size_t>(i % 8)]);
  for (const char* ilp : {"ilp.32", "ilp.256", "ilp.2048", "ilp.65536"}) {
    CHECK(stream.feature(ilp) == 8);
  }
}

TEST_CASE("a product and its sum are two levels, whatever the window") {
  Stream stream;
  const auto multiply = stream.operation(OperationKind::single_multiply, 1);
  const auto add = stream.operation(kSingle, 2, {1});
  for (int i = 0; i < 32768; ++i) {
    stream.run(multiply);
    stream.run(add);
  }
  CHECK(stream.feature("ilp.32") == 16);
  CHECK(stream.feature("ilp.65536") == 32768);
  CHECK(stream.feature("mulf") == 0.5);
}

TEST_CASE("a loop's counter limits what independent iterations could do") {
  // Each iteration: the counter's sum, and three operations on the counter. W / 4 iterations are in
  // a window; the counter's chain has W / 4 levels, and the last operations are one above it.
  Stream stream;
  const auto count = stream.operation(kInteger, 1, {1});
  const auto use = stream.operation(kSingle, 2, {1});
  for (int i = 0; i < 16384; ++i) {
    stream.run(count);
    for (int j = 0; j < 3; ++j) stream.run(use);
  }
  CHECK(stream.feature("ilp.32") == doctest::Approx(32.0 / 9).epsilon(1e-12));
  CHECK(stream.feature("ilp.256") == doctest::Approx(256.0 / 65).epsilon(1e-12));
  CHECK(stream.feature("ilp.65536") == doctest::Approx(65536.0 / 16385).epsilon(1e-12));
  CHECK(stream.feature("ilpRate") == doctest::Approx((16384.0 / 4097) / (32.0 / 9)).epsilon(1e-12));
}

TEST_CASE("what is loaded waits for what was stored there") {
  // memory[0] += 1: load, add, store, each after the one before.
  Stream stream;
  const auto load = stream.load(1);
  const auto add = stream.operation(kSingle, 2, {1});
  const auto store = stream.store({2});
  for (int i = 0; i < 65536; ++i) {
    stream.run(load, 4096);
    stream.run(add);
    stream.run(store, 4096);
  }
  CHECK(stream.feature("ilp.32") == 1);
  CHECK(stream.feature("ilp.65536") == 1);
  CHECK(stream.feature("mem") == doctest::Approx(2.0 / 3).epsilon(1e-12));
}

TEST_CASE("stores to other words are not waited for, and single bytes are told apart") {
  for (const std::uint32_t bytes : {1U, 4U, 8U}) {
    Stream stream;
    const auto load = stream.load(1, bytes);
    const auto store = stream.store({1}, bytes);
    for (std::uint64_t i = 0; i < 32768; ++i) {
      stream.run(load, 1U << 20U | i * bytes);
      stream.run(store, 1U << 21U | i * bytes);
    }
    CHECK(stream.feature("ilp.65536") == 32768);
  }
  Stream stream;  // a byte that is part of a word that was stored
  const auto store = stream.store({}, 4);
  const auto load = stream.load(1, 1);
  for (std::uint64_t i = 0; i < 16; ++i) {
    stream.run(store, 4096 + 4 * i);
    stream.run(load, 4096 + 4 * i + 3);
  }
  CHECK(stream.feature("ilp.32") == 16);
}

TEST_CASE("values that change their names at once keep their makers") {
  // A Fibonacci step: (a, b) becomes (b, a + b).
  Stream stream;
  const auto add = stream.operation(kInteger, 3, {1, 2});
  const ValueNumber from[] = {2, 3}, to[] = {1, 2};
  for (int i = 0; i < 64; ++i) {
    stream.run(add);
    stream.analysis().move_together(from, to, 2);
  }
  CHECK(stream.feature("ilp.32") == 1);
}

TEST_CASE("a stream shorter than a window is one window, and a gap gives unfinished ones up") {
  Stream stream;
  const auto chain = stream.operation(kInteger, 1, {1});
  const auto free = stream.operation(kInteger, 2);
  for (int i = 0; i < 10; ++i) {
    stream.run(chain);
    stream.run(free);
  }
  CHECK(stream.feature("ilp.32") == 2);
  CHECK(stream.feature("ilp.65536") == 2);
  stream.analysis().restart(stream.analysis().executions());
  for (int i = 0; i < 32; ++i) stream.run(free);
  CHECK(stream.feature("ilp.32") == 32);
  CHECK(stream.feature("ilp.256") == 32);  // the longer one of the two that did not finish
}

TEST_CASE("kinds of instructions are shares of all, and those of single precision of its own") {
  Stream stream;
  std::vector<std::uint32_t> all;
  for (std::size_t kind = 0; kind < kOperationKinds; ++kind) {
    all.push_back(stream.operation(static_cast<OperationKind>(kind), 0, {}, 4));
  }
  // As often as the kind's number and one more: 1 + 2 + ... + 12 = 78.
  for (std::uint32_t kind = 0; kind < kOperationKinds; ++kind) {
    for (std::uint32_t i = 0; i <= kind; ++i) stream.run(all[kind], 64);
  }
  CHECK(stream.feature("ninst") == 78);
  CHECK(stream.feature("int") == 1.0 / 78);
  CHECK(stream.feature("mem") == (2.0 + 3) / 78);
  CHECK(stream.feature("ctrl") == (4.0 + 5) / 78);
  CHECK(stream.feature("fp") == (6.0 + 7 + 8 + 9 + 10 + 11) / 78);
  CHECK(stream.feature("dp") == 12.0 / 78);
  CHECK(stream.feature("mulf") == 7.0 / 51);
  CHECK(stream.feature("divf") == 8.0 / 51);
  CHECK(stream.feature("sqrtf") == 9.0 / 51);
  CHECK(stream.feature("expf") == 10.0 / 51);
  CHECK(stream.feature("sincosf") == 11.0 / 51);
}

TEST_CASE("nothing that ran has features of zero") {
  Stream stream;
  stream.load(1);
  stream.branch();
  for (const double feature : stream.analysis().features(stream.analysis().executions())) {
    CHECK(feature == 0);
  }
}

}  // namespace
}  // namespace idletune::offload
