#include <idletune/clblast/clblast_c.h>

#include <dlfcn.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <idletune/gemm.hpp>
#include <idletune/opencl.hpp>

#include "kernels/blas/placed_product.hpp"

namespace {

using idletune::Argument;
using idletune::Gemm;
using idletune::GemmArgument;
using idletune::MatrixStorage;
using idletune::Product;
using idletune::Result;
using idletune::Status;
using idletune::StatusCode;

// A context's device, with the library on it, opened for each storage that was asked for.
struct Loaded {
  std::unique_ptr<Gemm>& of(MatrixStorage storage) {
    return storage == MatrixStorage::half ? halves : floats;
  }
  cl_context context = nullptr;
  cl_device_id id = nullptr;
  std::unique_ptr<idletune::Device> device;
  std::unique_ptr<Gemm> floats, halves;
};

struct Libraries {
  std::vector<Loaded> loaded;
  std::unique_ptr<idletune::Agent> agent;  // gone before its devices
};

std::mutex libraries_mutex;
Libraries* libraries = nullptr;  // never destroyed behind a driver that is gone: see clear

void clear() {
  const std::lock_guard<std::mutex> lock(libraries_mutex);
  if (libraries == nullptr) return;
  for (Loaded& loaded : libraries->loaded) loaded.floats.reset(), loaded.halves.reset();
  libraries->agent.reset();
  delete libraries;
  libraries = nullptr;
}

template <class Handle>
bool ask(cl_command_queue queue, cl_command_queue_info what, Handle& answer) {
  // The program has linked OpenCL: it has a queue.
  using Function = cl_int(CL_API_CALL*)(cl_command_queue, cl_command_queue_info, std::size_t, void*,
                                        std::size_t*);
  static const auto function =
      reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "clGetCommandQueueInfo"));
  return function != nullptr &&
         function(queue, what, sizeof answer, &answer, nullptr) == CL_SUCCESS;
}

Status open_agent() {
  if (libraries->agent != nullptr) return {};
  Result<idletune::Agent> agent = idletune::Agent::open({});
  if (!agent.ok()) return agent.status();
  if (Status status = agent->start_background(); !status.ok()) return status;
  libraries->agent = std::make_unique<idletune::Agent>(std::move(*agent));
  return {};
}

Result<Loaded*> device_for(Loaded wanted, cl_command_queue queue) {
  for (Loaded& loaded : libraries->loaded) {
    if (loaded.context == wanted.context && loaded.id == wanted.id) return &loaded;
  }
  if (Status status = open_agent(); !status.ok()) return status;
  auto device = idletune::opencl::adopt(wanted.context, wanted.id, queue);
  if (!device.ok()) return device.status();
  wanted.device = std::move(*device);
  libraries->loaded.push_back(std::move(wanted));
  return &libraries->loaded.back();
}

// The library for a queue; opened where it is the first of its context, device and storage.
Result<Gemm*> library_for(cl_command_queue queue, MatrixStorage storage) {
  Loaded wanted;
  if (queue == nullptr || !ask(queue, CL_QUEUE_CONTEXT, wanted.context) ||
      !ask(queue, CL_QUEUE_DEVICE, wanted.id)) {
    return Status(StatusCode::not_found, "no queue");
  }
  const std::lock_guard<std::mutex> lock(libraries_mutex);
  if (libraries == nullptr) {
    libraries = new Libraries;
    static const int registered = std::atexit(clear);
    static_cast<void>(registered);
  }
  const Result<Loaded*> found = device_for(std::move(wanted), queue);
  if (!found.ok()) return found.status();
  Loaded& loaded = **found;
  if (loaded.of(storage) != nullptr) return loaded.of(storage).get();
  auto own_queue = idletune::opencl::application_queue(*loaded.device);
  if (!own_queue.ok()) return own_queue.status();
  auto gemm = Gemm::open(*libraries->agent, *loaded.device, std::move(*own_queue), storage);
  if (!gemm.ok()) return gemm.status();
  loaded.of(storage) = std::make_unique<Gemm>(std::move(*gemm));
  return loaded.of(storage).get();
}

CLBlastStatusCode code_of(const Status& status) {
  if (status.ok()) return CLBlastSuccess;
  if (status.code() == StatusCode::not_found) return CLBlastInvalidCommandQueue;
  if (status.code() == StatusCode::out_of_memory) return CLBlastOpenCLOutOfHostMemory;
  if (status.code() == StatusCode::compile_error) return CLBlastOpenCLBuildProgramFailure;
  if (status.code() != StatusCode::invalid_argument) return CLBlastUnexpectedError;
  switch (Gemm::last_wrong_argument()) {
    case GemmArgument::m:
    case GemmArgument::n:
    case GemmArgument::k: return CLBlastInvalidDimension;
    case GemmArgument::count: return CLBlastInvalidBatchCount;
    case GemmArgument::a: return CLBlastInsufficientMemoryA;
    case GemmArgument::b: return CLBlastInsufficientMemoryB;
    case GemmArgument::c:
      return status.message().find("overlap") != std::string::npos ? CLBlastInvalidMatrixC
                                                                   : CLBlastInsufficientMemoryC;
    case GemmArgument::lda: return CLBlastInvalidLeadDimA;
    case GemmArgument::ldb: return CLBlastInvalidLeadDimB;
    case GemmArgument::ldc: return CLBlastInvalidLeadDimC;
    case GemmArgument::none: break;
  }
  return CLBlastInvalidValue;
}

