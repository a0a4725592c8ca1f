#include "tests/emulated_cuda/driver_state.hpp"

#include <cstdio>
#include <cstdlib>

#include "tests/emulated_cuda/control.h"
#include "tests/emulated_cuda/ptx_text.hpp"

namespace emulated_cuda {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::atomic<State*> the_state{nullptr};
std::mutex making_state;

}  // namespace

Program::~Program() { unload_module(loaded, context->device->memory); }

void Device::wait() const {
  default_stream->wait();
  for (const auto& stream : state().streams.all()) {
    if (stream->context->device == this) stream->wait();
  }
}

State::State()
    : findings(environment("IDLETUNE_EMULATED_FINDINGS")),
      work_file(environment("IDLETUNE_EMULATED_WORK")) {
  for (const std::string& name : split(environment("IDLETUNE_EMULATED_BOARDS"), ',')) {
    const Board* board = board_named(name);
    if (board == nullptr) {
      std::fprintf(stderr, "emulated CUDA: there is no board '%s'\n", name.c_str());
      continue;
    }
    devices.push_back(std::make_unique<Device>(*board, spoilt_by));
  }
  if (environment("IDLETUNE_EMULATED_BOARDS").empty()) {
    devices.push_back(std::make_unique<Device>(default_board(), spoilt_by));
  }
}

State& state() {
  State* now = the_state.load();
  if (now != nullptr) return *now;
  const std::lock_guard<std::mutex> lock(making_state);
  if (the_state.load() == nullptr) the_state = new State;
  return *the_state.load();
}

void reset_state() {
  State& old = state();
  for (const auto& device : old.devices) device->turn.end_all();
  const std::lock_guard<std::mutex> lock(making_state);
  the_state = new State;
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context* current_context() { return context_stack().empty() ? nullptr : context_stack().back(); }

Error check_context() {
  const Context* context = current_context();
  return context == nullptr ? idletune::cuda::kInvalidContext : context->device->spoilt_by.load();
}

std::shared_ptr<Stream> stream_of(idletune::cuda::StreamHandle handle) {
  constexpr std::uintptr_t kLastDefault = 2;  // the legacy stream, and that of each thread
  if (reinterpret_cast<std::uintptr_t>(handle) > kLastDefault) return state().streams.find(handle);
  const Context* context = current_context();
  return context != nullptr ? context->device->default_stream : nullptr;
}

bool is_of_current_context(const Stream& stream) {
  const Context* context = current_context();
  return stream.context == context || stream.context->device->default_stream.get() == &stream;
}

}  // namespace emulated_cuda

extern "C" {
#pragma GCC visibility push(default)

using emulated_cuda::state;

size_t emulated_cuda_findings(void) {
  for (const auto& device : state().devices) device->wait();
  return state().findings.list().size();
}

void emulated_cuda_finding(size_t number, char* text, size_t size) {
  const auto list = state().findings.list();
  std::snprintf(text, size, "%s", number < list.size() ? list[number].c_str() : "");
}

void emulated_cuda_reset(void) { emulated_cuda::reset_state(); }

#pragma GCC visibility pop
}
