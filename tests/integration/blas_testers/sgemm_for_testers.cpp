// The SGEMM of idletune::gemm under the names of BLAS and CBLAS, to be loaded in front of a program
// that tests those. IDLETUNE_TESTED says which way calls go: plain, batched, packed_a, packed_b,
// clblast (under CLBlast's names, whose agent tunes meanwhile); with `faulty_` in front it is off
// in one sort of products, which the program must find. Buffers have exactly the matrices' extent,
// and a C that must not be read holds NaN. Exit status 77: there is no device.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <idletune/clblast/clblast_c.h>
#include <idletune/agent.hpp>
#include <idletune/gemm.hpp>
#include <idletune/opencl.hpp>

extern "C" {
// The testers' own; the one for Fortran has not those of C.
[[gnu::weak]] void xerbla_(const char* name, const int* argument, std::size_t length);
[[gnu::weak]] void cblas_xerbla(int argument, const char* name, const char* format, ...);
[[gnu::weak]] extern int RowMajorStrg;
}

namespace {

using namespace idletune;

template <class T>
T must(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status().to_string().c_str());
  std::_Exit(result.code() == StatusCode::not_found ? 77 : 1);
}

void must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  std::_Exit(1);
}

struct Tested {
  Tested()
      : device(must(opencl::open(0))),
        queue(must(opencl::application_queue(*device))),
        agent(must(Agent::open({}))),
        gemm(must(Gemm::open(agent, *device, must(opencl::application_queue(*device))))) {}
  std::unique_ptr<Device> device;
  std::unique_ptr<ApplicationQueue> queue;
  Agent agent;
  Gemm gemm;
};

Tested& tested() {
  static auto* const all = new Tested;  // the driver is gone before destructors of statics run
  return *all;
}

std::size_t extent(std::int64_t rows, std::int64_t columns, std::int64_t leading, bool by_rows) {
  const std::int64_t lines = by_rows ? rows : columns;
  const std::int64_t length = by_rows ? columns : rows;
  return lines == 0 || length == 0 ? 0 : static_cast<std::size_t>((lines - 1) * leading + length);
}

std::unique_ptr<Buffer> put(const float* numbers, std::size_t count) {
  auto buffer = must(tested().queue->allocate(count * sizeof(float)));
  must(tested().queue->write(
      *buffer, 0, Bytes(reinterpret_cast<const std::uint8_t*>(numbers), count * sizeof(float))));
  must(tested().queue->wait());
  return buffer;
}

Status multiply_by_clblast(const Product& product) {
  const auto memory = [](const MatrixPlace& place) {
    cl_mem buffer = nullptr;
    std::memcpy(&buffer, place.buffer.data(), sizeof buffer);
    return buffer;
  };
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  const auto turned = [](bool yes) { return yes ? CLBlastTransposeYes : CLBlastTransposeNo; };
  auto* queue = static_cast<cl_command_queue>(tested().queue->handle());
  const CLBlastStatusCode code = CLBlastSgemm(
      product.layout == MatrixLayout::row_major ? CLBlastLayoutRowMajor : CLBlastLayoutColMajor,
      turned(product.transpose_a), turned(product.transpose_b), size(product.m), size(product.n),
      size(product.k), product.alpha, memory(product.a), 0, size(product.a.leading),
      memory(product.b), 0, size(product.b.leading), product.beta, memory(product.c), 0,
      size(product.c.leading), &queue, nullptr);
  if (code == CLBlastSuccess && clFinish(queue) == CL_SUCCESS) return {};
  return {StatusCode::device_error, "CLBlastSgemm: status %", static_cast<int>(code)};
}

Status multiply(Product product) {
  Gemm& gemm = tested().gemm;
  const std::string_view prefix = "faulty_";
  const char* const name = std::getenv("IDLETUNE_TESTED");
  std::string_view way = name != nullptr ? name : "plain";
  if (way.substr(0, prefix.size()) == prefix) {
    way.remove_prefix(prefix.size());
    if (product.n == 9 && product.k == 5) product.alpha *= 1.001f;
  }
  const bool reads = product.alpha != 0 && product.m > 0 && product.n > 0 && product.k > 0;
  if (way == "clblast" && reads) return multiply_by_clblast(product);
  if (way == "batched" && reads) {
    const std::size_t zero[] = {0};
    return gemm.multiply_batched(product, {zero, zero, zero});
  }
  if ((way == "packed_a" || way == "packed_b") && reads) {
    auto packed = gemm.pack(way == "packed_a" ? GemmArgument::a : GemmArgument::b, product);
    if (!packed.ok()) return packed.status();
    Status status = gemm.multiply_packed(product, *packed);
    must(tested().queue->wait());
    return status;
  }
  return gemm.multiply(product);
}

