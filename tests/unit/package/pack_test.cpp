#include "models/host/pack/pack.hpp"
#include "agent/launch/launch_table.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "models/package/kernel_package.hpp"
#include "models/package/package_contents.hpp"
#include "models/package/package_writer.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/package/package_bytes.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/space/clblast_gemm.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

// Bytes in use and their peak, of everything allocated through operator new in this program.
struct HeapCount {
  std::size_t now = 0;
  std::size_t peak = 0;
};
thread_local HeapCount heap;

constexpr std::size_t kPrefix = 16;  // keeps the alignment that malloc gives

void* counted(std::size_t size) {
  void* block = std::malloc(size + kPrefix);
  if (block == nullptr) return nullptr;
  *static_cast<std::size_t*>(block) = size;
  heap.now += size;
  if (heap.now > heap.peak) heap.peak = heap.now;
  return static_cast<char*>(block) + kPrefix;
}
void uncounted(void* pointer) {
  if (pointer == nullptr) return;
  char* block = static_cast<char*>(pointer) - kPrefix;
  heap.now -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

KernelDescription description_of(std::vector<DescribedParameter> parameters,
                                 std::vector<DescribedExpression> constraints) {
  KernelDescription description =
      made_kernel("k", "__kernel void k(__global float* out) { out[get_global_id(0)] = P0; }");
  description.parameters = std::move(parameters);
  description.constraints = std::move(constraints);
  description.launch.global = {"round_up(N, 64)"};
  description.launch.local = {"64"};
  description.arguments = {made_buffer("out", "round_up(N, 64)", Access::out)};
  return description;
}

// 26 parameters of 5 values in overlapping constraints. 5^26 = 1.5e18 combinations.
KernelDescription large_description() {
  std::vector<DescribedParameter> parameters;
  std::vector<DescribedExpression> constraints;
  for (int i = 0; i < 26; ++i) {
    parameters.push_back(parameter("P" + std::to_string(i), {1, 2, 4, 8, 16}));
    if (i < 3) continue;
    const auto name = [i](int back) { return "P" + std::to_string(i - back); };
    constraints.emplace_back(name(0) + " * " + name(1) + " * " + name(3) + " <= 256");
    constraints.emplace_back(name(0) + " % " + name(2) + " == 0 or " + name(1) + " > 4");
  }
  return description_of(parameters, constraints);
}

Result<std::shared_ptr<const KernelPackage>> round_trip(const KernelDescription& description,
                                                        const PackOptions& options = {}) {
  auto bytes = pack(description, options);
  if (!bytes.ok()) return bytes.status();
  return KernelPackage::open(std::move(*bytes), "k.itkernel");
}

std::string refusal(const KernelDescription& description) {
  const auto bytes = pack(description);
  REQUIRE_FALSE(bytes.ok());
  return bytes.status().message();
}

}  // namespace

