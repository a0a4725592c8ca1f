// To whom a journal tells what it records.
#pragma once

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "agent/journal/record.hpp"
#include "agent/journal/state.hpp"

namespace idletune {

class EventSink {
 public:
  virtual ~EventSink() = default;
  // Under the lock of whoever records; `state` does not know it yet.
  virtual void recorded(journal::RecordType type, Bytes payload, const journal::State& state) = 0;
  // Under that lock, too: how the storage is, now and then.
  virtual void looked(const Status& storage) = 0;
  // Under no lock.
  virtual void deliver() = 0;
};

// Delivers at the end of a block, once the locks that were taken after it are free.
class TellsAfter {
 public:
  explicit TellsAfter(EventSink* events) : events_(events) {}
  ~TellsAfter() {
    if (events_ != nullptr) events_->deliver();
  }

 private:
  EventSink* const events_;
};

}  // namespace idletune