// Of a product whose matrices lie in memory of the host; the argument that is wrong.
GemmArgument run(Product product, const float* a, const float* b, float* c) {
  const Status sizes = tested().gemm.multiply(product);  // without buffers
  const GemmArgument wrong = sizes.ok() ? GemmArgument::none : Gemm::last_wrong_argument();
  const bool of_buffer =
      wrong == GemmArgument::a || wrong == GemmArgument::b || wrong == GemmArgument::c;
  if (sizes.ok() || !of_buffer) return wrong;
  const bool by_rows = product.layout == MatrixLayout::row_major;
  const std::size_t of_a =
      extent(product.m, product.k, product.a.leading, by_rows != product.transpose_a);
  const std::size_t of_b =
      extent(product.k, product.n, product.b.leading, by_rows != product.transpose_b);
  const std::size_t of_c = extent(product.m, product.n, product.c.leading, by_rows);
  std::unique_ptr<Buffer> on_device[3];
  if (product.alpha != 0 && product.k > 0) {
    on_device[0] = put(a, of_a);
    on_device[1] = put(b, of_b);
    product.a.buffer = on_device[0]->argument();
    product.b.buffer = on_device[1]->argument();
  }
  std::vector<float> result(c, c + of_c);
  const auto leading = static_cast<std::size_t>(product.c.leading);
  const auto length = static_cast<std::size_t>(by_rows ? product.n : product.m);
  for (std::size_t i = 0; product.beta == 0 && i < of_c; ++i) {
    if (i % leading < length) result[i] = std::numeric_limits<float>::quiet_NaN();
  }
  on_device[2] = put(result.data(), of_c);
  product.c.buffer = on_device[2]->argument();
  must(multiply(product));
  must(tested().queue->read(
      *on_device[2], 0,
      MutableBytes(reinterpret_cast<std::uint8_t*>(result.data()), of_c * sizeof(float))));
  std::copy(result.begin(), result.end(), c);
  return GemmArgument::none;
}

// Of SGEMM's arguments in Fortran; `swapped`: as CBLAS has it call for matrices by rows.
int number_of(GemmArgument wrong, bool swapped) {
  switch (wrong) {
    case GemmArgument::m: return swapped ? 4 : 3;
    case GemmArgument::n: return swapped ? 3 : 4;
    case GemmArgument::k: return 5;
    case GemmArgument::lda: return swapped ? 10 : 8;
    case GemmArgument::ldb: return swapped ? 8 : 10;
    case GemmArgument::ldc: return 13;
    default: return 0;
  }
}

bool transposed(char letter, bool& known) {
  known = std::string("NnTtCc").find(letter) != std::string::npos;
  return letter != 'N' && letter != 'n';
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc) {
  Product product;
  bool known_a = false, known_b = false;
  product.layout = MatrixLayout::column_major;
  product.transpose_a = transposed(*ta, known_a);
  product.transpose_b = transposed(*tb, known_b);
  product.m = *m, product.n = *n, product.k = *k;
  product.alpha = *alpha, product.beta = *beta;
  product.a.leading = *lda, product.b.leading = *ldb, product.c.leading = *ldc;
  const int wrong = !known_a ? 1 : !known_b ? 2 : number_of(run(product, a, b, c), false);
  if (wrong != 0) xerbla_("SGEMM ", &wrong, 6);
}

void cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  const auto known = [](int transpose) { return transpose >= 111 && transpose <= 113; };
  Product product;
  const bool by_rows = layout == 101;
  product.layout = by_rows ? MatrixLayout::row_major : MatrixLayout::column_major;
  product.transpose_a = ta != 111;
  product.transpose_b = tb != 111;
  product.m = m, product.n = n, product.k = k;
  product.alpha = alpha, product.beta = beta;
  product.a.leading = lda, product.b.leading = ldb, product.c.leading = ldc;
  RowMajorStrg = by_rows ? 1 : 0;
  int wrong = 0;
  if (!by_rows && layout != 102) {
    wrong = 1;
  } else if (!known(ta) || !known(tb)) {
    wrong = known(ta) ? 3 : 2;
  } else {
    wrong = number_of(run(product, a, b, c), by_rows);
    if (wrong != 0) ++wrong;  // behind the layout
  }
  if (wrong != 0) cblas_xerbla(wrong, "cblas_sgemm", "");
  RowMajorStrg = 0;
}

#pragma GCC visibility pop

}  // extern "C"
