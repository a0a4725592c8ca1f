#include <idletune/gemm.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <idletune/c_handles.hpp>
#include <idletune/gemm.hpp>

#include "kernels/blas/placed_product.hpp"
#if IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>
#endif
#if IDLETUNE_WITH_OPENCL
#include <idletune/opencl.hpp>
#endif

struct idletune_gemm {
  idletune::Gemm gemm;
};
struct idletune_packed {
  idletune::PackedOperand operand;
};

namespace {

using idletune::GemmArgument;
using idletune::MatrixStorage;
using idletune::Product;
using idletune::reported;
using idletune::Status;
using idletune::StatusCode;

idletune_status refused(const char* what) {
  return reported(Status(StatusCode::invalid_argument, what));
}

// Null where the device's back end is not part of this build: products then go one by one.
std::unique_ptr<idletune::ApplicationQueue> queue_of(idletune::Device& device) {
  using Made = idletune::Result<std::unique_ptr<idletune::ApplicationQueue>>;
  Made queue(StatusCode::unsupported, "no such back end");
#if IDLETUNE_WITH_OPENCL
  if (device.info().backend == "opencl") queue = idletune::opencl::application_queue(device);
#endif
#if IDLETUNE_WITH_CUDA
  if (device.info().backend == "cuda") queue = idletune::cuda::application_queue(device);
#endif
  return queue.ok() ? std::move(*queue) : nullptr;
}

// What the three calls share. Null: right; else what is wrong.
const char* describe(Product& product, const idletune_gemm* gemm, idletune_layout layout,
                     idletune_transpose ta, idletune_transpose tb, int64_t m, int64_t n,
                     int64_t k) {
  if (gemm == nullptr) return "gemm is NULL";
  if (layout != IDLETUNE_ROW_MAJOR && layout != IDLETUNE_COLUMN_MAJOR) {
    return "layout is none, expected IDLETUNE_ROW_MAJOR or IDLETUNE_COLUMN_MAJOR";
  }
  if (ta != IDLETUNE_PLAIN && ta != IDLETUNE_TRANSPOSED) {
    return "ta is neither, expected IDLETUNE_PLAIN or IDLETUNE_TRANSPOSED";
  }
  if (tb != IDLETUNE_PLAIN && tb != IDLETUNE_TRANSPOSED) {
    return "tb is neither, expected IDLETUNE_PLAIN or IDLETUNE_TRANSPOSED";
  }
  product.layout = static_cast<idletune::MatrixLayout>(layout);
  product.transpose_a = ta == IDLETUNE_TRANSPOSED;
  product.transpose_b = tb == IDLETUNE_TRANSPOSED;
  product.m = m, product.n = n, product.k = k;
  return nullptr;
}

// The operand x, for packing or for the product with the other one packed.
void set_operand(Product& product, bool is_a, void* x, int64_t offset, int64_t leading) {
  (is_a ? product.a : product.b) = {x, offset, leading};
}

idletune::LaunchOptions launch_options(void* queue, void* event) {
  idletune::LaunchOptions options;
  options.queue = queue, options.event = event;
  return options;
}

idletune_status open(idletune_agent* agent, idletune_device* device, idletune_gemm** gemm,
                     MatrixStorage storage) {
  if (agent == nullptr) return refused("agent is NULL");
  if (device == nullptr) return refused("device is NULL");
  if (gemm == nullptr) return refused("gemm is NULL");
  idletune::Device& on = idletune::device_of(device);
  auto opened = idletune::Gemm::open(idletune::agent_of(agent), on, queue_of(on), storage);
  if (!opened.ok()) return reported(opened.status());
  *gemm = new idletune_gemm{std::move(*opened)};
  return IDLETUNE_OK;
}

// Whether the handle is of the storage that the call is named after.
bool is_of(const idletune_gemm* gemm, MatrixStorage storage) {
  if (gemm == nullptr || gemm->gemm.storage() == storage) return true;
  refused(storage == MatrixStorage::half
              ? "gemm is of floats, expected one of idletune_gemm_open_half"
              : "gemm is of halves, expected one of idletune_gemm_open");
  return false;
}

idletune_status multiply_strided(MatrixStorage storage, idletune_gemm* gemm, idletune_layout layout,
                                 idletune_transpose ta, idletune_transpose tb, int64_t m, int64_t n,
                                 int64_t k, float alpha, void* a, int64_t a_offset, int64_t lda,
                                 int64_t a_stride, void* b, int64_t b_offset, int64_t ldb,
                                 int64_t b_stride, float beta, void* c, int64_t c_offset,
                                 int64_t ldc, int64_t c_stride, int64_t count, void* queue,
                                 void* event) {
  if (!is_of(gemm, storage)) return IDLETUNE_INVALID_ARGUMENT;
  Product product;
  const char* const fault = describe(product, gemm, layout, ta, tb, m, n, k);
  if (fault != nullptr) return refused(fault);
  product.alpha = alpha, product.beta = beta;
  product.a = {a, a_offset, lda}, product.b = {b, b_offset, ldb}, product.c = {c, c_offset, ldc};
  return reported(gemm->gemm.multiply_strided(product, {count, a_stride, b_stride, c_stride},
                                              launch_options(queue, event)));
}

idletune_status multiply_batched(MatrixStorage storage, idletune_gemm* gemm, idletune_layout layout,
                                 idletune_transpose ta, idletune_transpose tb, int64_t m, int64_t n,
                                 int64_t k, float alpha, void* a, const size_t* a_offsets,
                                 int64_t lda, void* b, const size_t* b_offsets, int64_t ldb,
                                 float beta, void* c, const size_t* c_offsets, int64_t ldc,
                                 int64_t count, void* queue, void* event) {
  if (!is_of(gemm, storage)) return IDLETUNE_INVALID_ARGUMENT;
  Product product;
  const char* const fault = describe(product, gemm, layout, ta, tb, m, n, k);
  if (fault != nullptr) return refused(fault);
  if (count < 0) return refused("count is negative");
  if (count > idletune::gemm::kMaxSize) return refused("count is more than there can be");
  if (count > 0 && a_offsets == nullptr) return refused("a_offsets is NULL");
  if (count > 0 && b_offsets == nullptr) return refused("b_offsets is NULL");
  if (count > 0 && c_offsets == nullptr) return refused("c_offsets is NULL");
  product.alpha = alpha, product.beta = beta;
  product.a = {a, 0, lda}, product.b = {b, 0, ldb}, product.c = {c, 0, ldc};
  const auto size = static_cast<std::size_t>(count);
  return reported(gemm->gemm.multiply_batched(
      product, {{a_offsets, size}, {b_offsets, size}, {c_offsets, size}},
      launch_options(queue, event)));
}

idletune_status multiply_packed(MatrixStorage storage, idletune_gemm* gemm,
                                const idletune_packed* packed, idletune_layout layout,
                                idletune_transpose tx, int64_t m, int64_t n, int64_t k, float alpha,
                                void* x, int64_t x_offset, int64_t ldx, float beta, void* c,
                                int64_t c_offset, int64_t ldc, void* queue, void* event) {
  if (!is_of(gemm, storage)) return IDLETUNE_INVALID_ARGUMENT;
  if (packed == nullptr) return refused("packed is NULL");
  Product product;
  const char* const fault = describe(product, gemm, layout, tx, tx, m, n, k);
  if (fault != nullptr) return refused(fault);
  product.alpha = alpha, product.beta = beta;
  set_operand(product, !packed->operand.is_a(), x, x_offset, ldx);
  product.c = {c, c_offset, ldc};
  return reported(
      gemm->gemm.multiply_packed(product, packed->operand, {}, launch_options(queue, event)));
}

void append_quoted(std::string& text, const char* name, const std::string& value) {
  text += text.empty() ? "{\"" : ",\"";
  text += name;
  text += "\":\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  text += '"';
}

}  // namespace

