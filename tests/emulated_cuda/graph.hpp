// Graphs: what was added to a stream while it was captured, to be done later as often as wanted.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "platform/cuda/driver_api.hpp"

namespace emulated_cuda {

class Stream;

constexpr idletune::cuda::Error kCaptureUnsupported = 900;
constexpr idletune::cuda::Error kCaptureInvalidated = 901;

struct Graph {
  explicit Graph(idletune::cuda::CaptureMode its_mode) : mode(its_mode) {}
  const idletune::cuda::CaptureMode mode;
  const std::thread::id captured_by = std::this_thread::get_id();
  std::atomic<bool> invalidated{false};
  std::vector<std::function<void(Stream&)>> work;
};

// What drivers refuse while a graph is captured, unless the calling thread asked to be let through
// (cuThreadExchangeStreamCaptureMode); the capture is lost then. kSuccess: nothing is captured.
idletune::cuda::Error refuse_while_capturing();

}  // namespace emulated_cuda