// What is too large stays too large.
std::int64_t number(std::size_t value) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(value < kMost ? value : kMost);
}

// A product, and the library for it; a status other than CLBlastSuccess says what is wrong.
struct Prepared {
  Prepared(MatrixStorage storage, CLBlastLayout layout, CLBlastTranspose ta, CLBlastTranspose tb,
           std::size_t m, std::size_t n, std::size_t k, const cl_command_queue* queue) {
    const auto is_transpose = [](CLBlastTranspose t) {
      return t >= CLBlastTransposeNo && t <= CLBlastTransposeConjugate;
    };
    if ((layout != CLBlastLayoutRowMajor && layout != CLBlastLayoutColMajor) || !is_transpose(ta) ||
        !is_transpose(tb)) {
      code = CLBlastInvalidValue;
    } else if (m == 0 || n == 0 || k == 0) {
      code = CLBlastInvalidDimension;
    } else if (queue == nullptr) {
      code = CLBlastInvalidCommandQueue;
    } else {
      product.layout = layout == CLBlastLayoutRowMajor ? idletune::MatrixLayout::row_major
                                                       : idletune::MatrixLayout::column_major;
      product.transpose_a = ta != CLBlastTransposeNo;
      product.transpose_b = tb != CLBlastTransposeNo;
      product.m = number(m), product.n = number(n), product.k = number(k);
      options.queue = *queue;
      const Result<Gemm*> library = library_for(*queue, storage);
      code = code_of(library.status());
      if (library.ok()) gemm = *library;
    }
  }
  void place(cl_mem a, std::size_t a_offset, std::size_t a_ld, cl_mem b, std::size_t b_offset,
             std::size_t b_ld, cl_mem c, std::size_t c_offset, std::size_t c_ld) {
    product.a = {Argument(a), number(a_offset), number(a_ld)};
    product.b = {Argument(b), number(b_offset), number(b_ld)};
    product.c = {Argument(c), number(c_offset), number(c_ld)};
  }
  Product product;
  idletune::LaunchOptions options;
  Gemm* gemm = nullptr;
  CLBlastStatusCode code = CLBlastSuccess;
};

float number(float value) { return value; }
float number(cl_half bits) {
  idletune::Half half;
  half.bits = bits;
  return static_cast<float>(half.value());
}

template <class T>
constexpr MatrixStorage kStorage = sizeof(T) == sizeof(cl_half) ? MatrixStorage::half
                                                                : MatrixStorage::single;

// CLBlast's arguments of a buffer.
struct Place {
  cl_mem buffer;
  std::size_t offset, ld, stride;
};

template <class T>
CLBlastStatusCode multiply(Prepared&& call, std::size_t count, T alpha, T beta, const Place& a,
                           const Place& b, const Place& c, cl_event* event) {
  if (call.gemm == nullptr) return call.code;
  if (count == 0) return CLBlastInvalidBatchCount;
  call.place(a.buffer, a.offset, a.ld, b.buffer, b.offset, b.ld, c.buffer, c.offset, c.ld);
  call.product.alpha = number(alpha), call.product.beta = number(beta);
  call.options.event = event;
  return code_of(call.gemm->multiply_strided(
      call.product, {number(count), number(a.stride), number(b.stride), number(c.stride)},
      call.options));
}

struct Scattered {
  cl_mem buffer;
  const std::size_t* offsets;
  std::size_t ld;
};

template <class T>
CLBlastStatusCode multiply_batched(Prepared&& call, std::size_t count, const T* alphas,
                                   const T* betas, const Scattered& a, const Scattered& b,
                                   const Scattered& c, cl_event* event) {
  if (call.gemm == nullptr) return call.code;
  if (count == 0 || number(count) > idletune::gemm::kMaxSize) return CLBlastInvalidBatchCount;
  call.place(a.buffer, 0, a.ld, b.buffer, 0, b.ld, c.buffer, 0, c.ld);
  call.options.event = event;
  std::vector<float> all_alphas(count), all_betas(count);
  for (std::size_t i = 0; i < count; ++i) {
    all_alphas[i] = number(alphas[i]);
    all_betas[i] = number(betas[i]);
  }
  return code_of(call.gemm->multiply_batched(
      call.product, {{a.offsets, count}, {b.offsets, count}, {c.offsets, count}}, all_alphas,
      all_betas, call.options));
}

}  // namespace

