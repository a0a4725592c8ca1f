// The library idletune::gemm where numbers, sizes, queues or handles are at their limits.

#include "platform/opencl/loader.hpp"
#include "tests/unit/forwarding_devices.hpp"
#include "tests/unit/kernels/gemm_calls.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;
using namespace idletune::gemm_tests;

namespace {

std::vector<float> drawn_numbers(Random& random, std::size_t count) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.below(15)) - 7;  // exact sums
  return numbers;
}

// All but NaN bit by bit.
bool same_numbers(const std::vector<float>& x, const std::vector<float>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) != std::isnan(y[i]) || (!std::isnan(x[i]) && x[i] != y[i])) return false;
  }
  return x.size() == y.size();
}

struct OwnQueue {
  OwnQueue(Library& library, cl_command_queue_properties properties) {
    const opencl::Handles handles = opencl::handles(*library.device);
    api = required(opencl::load(""));
    cl_int error = CL_SUCCESS;
    queue = api->CreateCommandQueue(static_cast<cl_context>(handles.context),
                                    static_cast<cl_device_id>(handles.device), properties, &error);
    REQUIRE(error == CL_SUCCESS);
    device = required(opencl::adopt(handles.context, handles.device, queue));
    auto application = required(opencl::application_queue(*device));
    gemm.emplace(required(Gemm::open(*library.agent, *device, std::move(application))));
  }
  ~OwnQueue() {
    gemm.reset();
    device.reset();
    api->ReleaseCommandQueue(queue);
  }
  OwnQueue(const OwnQueue&) = delete;
  OwnQueue& operator=(const OwnQueue&) = delete;
  std::shared_ptr<const opencl::Api> api;
  cl_command_queue queue = nullptr;
  std::unique_ptr<Device> device;  // that has adopted it
  std::optional<Gemm> gemm;        // on it
};

}  // namespace

TEST_CASE("an Inf or NaN of a packed operand stays where it is") {
  Random random(7);
  const float odd[] = {HUGE_VALF, -HUGE_VALF, std::numeric_limits<float>::quiet_NaN()};
  for (const MatrixStorage storage : kStorages) {
    Library library(storage);
    for (int i = 0; i < 16; ++i) {
      CAPTURE(i);
      const std::size_t m = 1 + random.below(40), n = 1 + random.below(40),
                        k = 1 + random.below(24);
      std::vector<float> a = drawn_numbers(random, m * k), b = drawn_numbers(random, k * n);
      const bool packs_a = i % 2 == 0;
      std::vector<float>& packed_numbers = packs_a ? a : b;
      for (int j = 0; j < 3; ++j)
        packed_numbers[random.below(packed_numbers.size())] = odd[random.below(3)];
      const auto on_device_a = library.upload(a), on_device_b = library.upload(b);
      const auto plain = library.upload(std::vector<float>(m * n));
      const auto of_packed = library.upload(std::vector<float>(m * n, -1));
      Product product;
      product.m = static_cast<std::int64_t>(m), product.n = static_cast<std::int64_t>(n);
      product.k = static_cast<std::int64_t>(k);
      product.transpose_a = i % 3 == 0, product.transpose_b = i % 5 < 2;
      product.a = {on_device_a->argument(), 0, product.transpose_a ? product.m : product.k};
      product.b = {on_device_b->argument(), 0, product.transpose_b ? product.k : product.n};
      product.c = {plain->argument(), 0, product.n};
      REQUIRE(library.gemm->multiply(product).ok());
      auto packed =
          required(library.gemm->pack(packs_a ? GemmArgument::a : GemmArgument::b, product));
      product.c.buffer = of_packed->argument();
      REQUIRE(library.gemm->multiply_packed(product, packed).ok());
      library.wait();
      CHECK(same_numbers(library.download(*plain), library.download(*of_packed)));
    }
  }
}

TEST_CASE("an operand is packed again by another handle of its storage, and by no other") {
  Library library;
  Small small(library);
  auto packed = required(library.gemm->pack(GemmArgument::b, small.product));
  library.wait();
  library.write(*small.matrices[1].buffer, std::vector<float>(16, 3.0f));
  auto other = required(Gemm::open(*library.agent, *library.device, library.application_queue()));
  REQUIRE(other.pack_again(packed, small.product).ok());
  auto halves = required(Gemm::open(*library.agent, *library.device, library.application_queue(),
                                    MatrixStorage::half));
  CHECK(halves.pack_again(packed, small.product).message().find("another storage") !=
        std::string::npos);
  CHECK(Gemm::last_wrong_argument() == GemmArgument::b);
  auto without = required(Gemm::open(*library.agent, *library.device));
  CHECK(without.pack_again(packed, small.product).code() == StatusCode::unsupported);
  REQUIRE(library.gemm->multiply_packed(small.product, packed).ok());
  library.wait();
  CHECK(library.download(*small.matrices[2].buffer) == std::vector<float>(16, 13.0f));
}

