#include "tests/bench/gemm_contest/workplace.hpp"

#include <cblas.h>
#include <clblast.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include <idletune/opencl.hpp>

#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

constexpr unsigned kSeed = 20190501;

void require_success(cl_int error, const char* call) {
  if (error != CL_SUCCESS) throw std::runtime_error(call + (": " + std::to_string(error)));
}

std::size_t leading(bool turned, std::size_t rows, std::size_t columns) {
  return turned ? rows : columns;
}

}  // namespace

std::string Size::text() const {
  return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
         (turned_a ? ", A^T" : "") + (turned_b ? ", B^T" : "");
}

Workplace::Workplace() {
  cl_platform_id platform = nullptr;
  require_success(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  require_success(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr),
                  "clGetDeviceIDs");
  cl_int error = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
  require_success(error, "clCreateContext");
  queue_ = clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &error);
  require_success(error, "clCreateCommandQueue");
}

Workplace::~Workplace() {
  release();
  clReleaseCommandQueue(queue_);
  clReleaseContext(context_);
}

void Workplace::release() {
  for (cl_mem* memory : {&device_a_, &device_b_, &device_c_}) {
    if (*memory != nullptr) clReleaseMemObject(*memory);
    *memory = nullptr;
  }
}

std::unique_ptr<Device> Workplace::adopted() {
  return required(opencl::adopt(context_, device_, queue_, opencl::OpenOptions()));
}

cl_mem Workplace::upload(const std::vector<float>& values) {
  cl_int error = CL_SUCCESS;
  cl_mem memory =
      clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                     values.size() * sizeof(float), const_cast<float*>(values.data()), &error);
  require_success(error, "clCreateBuffer");
  return memory;
}

void Workplace::take(const Size& size) {
  release();
  size_ = size;
  std::mt19937 generator(kSeed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  a_.resize(size.m * size.k);
  b_.resize(size.k * size.n);
  for (std::vector<float>* values : {&a_, &b_}) {
    for (float& value : *values) value = uniform(generator);
  }
  c_.assign(size.m * size.n, 0.0f);
  device_a_ = upload(a_);
  device_b_ = upload(b_);
  device_c_ = upload(c_);
}

void Workplace::openblas() {
  const auto m = static_cast<blasint>(size_.m), n = static_cast<blasint>(size_.n),
             k = static_cast<blasint>(size_.k);
  cblas_sgemm(CblasRowMajor, size_.turned_a ? CblasTrans : CblasNoTrans,
              size_.turned_b ? CblasTrans : CblasNoTrans, m, n, k, 1.0f, a_.data(),
              static_cast<blasint>(leading(size_.turned_a, size_.m, size_.k)), b_.data(),
              static_cast<blasint>(leading(size_.turned_b, size_.k, size_.n)), 0.0f, c_.data(), n);
}

void Workplace::clblast() {
  const auto turned = [](bool yes) {
    return yes ? clblast::Transpose::kYes : clblast::Transpose::kNo;
  };
  const auto status = clblast::Gemm<float>(
      clblast::Layout::kRowMajor, turned(size_.turned_a), turned(size_.turned_b), size_.m, size_.n,
      size_.k, 1.0f, device_a_, 0, leading(size_.turned_a, size_.m, size_.k), device_b_, 0,
      leading(size_.turned_b, size_.k, size_.n), 0.0f, device_c_, 0, size_.n, &queue_);
  if (status != clblast::StatusCode::kSuccess) {
    throw std::runtime_error("clblast::Gemm: " + std::to_string(static_cast<int>(status)));
  }
  require_success(clFinish(queue_), "clFinish");
}

Product Workplace::product() const {
  const auto place = [](cl_mem memory, std::size_t leading) {
    return MatrixPlace{memory, 0, static_cast<std::int64_t>(leading)};
  };
  Product product;
  product.m = static_cast<std::int64_t>(size_.m);
  product.n = static_cast<std::int64_t>(size_.n);
  product.k = static_cast<std::int64_t>(size_.k);
  product.transpose_a = size_.turned_a;
  product.transpose_b = size_.turned_b;
  product.a = place(device_a_, leading(size_.turned_a, size_.m, size_.k));
  product.b = place(device_b_, leading(size_.turned_b, size_.k, size_.n));
  product.c = place(device_c_, size_.n);
  return product;
}

void Workplace::idletune(Gemm& gemm) {
  require(gemm.multiply(product()));
  require_success(clFinish(queue_), "clFinish");
}

float Workplace::difference() {
  std::vector<float> found(size_.m * size_.n);
  require_success(clEnqueueReadBuffer(queue_, device_c_, CL_TRUE, 0, found.size() * sizeof(float),
                                      found.data(), 0, nullptr, nullptr),
                  "clEnqueueReadBuffer");
  float largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::isnan(found[i]) ? INFINITY : std::fabs(found[i] - c_[i]));
  }
  return largest;
}

}  // namespace idletune::bench