extern "C" {

CLBlastStatusCode CLBlastSgemm(CLBlastLayout layout, CLBlastTranspose a_transpose,
                               CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                               float alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld,
                               cl_mem b_buffer, size_t b_offset, size_t b_ld, float beta,
                               cl_mem c_buffer, size_t c_offset, size_t c_ld,
                               cl_command_queue* queue, cl_event* event) {
  return multiply({kStorage<float>, layout, a_transpose, b_transpose, m, n, k, queue}, 1, alpha,
                  beta, {a_buffer, a_offset, a_ld, 0}, {b_buffer, b_offset, b_ld, 0},
                  {c_buffer, c_offset, c_ld, 0}, event);
}

CLBlastStatusCode CLBlastSgemmBatched(CLBlastLayout layout, CLBlastTranspose a_transpose,
                                      CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                                      const float* alphas, cl_mem a_buffer, const size_t* a_offsets,
                                      size_t a_ld, cl_mem b_buffer, const size_t* b_offsets,
                                      size_t b_ld, const float* betas, cl_mem c_buffer,
                                      const size_t* c_offsets, size_t c_ld, size_t batch_count,
                                      cl_command_queue* queue, cl_event* event) {
  return multiply_batched({kStorage<float>, layout, a_transpose, b_transpose, m, n, k, queue},
                          batch_count, alphas, betas, {a_buffer, a_offsets, a_ld},
                          {b_buffer, b_offsets, b_ld}, {c_buffer, c_offsets, c_ld}, event);
}

CLBlastStatusCode CLBlastSgemmStridedBatched(
    CLBlastLayout layout, CLBlastTranspose a_transpose, CLBlastTranspose b_transpose, size_t m,
    size_t n, size_t k, float alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld, size_t a_stride,
    cl_mem b_buffer, size_t b_offset, size_t b_ld, size_t b_stride, float beta, cl_mem c_buffer,
    size_t c_offset, size_t c_ld, size_t c_stride, size_t batch_count, cl_command_queue* queue,
    cl_event* event) {
  return multiply({kStorage<float>, layout, a_transpose, b_transpose, m, n, k, queue}, batch_count,
                  alpha, beta, {a_buffer, a_offset, a_ld, a_stride},
                  {b_buffer, b_offset, b_ld, b_stride}, {c_buffer, c_offset, c_ld, c_stride},
                  event);
}

CLBlastStatusCode CLBlastHgemm(CLBlastLayout layout, CLBlastTranspose a_transpose,
                               CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                               cl_half alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld,
                               cl_mem b_buffer, size_t b_offset, size_t b_ld, cl_half beta,
                               cl_mem c_buffer, size_t c_offset, size_t c_ld,
                               cl_command_queue* queue, cl_event* event) {
  return multiply({kStorage<cl_half>, layout, a_transpose, b_transpose, m, n, k, queue}, 1, alpha,
                  beta, {a_buffer, a_offset, a_ld, 0}, {b_buffer, b_offset, b_ld, 0},
                  {c_buffer, c_offset, c_ld, 0}, event);
}

CLBlastStatusCode CLBlastHgemmBatched(CLBlastLayout layout, CLBlastTranspose a_transpose,
                                      CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                                      const cl_half* alphas, cl_mem a_buffer,
                                      const size_t* a_offsets, size_t a_ld, cl_mem b_buffer,
                                      const size_t* b_offsets, size_t b_ld, const cl_half* betas,
                                      cl_mem c_buffer, const size_t* c_offsets, size_t c_ld,
                                      size_t batch_count, cl_command_queue* queue,
                                      cl_event* event) {
  return multiply_batched({kStorage<cl_half>, layout, a_transpose, b_transpose, m, n, k, queue},
                          batch_count, alphas, betas, {a_buffer, a_offsets, a_ld},
                          {b_buffer, b_offsets, b_ld}, {c_buffer, c_offsets, c_ld}, event);
}

CLBlastStatusCode CLBlastHgemmStridedBatched(
    CLBlastLayout layout, CLBlastTranspose a_transpose, CLBlastTranspose b_transpose, size_t m,
    size_t n, size_t k, cl_half alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld,
    size_t a_stride, cl_mem b_buffer, size_t b_offset, size_t b_ld, size_t b_stride, cl_half beta,
    cl_mem c_buffer, size_t c_offset, size_t c_ld, size_t c_stride, size_t batch_count,
    cl_command_queue* queue, cl_event* event) {
  return multiply({kStorage<cl_half>, layout, a_transpose, b_transpose, m, n, k, queue},
                  batch_count, alpha, beta, {a_buffer, a_offset, a_ld, a_stride},
                  {b_buffer, b_offset, b_ld, b_stride}, {c_buffer, c_offset, c_ld, c_stride},
                  event);
}

CLBlastStatusCode CLBlastClearCache(void) {
  clear();
  return CLBlastSuccess;
}

}  // extern "C"