void* operator new(std::size_t size) {
  void* pointer = counted(size);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* pointer) noexcept { uncounted(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { uncounted(pointer); }

TEST_CASE("opening a space of more than 10^9 combinations takes little memory and time") {
  const auto bytes = required(pack(large_description()));
  std::vector<std::uint8_t> copy = bytes;
  const std::size_t before = heap.now - copy.size();  // the file itself counts
  heap.peak = heap.now;
  const auto start = std::chrono::steady_clock::now();
  const auto package = KernelPackage::open(std::move(copy), "large.itkernel");
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  const std::size_t peak_bytes = heap.peak - before;
  REQUIRE(package.ok());
  CHECK((*package)->space().combinations() == 1490116119384765625ull);
  CHECK((*package)->space().valid_count() == 678438250);
  CHECK(peak_bytes < (4u << 20));
  MESSAGE("figure: opened " << bytes.size() << " bytes in " << taken.count() << " ms, peak "
                            << peak_bytes << " bytes of memory");
  Random random(1);
  const std::size_t steady = heap.now;
  heap.peak = heap.now;
  for (int i = 0; i < 1000; ++i) {
    const Configuration configuration = (*package)->space().sample(random);
    REQUIRE((*package)->space().contains(configuration));
    REQUIRE((*package)->plan(Shape{1000}, configuration).ok());
  }
  CHECK(heap.peak == steady);  // neither sampling nor planning allocates
}

TEST_CASE("the same description gives the same bytes") {
  const auto a = pack(large_description()), b = pack(large_description());
  REQUIRE((a.ok() && b.ok()));
  CHECK(*a == *b);
}

TEST_CASE("a diagram that would be too large is left out, and the package says so") {
  PackOptions options;
  options.max_edges = 10;
  const auto small = required(round_trip(large_description(), options));
  CHECK_FALSE(small->space().indexed());
  CHECK(small->space().contains(small->default_configuration()));
  options.max_edges = 200000;
  options.max_states = 10;
  const auto few = required(round_trip(large_description(), options));
  CHECK_FALSE(few->space().indexed());
  const auto full = required(round_trip(large_description()));
  CHECK(full->space().indexed());
  CHECK(full->digest() == few->digest());  // the same kernel
}

TEST_CASE("the kernel's digest follows all that a check's verdict rests on") {
  const KernelDescription original = large_description();
  const auto digest = [](const KernelDescription& description) {
    const auto package = required(round_trip(description));
    return package->digest();
  };
  const std::uint64_t reference = digest(original);
  const auto changed = [&](auto change) {
    KernelDescription description = original;
    change(description);
    return digest(description);
  };
  using D = KernelDescription&;
  CHECK(reference == changed([](D) {}));
  CHECK(reference == changed([](D d) { d.name = "other"; }));
  CHECK(reference == changed([](D d) { d.parameters[0].kind = ParameterKind::tile; }));
  CHECK(reference != changed([](D d) { d.source += " "; }));
  CHECK(reference != changed([](D d) { d.entry = "k2"; }));
  CHECK(reference != changed([](D d) { d.options = "-cl-mad-enable"; }));
  CHECK(reference != changed([](D d) { d.dialect = Dialect::opencl; }));
  CHECK(reference != changed([](D d) { d.launch.global[0] = "round_up(N, 64) * 1"; }));
  CHECK(reference != changed([](D d) { d.parameters[0].values.push_back(32); }));
  CHECK(reference != changed([](D d) { d.constraints.pop_back(); }));
  CHECK(reference != changed([](D d) { d.tolerance.absolute = 1; }));
  CHECK(reference != changed([](D d) { d.tolerance.relative = 1; }));
  CHECK(reference != changed([](D d) { d.reference.entry = "plain"; }));
  CHECK(reference != changed([](D d) { d.arguments[0].size = "round_up(N, 128)"; }));
  CHECK(reference != changed([](D d) { d.arguments[0].type = ScalarType::f64; }));
  CHECK(reference != changed([](D d) { d.arguments[0].fill_high += 1; }));
}

TEST_CASE("descriptions that are not whole are refused") {
  const auto with = [](auto change) {
    KernelDescription description = description_of({parameter("P0", {1, 2})}, {});
    change(description);
    return description;
  };
  using D = KernelDescription&;
  REQUIRE(pack(with([](D) {})).ok());
  CHECK(refusal(with([](D d) { d.name = "a b"; })).find("a name for the kernel") !=
        std::string::npos);
  CHECK(refusal(with([](D d) { d.entry = ""; })).find("entry point") != std::string::npos);
  CHECK(refusal(with([](D d) { d.source = ""; })).find("source is empty") != std::string::npos);
  CHECK(refusal(with([](D d) { d.dimensions = {}; })).find("1 to 8 dimensions") !=
        std::string::npos);
  CHECK(refusal(with([](D d) { d.dimensions = {"P0"}; })).find("used twice") != std::string::npos);
  CHECK(refusal(with([](D d) { d.parameters[0].default_value = 9; })).find("P0=9, which is not") !=
        std::string::npos);
  CHECK(refusal(with([](D d) { d.launch.local = {}; })).find("1 to 3 global sizes") !=
        std::string::npos);
  CHECK(refusal(with([](D d) { d.arguments = {}; })).find("0 arguments, expected 1 to 32") !=
        std::string::npos);
  CHECK(refusal(with([](D d) {
          d.arguments[0].size = DescribedExpression();
        })).find("expected a size") != std::string::npos);
  CHECK(refusal(with([](D d) { d.tolerance.relative = -1; })).find("tolerances") !=
        std::string::npos);
  CHECK(refusal(with([](D d) {
          d.reference.configuration = {{"P9", 1}};
        })).find("no parameter") != std::string::npos);
  CHECK(refusal(with([](D d) {
          d.reference.configuration = {{"P0", 7}};
        })).find("P0=7") != std::string::npos);
  CHECK(refusal(with([](D d) { d.options = "-DA=1\n"; })).find("control characters") !=
        std::string::npos);
}

TEST_CASE("a kernel has at most as many arguments as a launch carries") {
  KernelDescription description = description_of({parameter("P0", {1, 2})}, {});
  while (description.arguments.size() < kMaxArguments) {
    description.arguments.push_back(description.arguments.front());
    description.arguments.back().name = "x" + std::to_string(description.arguments.size());
  }
  const auto package = required(round_trip(description));
  CHECK(package->argument_count() == std::tuple_size_v<decltype(detail::Variant::derived)>);
  description.arguments.push_back(description.arguments.front());
  description.arguments.back().name = "one_more";
  CHECK(refusal(description).find("33 arguments, expected 1 to 32") != std::string::npos);
}

TEST_CASE("sizes that make no launch are named") {
  const auto message = [](const char* global, const char* local) {
    KernelDescription description = description_of({parameter("P0", {1, 2})}, {});
    description.launch.global = {global};
    description.launch.local = {local};
    const auto package = required(round_trip(description));
    const auto plan = package->plan(Shape{100}, Configuration{1});
    REQUIRE_FALSE(plan.ok());
    return plan.status().to_string();
  };
  CHECK(message("N", "64") ==
        "unsupported: kernel 'k': global size x 'N' is 100, not a multiple of the local size 64");
  CHECK(message("N - 100", "1") ==
        "unsupported: kernel 'k': global size x 'N - 100' is 0, expected a positive size");
  CHECK(message("N", "P0 - 2") ==
        "unsupported: kernel 'k': local size x 'P0 - 2' is -1, expected a positive size");
  CHECK(message("N / (P0 - 1)", "1") ==
        "invalid_argument: kernel 'k': global size x 'N / (P0 - 1)' has no value (division by "
        "zero)");
}

TEST_CASE("binaries are added to a package, several per configuration, none outside its space") {
  auto bytes = required(pack(description_of({parameter("P0", {1, 2})}, {})));
  const std::vector<std::uint8_t> code{1, 2, 3};
  const PrebuiltBinary ptx{BinaryFormat::ptx, code, 75};
  const PrebuiltBinary cubin{BinaryFormat::cubin, code, 87};
  const auto more = required(with_prebuilt(bytes, {{{2}, ptx}, {{1}, ptx}, {{2}, cubin}}));
  const auto plain = KernelPackage::open(bytes, "p");
  const auto package = required(KernelPackage::open(more, "p"));
  CHECK(package->prebuilt_count() == 3);
  CHECK(package->prebuilt(Configuration{1}).size() == 1);
  REQUIRE(package->prebuilt(Configuration{2}).size() == 2);
  CHECK(package->prebuilt(Configuration{2})[1].made_for == 87);
  CHECK(package->digest() == (*plain)->digest());  // the same kernel
  CHECK(with_prebuilt(bytes, {{{3}, ptx}}).code() == StatusCode::invalid_argument);
}

TEST_CASE("binaries that make a package that no board takes are refused") {
  auto bytes = required(pack(description_of({parameter("P0", {1, 2})}, {})));
  const std::vector<std::uint8_t> code((std::size_t{64} << 20) - bytes.size());
  const auto more = with_prebuilt(bytes, {{{2}, {BinaryFormat::ptx, code, 75}}});
  CHECK(more.code() == StatusCode::invalid_argument);
  CHECK(more.status().message() == "kernel package 'k': larger than 64 MiB");
}

TEST_CASE("prebuilt binaries are found by configuration, and their bytes are checked") {
  auto bytes = required(pack(description_of({parameter("P0", {1, 2})}, {})));
  auto contents =
      required(package::read_package(std::make_shared<const std::vector<std::uint8_t>>(bytes)));
  const std::vector<std::uint8_t> code{0xde, 0xad, 0xbe, 0xef, 0x99, 0x77, 0x55};
  contents->binaries.push_back(
      {contents->space.key(Configuration{2}), {{BinaryFormat::cubin, code, 87}}});
  std::vector<std::uint8_t> packed = package::write_package(*contents);
  const auto package = required(KernelPackage::open(packed, "p"));
  CHECK(package->prebuilt_count() == 1);
  const Span<const PrebuiltBinary> found = package->prebuilt(Configuration{2});
  REQUIRE(found.size() == 1);
  CHECK(found[0].format == BinaryFormat::cubin);
  CHECK(found[0].made_for == 87);
  CHECK(std::vector<std::uint8_t>(found[0].bytes.begin(), found[0].bytes.end()) == code);
  CHECK(package->prebuilt(Configuration{1}).empty());
  const std::size_t at = [&] {
    for (std::size_t i = 0;; ++i) {
      if (packed[i] == 0xde && packed[i + 1] == 0xad && packed[i + 2] == 0xbe) return i;
    }
  }();
  packed[at] = 0;
  REQUIRE(seal_again(packed));
  const auto damaged = KernelPackage::open(packed, "p");
  CHECK(damaged.status().message().find("checksum") != std::string::npos);
}