TEST_CASE("a batch with an alpha of each is checked whole before any of it runs") {
  Library library;
  const auto ones = library.upload(std::vector<float>(8, 1.0f));
  const auto result = library.upload(std::vector<float>(12, 1.0f));
  Product product;
  product.m = product.n = product.k = 2;
  product.a = {ones->argument(), 0, 2};
  product.b = {ones->argument(), 0, 2};
  product.c = {result->argument(), 0, 2};
  const std::size_t starts[] = {0, 4, 0};
  const float alphas[] = {1, 2, 0}, betas[] = {0, 1, 3};
  const auto batch = [&](const std::vector<std::size_t>& of_c) {
    return library.gemm->multiply_batched(product, {starts, starts, of_c}, alphas, betas);
  };
  CHECK(batch({0, 4, 9}).code() == StatusCode::invalid_argument);
  CHECK(batch({0, 4, 3}).message().find("overlap") != std::string::npos);
  CHECK(library.gemm->multiply_batched(product, {starts, starts, starts}, {alphas, 2}, betas)
            .code() == StatusCode::invalid_argument);
  library.wait();
  CHECK(library.download(*result) == std::vector<float>(12, 1.0f));
  REQUIRE(batch({0, 4, 8}).ok());
  library.wait();
  CHECK(library.download(*result) == std::vector<float>{2, 2, 2, 2, 5, 5, 5, 5, 3, 3, 3, 3});
}

TEST_CASE("a batch's operand of 2^64 bytes and some is not taken for a small one") {
  Library library;
  const auto ones = library.upload(std::vector<float>(8, 1.0f));
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 4096;
  Product product;
  product.m = kMost, product.n = product.k = 1;
  product.a = {ones->argument(), 0, kMost};
  product.b = product.c = {ones->argument(), 0, 1};
  const std::int64_t elements = (kMost - 1) * kMost + 1;
  const std::size_t of_a[] = {static_cast<std::size_t>((std::int64_t{1} << 62) + 2 - elements)};
  const std::size_t none[] = {0};
  CHECK(library.gemm->multiply_batched(product, {of_a, none, none}).message() ==
        "a would reach beyond 2^60 elements");
}

TEST_CASE("where groups along an axis are few, the rows of C go in several launches") {
  for (const MatrixStorage storage : kStorages) {
    Library library(storage);
    test::NarrowDevice narrow(*library.device, 8);  // 32 rows at once
    AgentOptions options;
    options.model = kNoModel;
    auto agent = Agent::open(options);  // goes before the device
    REQUIRE(agent.ok());
    auto gemm = required(Gemm::open(*agent, narrow, library.application_queue(), storage));
    library.gemm = std::move(gemm);
    for (std::uint64_t i = 0; i < 150; ++i) {
      CAPTURE(i);
      Call call(kSeed + 5000 + i, storage);
      call.in_c = false;
      CHECK(call.wrong_elements(library) == 0);
    }
    library.gemm.reset();
  }
}

TEST_CASE("batches on a queue whose commands may overtake each other are as those in order") {
  if (test::asks_for_cuda()) return test::skip("OpenCL alone");
  Library library;
  OwnQueue own(library, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Random random(3);
  constexpr std::size_t kProducts = 3000;
  const auto a = library.upload(drawn_numbers(random, 4 * kProducts));
  const auto b = library.upload(drawn_numbers(random, 4 * kProducts));
  Product product;
  product.m = product.n = product.k = 2;
  product.a.leading = product.b.leading = product.c.leading = 2;
  product.a.buffer = a->argument(), product.b.buffer = b->argument();
  for (int round = 0; round < 10; ++round) {
    std::vector<std::size_t> of_a(kProducts), of_b(kProducts), of_c(kProducts);
    for (std::size_t i = 0; i < kProducts; ++i) {
      of_a[i] = 4 * random.below(kProducts), of_b[i] = 4 * random.below(kProducts);
      of_c[i] = 4 * i;
    }
    const auto in_order = library.upload(std::vector<float>(4 * kProducts));
    const auto overtaking = library.upload(std::vector<float>(4 * kProducts, -1));
    product.c.buffer = in_order->argument();
    REQUIRE(library.gemm->multiply_batched(product, {of_a, of_b, of_c}).ok());
    product.c.buffer = overtaking->argument();
    REQUIRE(own.gemm->multiply_batched(product, {of_a, of_b, of_c}).ok());
    library.wait();
    REQUIRE(own.api->Finish(own.queue) == CL_SUCCESS);
    CHECK(library.download(*in_order) == library.download(*overtaking));
  }
}

// On a queue that records no times: else the watch looks at each launch, and slow drivers move on.
TEST_CASE("batches that nobody waits for in between keep their own offsets") {
  if (test::asks_for_cuda()) return test::skip("OpenCL alone");
  Library library;
  OwnQueue own(library, 0);
  constexpr std::size_t kCalls = 20;
  std::vector<float> numbers(4 * (kCalls + 21)), expected;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const auto a = library.upload(numbers);
  std::vector<float> units;  // as many as products: smaller buffers go without tables
  for (int i = 0; i < 3; ++i) units.insert(units.end(), {1.0f, 0.0f, 0.0f, 1.0f});
  const auto b = library.upload(units);
  const auto c = library.upload(std::vector<float>(12 * kCalls));
  Product product;
  product.m = product.n = product.k = 2;
  product.a = {a->argument(), 0, 2};
  product.b = {b->argument(), 0, 2};
  product.c = {c->argument(), 0, 2};
  for (std::size_t call = 0; call < kCalls; ++call) {
    const std::size_t of_a[] = {4 * call, 4 * call + 28, 4 * call + 80}, of_b[] = {0, 4, 0};
    const std::size_t of_c[] = {12 * call, 12 * call + 4, 12 * call + 8};
    for (const std::size_t offset : of_a) {
      for (std::size_t i = 0; i < 4; ++i) expected.push_back(numbers[offset + i]);
    }
    REQUIRE(own.gemm->multiply_batched(product, {of_a, of_b, of_c}).ok());
  }
  REQUIRE(own.api->Finish(own.queue) == CL_SUCCESS);
  CHECK(library.download(*c) == expected);
}
