#include <cstdint>
#include <cstdlib>
#include <utility>

#include "tests/strict_opencl/objects.hpp"

namespace strict_opencl {
namespace {

constexpr std::size_t kMostWaiting = 64;  // a driver hands a full batch over by itself

std::uint64_t seed() {
  const char* text = std::getenv("IDLETUNE_STRICT_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

std::uint64_t draw() {
  static std::uint64_t state = seed();
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

bool waits_for_other(const Queue& queue, const Command& command) {
  for (const Event* event : command.waits) {
    for (const Command& other : queue.waiting) {
      if (other.event == event) return true;
    }
  }
  return false;
}

// Those that may run next, by their places; one at least, since nothing waits for what comes later.
std::vector<std::size_t> free_to_run(const Queue& queue) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < queue.waiting.size(); ++i) {
    const Command& command = queue.waiting[i];
    if (queue.in_order && i > 0) break;
    if (!(command.after_all && i > 0) && !waits_for_other(queue, command)) places.push_back(i);
    if (command.before_later) break;
  }
  return places;
}

// Half the time the latest overtakes all.
std::size_t chosen(const std::vector<std::size_t>& places) {
  if (places.size() == 1) return places.front();
  const std::uint64_t number = draw();
  return number % 2 == 0 ? places.back() : places[number / 2 % places.size()];
}

void run(Command& command) {
  std::vector<cl_event> waits;
  cl_int error = CL_SUCCESS;
  for (Event* event : command.waits) {
    if (event->real == nullptr && event->error == CL_SUCCESS) {
      if (!event->submitted) {
        refuse(CL_INVALID_EVENT, "a flush",
               "waits for a command of a queue that nobody has flushed");
      }
      flush(static_cast<Queue&>(*event->parent));
    }
    if (event->error != CL_SUCCESS) error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (event->real != nullptr) waits.push_back(static_cast<cl_event>(event->real));
  }
  cl_event done = nullptr;
  if (error == CL_SUCCESS) {
    error = command.run(static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(),
                        command.event != nullptr ? &done : nullptr);
  }
  if (error != CL_SUCCESS && command.event == nullptr) {
    refuse(error, "a flush", "the driver refuses what nobody can hear of any more");
  }
  if (command.event != nullptr) {
    command.event->real = done;
    command.event->error = error;
    leave(*command.event);
  }
  for (Event* event : command.waits) leave(*event);
  for (Object* object : command.used) leave(*object);
}

}  // namespace

void enqueue(Queue& queue, Command command) {
  for (Event* event : command.waits) use(*event);
  for (Object* object : command.used) use(*object);
  if (command.event != nullptr) use(*command.event);
  queue.waiting.push_back(std::move(command));
  if (queue.waiting.size() >= kMostWaiting) flush(queue);
}

void flush(Queue& queue) {
  use(queue);
  while (!queue.waiting.empty()) {
    const std::size_t place = chosen(free_to_run(queue));
    Command command = std::move(queue.waiting[place]);
    queue.waiting.erase(queue.waiting.begin() + static_cast<std::ptrdiff_t>(place));
    run(command);
  }
  REAL(clFlush)(static_cast<cl_command_queue>(queue.real));
  leave(queue);
}

void submit(Queue& queue) {
  static const bool is_slow = seed() % 2 == 1;
  if (!is_slow) return flush(queue);
  for (const Command& command : queue.waiting) {
    if (command.event != nullptr) command.event->submitted = true;
  }
}

}  // namespace strict_opencl
