// Calls on the capture of streams, and on the graphs that come of it: chains of one stream.
#include "tests/emulated_cuda/driver_state.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

namespace {

// CUstreamCaptureStatus, CUstreamCaptureMode
constexpr auto kActive = static_cast<CaptureStatus>(1);
constexpr auto kInvalidated = static_cast<CaptureStatus>(2);

thread_local CaptureMode thread_mode = CaptureMode::global;

}  // namespace

namespace emulated_cuda {

Error refuse_while_capturing() {
  Error error = kSuccess;
  for (const auto& stream : state().streams.all()) {
    const auto graph = stream->captured();
    if (graph == nullptr || thread_mode == CaptureMode::relaxed) continue;
    const bool is_own = graph->captured_by == std::this_thread::get_id();
    if (graph->mode == CaptureMode::relaxed || (graph->mode != CaptureMode::global && !is_own))
      continue;
    graph->invalidated = true;
    error = kCaptureUnsupported;
  }
  return error;
}

}  // namespace emulated_cuda

extern "C" {
#pragma GCC visibility push(default)

Error cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  std::swap(*mode, thread_mode);
  return kSuccess;
}

// A default stream is one of the current context, others know their own.
Error cuStreamIsCapturing(StreamHandle handle, CaptureStatus* status) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return current_context() == nullptr ? kInvalidContext : kInvalidHandle;
  const auto graph = stream->captured();
  *status = graph == nullptr ? CaptureStatus::none : graph->invalidated ? kInvalidated : kActive;
  return kSuccess;
}

// A default stream cannot be captured.
Error cuStreamBeginCapture_v2(StreamHandle handle, CaptureMode mode) {
  const auto stream = state().streams.find(handle);
  if (stream == nullptr) return kCaptureUnsupported;
  return stream->capture(std::make_shared<Graph>(mode)) == nullptr ? kSuccess : kInvalidValue;
}

Error cuStreamEndCapture(StreamHandle handle, void** graph) {
  const auto stream = state().streams.find(handle);
  const auto captured = stream != nullptr ? stream->capture(nullptr) : nullptr;
  *graph = nullptr;
  if (captured == nullptr) return kInvalidValue;
  if (captured->invalidated) return kCaptureInvalidated;
  state().graphs.keep(captured, graph);
  return kSuccess;
}

Error cuGraphInstantiateWithFlags(void** executable, void* handle, unsigned long long) {
  const auto graph = state().graphs.find(handle);
  if (graph == nullptr) return kInvalidValue;
  auto copy = std::make_shared<Graph>(graph->mode);
  copy->work = graph->work;
  state().graphs.keep(std::move(copy), executable);
  return kSuccess;
}

Error cuGraphLaunch(void* executable, StreamHandle handle) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const auto graph = state().graphs.find(executable);
  const auto stream = stream_of(handle);
  if (graph == nullptr || stream == nullptr) return kInvalidHandle;
  for (const auto& work : graph->work) stream->add(work);
  return kSuccess;
}

Error cuGraphDestroy(void* graph) {
  return state().graphs.take(graph) != nullptr ? kSuccess : kInvalidValue;
}
Error cuGraphExecDestroy(void* executable) { return cuGraphDestroy(executable); }

#pragma GCC visibility pop
}
