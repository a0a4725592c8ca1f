#include "agent/events/event_queue.hpp"

#include <idletune/text.hpp>

#include <utility>

#include "agent/events/event_text.hpp"

namespace idletune {

void EventQueue::recorded(journal::RecordType type, Bytes payload, const journal::State& state) {
  Event event;
  if (event_of(type, payload, state, event)) add(std::move(event));
}

void EventQueue::looked(const Status& storage) {
  if (storage.ok() != storage_fails_) return;
  storage_fails_ = !storage.ok();
  Event event;
  event.kind = EventKind::storage;
  event.text = storage.ok() ? "the state folder can be written again"
                            : joined("nothing is kept: %", storage.message());
  add(std::move(event));
}

void EventQueue::add(Event event) {
  const MutexLock lock(mutex_);
  if (waiting_.size() < kMost) return void(waiting_.push_back(std::move(event)));
  Event& last = waiting_.back();
  if (last.kind != EventKind::missed) {
    last = Event();
    last.count = 1;
  }
  ++last.count;
  last.text = joined("% events came too fast and are not told", last.count);
}

// One thread at a time; another's are told by who is at it.
void EventQueue::deliver() {
  const MutexLock lock(mutex_);
  if (delivering_) return;
  delivering_ = true;
  while (!waiting_.empty()) {
    const Event event = std::move(waiting_.front());
    waiting_.pop_front();
    mutex_.unlock();
    callback_(event);
    mutex_.lock();
  }
  delivering_ = false;
}

Events tell_events(std::function<void(const Event&)> callback) {
  return Events(callback ? new EventQueue(std::move(callback)) : nullptr);
}

void CloseEvents::operator()(EventSink* events) const { delete events; }

}  // namespace idletune
