// Calls on streams and events.
#include "tests/emulated_cuda/driver_state.hpp"

using namespace emulated_cuda;
using namespace idletune::cuda;

extern "C" {
#pragma GCC visibility push(default)

Error cuStreamCreateWithPriority(StreamHandle* stream, unsigned, int priority) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  state().streams.keep(std::make_shared<Stream>(current_context(), priority), stream);
  return kSuccess;
}

Error cuStreamCreate(StreamHandle* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

Error cuStreamGetPriority(StreamHandle handle, int* priority) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  *priority = stream->priority;
  return check_context();
}

Error cuStreamGetCtx(StreamHandle handle, ContextHandle* context) {
  const auto stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  *context = reinterpret_cast<ContextHandle>(stream->context);
  return kSuccess;
}

Error cuStreamDestroy_v2(StreamHandle handle) {
  const auto stream = state().streams.take(handle);
  if (stream == nullptr) return kInvalidHandle;
  stream->close();
  return check_context();
}

Error cuStreamSynchronize(StreamHandle handle) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const auto stream = stream_of(handle);
  if (stream == nullptr) return kInvalidHandle;
  if (const auto graph = stream->captured()) {
    graph->invalidated = true;
    return kCaptureUnsupported;
  }
  const Error refused = refuse_while_capturing();
  if (refused != kSuccess) return refused;
  stream->wait();
  return check_context();
}

Error cuStreamWaitEvent(StreamHandle stream_handle, EventHandle event_handle, unsigned) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const auto stream = stream_of(stream_handle);
  const auto event = state().events.find(event_handle);
  if (stream == nullptr || event == nullptr) return kInvalidHandle;
  if (event->captured && stream->captured() == nullptr) {
    state().findings.add("cuStreamWaitEvent: a stream cannot join a capture here");
    return kCaptureUnsupported;
  }
  stream->add([event, record = event->last_record()](Stream& self) {
    self.nanoseconds = std::max(self.nanoseconds, event->wait_for(record));
    self.ends_at = std::max(self.ends_at, event->at());
  });
  return kSuccess;
}

Error cuEventCreate(EventHandle* event, unsigned flags) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const bool timed = (flags & kEventWithoutTiming) == 0;
  state().events.keep(std::make_shared<Event>(current_context(), timed), event);
  return kSuccess;
}

Error cuEventDestroy_v2(EventHandle event) {
  return state().events.take(event) != nullptr ? kSuccess : kInvalidHandle;
}

Error cuEventRecord(EventHandle event_handle, StreamHandle stream_handle) {
  const Error error = check_context();
  if (error != kSuccess) return error;
  const auto stream = stream_of(stream_handle);
  const auto event = state().events.find(event_handle);
  if (stream == nullptr || event == nullptr || event->context != stream->context) {
    return kInvalidHandle;
  }
  event->captured = stream->captured() != nullptr;
  stream->add([event, record = event->record()](Stream& self) {
    const emulated_clock* clock = shared_clock();
    const std::int64_t now = clock != nullptr ? clock->now() : 0;
    event->reach(record, self.nanoseconds, std::max(self.ends_at, now));
  });
  return kSuccess;
}

Error cuEventQuery(EventHandle handle) {
  const auto event = state().events.find(handle);
  if (event == nullptr) return kInvalidHandle;
  const Error refused = refuse_while_capturing();
  if (refused != kSuccess) return refused;
  const bool reached = event->reached();
  const Error error = event->context->device->spoilt_by;
  return error != kSuccess ? error : reached ? kSuccess : kNotReady;
}

Error cuEventElapsedTime(float* milliseconds, EventHandle start_handle, EventHandle end_handle) {
  const auto start = state().events.find(start_handle);
  const auto end = state().events.find(end_handle);
  if (start == nullptr || end == nullptr || !start->timed || !end->timed) return kInvalidHandle;
  if (start->last_record() == 0 || end->last_record() == 0) return kInvalidHandle;
  const Error error = end->context->device->spoilt_by;
  if (error != kSuccess) return error;
  if (!start->reached() || !end->reached()) return kNotReady;
  *milliseconds = static_cast<float>((end->nanoseconds() - start->nanoseconds()) * 1e-6);
  return kSuccess;
}

#pragma GCC visibility pop
}
