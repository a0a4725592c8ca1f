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

#include "kernels/gemm/placed_product.hpp"

namespace {

using idletune::Argument;
using idletune::Gemm;
using idletune::GemmArgument;
using idletune::Product;
using idletune::Result;
using idletune::Status;
using idletune::StatusCode;

// A context's device, with the library on it.
struct Loaded {
  cl_context context = nullptr;
  cl_device_id id = nullptr;
  std::unique_ptr<idletune::Device> device;
  std::unique_ptr<Gemm> gemm;
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
  for (Loaded& loaded : libraries->loaded) loaded.gemm.reset();
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
  libraries->agent = std::make_unique<idletune::Agent>(std::move(*agent));
  return libraries->agent->start_background();
}

// The library for a queue; opened where it is the first of its context and device.
Result<Gemm*> library_for(cl_command_queue queue) {
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
  for (const Loaded& loaded : libraries->loaded) {
    if (loaded.context == wanted.context && loaded.id == wanted.id) return loaded.gemm.get();
  }
  Status status = open_agent();
  if (!status.ok()) return status;
  auto device = idletune::opencl::adopt(wanted.context, wanted.id, queue);
  if (!device.ok()) return device.status();
  wanted.device = std::move(*device);
  auto own_queue = idletune::opencl::application_queue(*wanted.device);
  if (!own_queue.ok()) return own_queue.status();
  auto gemm = Gemm::open(*libraries->agent, *wanted.device, std::move(*own_queue));
  if (!gemm.ok()) return gemm.status();
  wanted.gemm = std::make_unique<Gemm>(std::move(*gemm));
  libraries->loaded.push_back(std::move(wanted));
  return libraries->loaded.back().gemm.get();
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
  Prepared(CLBlastLayout layout, CLBlastTranspose ta, CLBlastTranspose tb, std::size_t m,
           std::size_t n, std::size_t k, const cl_command_queue* queue) {
    idletune::gemm::last_wrong() = GemmArgument::none;
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
      const Result<Gemm*> library = library_for(*queue);
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

}  // namespace

extern "C" {

CLBlastStatusCode CLBlastSgemm(CLBlastLayout layout, CLBlastTranspose a_transpose,
                               CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                               float alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld,
                               cl_mem b_buffer, size_t b_offset, size_t b_ld, float beta,
                               cl_mem c_buffer, size_t c_offset, size_t c_ld,
                               cl_command_queue* queue, cl_event* event) {
  Prepared call(layout, a_transpose, b_transpose, m, n, k, queue);
  if (call.gemm == nullptr) return call.code;
  call.place(a_buffer, a_offset, a_ld, b_buffer, b_offset, b_ld, c_buffer, c_offset, c_ld);
  call.product.alpha = alpha, call.product.beta = beta;
  call.options.event = event;
  return code_of(call.gemm->multiply(call.product, call.options));
}

CLBlastStatusCode CLBlastSgemmBatched(CLBlastLayout layout, CLBlastTranspose a_transpose,
                                      CLBlastTranspose b_transpose, size_t m, size_t n, size_t k,
                                      const float* alphas, cl_mem a_buffer, const size_t* a_offsets,
                                      size_t a_ld, cl_mem b_buffer, const size_t* b_offsets,
                                      size_t b_ld, const float* betas, cl_mem c_buffer,
                                      const size_t* c_offsets, size_t c_ld, size_t batch_count,
                                      cl_command_queue* queue, cl_event* event) {
  Prepared call(layout, a_transpose, b_transpose, m, n, k, queue);
  if (call.gemm == nullptr) return call.code;
  if (batch_count == 0) return CLBlastInvalidBatchCount;
  call.place(a_buffer, 0, a_ld, b_buffer, 0, b_ld, c_buffer, 0, c_ld);
  for (std::size_t from = 0; from < batch_count;) {
    std::size_t to = from + 1;
    while (to < batch_count && alphas[to] == alphas[from] && betas[to] == betas[from]) ++to;
    call.product.alpha = alphas[from], call.product.beta = betas[from];
    call.options.event = to == batch_count ? event : nullptr;
    const std::size_t count = to - from;
    const Status status = call.gemm->multiply_batched(
        call.product,
        {{a_offsets + from, count}, {b_offsets + from, count}, {c_offsets + from, count}},
        call.options);
    if (!status.ok()) return code_of(status);
    from = to;
  }
  return CLBlastSuccess;
}

CLBlastStatusCode CLBlastSgemmStridedBatched(
    CLBlastLayout layout, CLBlastTranspose a_transpose, CLBlastTranspose b_transpose, size_t m,
    size_t n, size_t k, float alpha, cl_mem a_buffer, size_t a_offset, size_t a_ld, size_t a_stride,
    cl_mem b_buffer, size_t b_offset, size_t b_ld, size_t b_stride, float beta, cl_mem c_buffer,
    size_t c_offset, size_t c_ld, size_t c_stride, size_t batch_count, cl_command_queue* queue,
    cl_event* event) {
  Prepared call(layout, a_transpose, b_transpose, m, n, k, queue);
  if (call.gemm == nullptr) return call.code;
  if (batch_count == 0) return CLBlastInvalidBatchCount;
  call.place(a_buffer, a_offset, a_ld, b_buffer, b_offset, b_ld, c_buffer, c_offset, c_ld);
  call.product.alpha = alpha, call.product.beta = beta;
  call.options.event = event;
  return code_of(call.gemm->multiply_strided(
      call.product, {number(batch_count), number(a_stride), number(b_stride), number(c_stride)},
      call.options));
}

CLBlastStatusCode CLBlastClearCache(void) {
  clear();
  return CLBlastSuccess;
}

}  // extern "C"
