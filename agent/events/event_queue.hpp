// The events that wait until nobody holds the agent's lock.
#pragma once

#include <idletune/events.hpp>

#include <deque>
#include <functional>

#include "agent/journal/event_sink.hpp"
#include "platform/os/mutex.hpp"

namespace idletune {

class EventQueue final : public EventSink {
 public:
  static constexpr std::size_t kMost = 256;  // events that wait

  explicit EventQueue(std::function<void(const Event&)> callback)
      : callback_(std::move(callback)) {}
  void recorded(journal::RecordType type, Bytes payload, const journal::State& state) override;
  void looked(const Status& storage) override;
  void deliver() override;

 private:
  void add(Event event);

  const std::function<void(const Event&)> callback_;
  Mutex mutex_;
  std::deque<Event> waiting_ IDLETUNE_GUARDED_BY(mutex_);
  bool delivering_ IDLETUNE_GUARDED_BY(mutex_) = false;
  bool storage_fails_ = false;  // as told; under the lock of whoever records
};

}  // namespace idletune