extern "C" {

idletune_status idletune_gemm_open(idletune_agent* agent, idletune_device* device,
                                   idletune_gemm** gemm) {
  return open(agent, device, gemm, MatrixStorage::single);
}

idletune_status idletune_gemm_open_half(idletune_agent* agent, idletune_device* device,
                                        idletune_gemm** gemm) {
  return open(agent, device, gemm, MatrixStorage::half);
}

void idletune_gemm_close(idletune_gemm* gemm) { delete gemm; }

idletune_status idletune_sgemm(idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta,
                               idletune_transpose tb, int64_t m, int64_t n, int64_t k, float alpha,
                               void* a, int64_t a_offset, int64_t lda, void* b, int64_t b_offset,
                               int64_t ldb, float beta, void* c, int64_t c_offset, int64_t ldc,
                               void* queue, void* event) {
  return idletune_sgemm_strided_batched(gemm, layout, ta, tb, m, n, k, alpha, a, a_offset, lda, 0,
                                        b, b_offset, ldb, 0, beta, c, c_offset, ldc, 0, 1, queue,
                                        event);
}

idletune_status idletune_hgemm(idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta,
                               idletune_transpose tb, int64_t m, int64_t n, int64_t k, float alpha,
                               void* a, int64_t a_offset, int64_t lda, void* b, int64_t b_offset,
                               int64_t ldb, float beta, void* c, int64_t c_offset, int64_t ldc,
                               void* queue, void* event) {
  return idletune_hgemm_strided_batched(gemm, layout, ta, tb, m, n, k, alpha, a, a_offset, lda, 0,
                                        b, b_offset, ldb, 0, beta, c, c_offset, ldc, 0, 1, queue,
                                        event);
}

idletune_status idletune_sgemm_strided_batched(
    idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta, idletune_transpose tb,
    int64_t m, int64_t n, int64_t k, float alpha, void* a, int64_t a_offset, int64_t lda,
    int64_t a_stride, void* b, int64_t b_offset, int64_t ldb, int64_t b_stride, float beta, void* c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t count, void* queue, void* event) {
  return multiply_strided(MatrixStorage::single, gemm, layout, ta, tb, m, n, k, alpha, a, a_offset,
                          lda, a_stride, b, b_offset, ldb, b_stride, beta, c, c_offset, ldc,
                          c_stride, count, queue, event);
}

idletune_status idletune_hgemm_strided_batched(
    idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta, idletune_transpose tb,
    int64_t m, int64_t n, int64_t k, float alpha, void* a, int64_t a_offset, int64_t lda,
    int64_t a_stride, void* b, int64_t b_offset, int64_t ldb, int64_t b_stride, float beta, void* c,
    int64_t c_offset, int64_t ldc, int64_t c_stride, int64_t count, void* queue, void* event) {
  return multiply_strided(MatrixStorage::half, gemm, layout, ta, tb, m, n, k, alpha, a, a_offset,
                          lda, a_stride, b, b_offset, ldb, b_stride, beta, c, c_offset, ldc,
                          c_stride, count, queue, event);
}

idletune_status idletune_sgemm_batched(idletune_gemm* gemm, idletune_layout layout,
                                       idletune_transpose ta, idletune_transpose tb, int64_t m,
                                       int64_t n, int64_t k, float alpha, void* a,
                                       const size_t* a_offsets, int64_t lda, void* b,
                                       const size_t* b_offsets, int64_t ldb, float beta, void* c,
                                       const size_t* c_offsets, int64_t ldc, int64_t count,
                                       void* queue, void* event) {
  return multiply_batched(MatrixStorage::single, gemm, layout, ta, tb, m, n, k, alpha, a, a_offsets,
                          lda, b, b_offsets, ldb, beta, c, c_offsets, ldc, count, queue, event);
}

idletune_status idletune_hgemm_batched(idletune_gemm* gemm, idletune_layout layout,
                                       idletune_transpose ta, idletune_transpose tb, int64_t m,
                                       int64_t n, int64_t k, float alpha, void* a,
                                       const size_t* a_offsets, int64_t lda, void* b,
                                       const size_t* b_offsets, int64_t ldb, float beta, void* c,
                                       const size_t* c_offsets, int64_t ldc, int64_t count,
                                       void* queue, void* event) {
  return multiply_batched(MatrixStorage::half, gemm, layout, ta, tb, m, n, k, alpha, a, a_offsets,
                          lda, b, b_offsets, ldb, beta, c, c_offsets, ldc, count, queue, event);
}

idletune_status idletune_gemm_pack(idletune_gemm* gemm, idletune_operand operand,
                                   idletune_layout layout, idletune_transpose tx, int64_t rows,
                                   int64_t columns, void* x, int64_t x_offset, int64_t ldx,
                                   void* queue, void* event, idletune_packed** packed) {
  const bool is_a = operand == IDLETUNE_OPERAND_A;
  if (!is_a && operand != IDLETUNE_OPERAND_B) {
    return refused("operand is neither, expected IDLETUNE_OPERAND_A or IDLETUNE_OPERAND_B");
  }
  if (packed == nullptr) return refused("packed is NULL");
  Product product;
  const char* const fault =
      describe(product, gemm, layout, tx, tx, rows, columns, is_a ? columns : rows);
  if (fault != nullptr) return refused(fault);
  set_operand(product, is_a, x, x_offset, ldx);
  auto made = gemm->gemm.pack(is_a ? GemmArgument::a : GemmArgument::b, product,
                              launch_options(queue, event));
  if (!made.ok()) return reported(made.status());
  *packed = new idletune_packed{std::move(*made)};
  return IDLETUNE_OK;
}

idletune_status idletune_gemm_pack_again(idletune_gemm* gemm, idletune_packed* packed,
                                         idletune_layout layout, idletune_transpose tx, void* x,
                                         int64_t x_offset, int64_t ldx, void* queue, void* event) {
  if (packed == nullptr) return refused("packed is NULL");
  const bool is_a = packed->operand.is_a();
  Product product;
  const char* const fault = describe(product, gemm, layout, tx, tx, packed->operand.outer(),
                                     packed->operand.outer(), packed->operand.depth());
  if (fault != nullptr) return refused(fault);
  set_operand(product, is_a, x, x_offset, ldx);
  return reported(gemm->gemm.pack_again(packed->operand, product, launch_options(queue, event)));
}

void idletune_packed_free(idletune_packed* packed) { delete packed; }

idletune_status idletune_sgemm_packed(idletune_gemm* gemm, const idletune_packed* packed,
                                      idletune_layout layout, idletune_transpose tx, int64_t m,
                                      int64_t n, int64_t k, float alpha, void* x, int64_t x_offset,
                                      int64_t ldx, float beta, void* c, int64_t c_offset,
                                      int64_t ldc, void* queue, void* event) {
  return multiply_packed(MatrixStorage::single, gemm, packed, layout, tx, m, n, k, alpha, x,
                         x_offset, ldx, beta, c, c_offset, ldc, queue, event);
}

idletune_status idletune_hgemm_packed(idletune_gemm* gemm, const idletune_packed* packed,
                                      idletune_layout layout, idletune_transpose tx, int64_t m,
                                      int64_t n, int64_t k, float alpha, void* x, int64_t x_offset,
                                      int64_t ldx, float beta, void* c, int64_t c_offset,
                                      int64_t ldc, void* queue, void* event) {
  return multiply_packed(MatrixStorage::half, gemm, packed, layout, tx, m, n, k, alpha, x, x_offset,
                         ldx, beta, c, c_offset, ldc, queue, event);
}

idletune_status idletune_gemm_prepare(idletune_gemm* gemm, idletune_layout layout,
                                      idletune_transpose ta, idletune_transpose tb, int64_t m,
                                      int64_t n, int64_t k, int64_t count) {
  Product product;
  const char* const fault = describe(product, gemm, layout, ta, tb, m, n, k);
  return fault != nullptr ? refused(fault) : reported(gemm->gemm.prepare(product, count));
}

char* idletune_gemm_explain(idletune_gemm* gemm, idletune_layout layout, idletune_transpose ta,
                            idletune_transpose tb, int64_t m, int64_t n, int64_t k, int64_t count) {
  Product product;
  const char* const fault = describe(product, gemm, layout, ta, tb, m, n, k);
  if (fault != nullptr) {
    refused(fault);
    return nullptr;
  }
  const auto explained = gemm->gemm.explain(product, count);
  if (!explained.ok()) {
    reported(explained.status());
    return nullptr;
  }
  std::string text;
  append_quoted(text, "problem", explained->problem);
  append_quoted(text, "selection", idletune::selection_name(explained->selection));
  append_quoted(text, "running", explained->running_text);
  append_quoted(text, "reason", explained->reason);
  append_quoted(text, "advice", explained->advice);
  text += '}';
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // extern "C"
