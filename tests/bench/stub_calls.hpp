// The calls of a stub library's functions: how often each was made, and which ones fail.
#pragma once

#include <atomic>
#include <cstring>

namespace idletune::bench {

// Of so many functions; an error is a number, and none is 0.
template <int Count>
class StubCalls {
 public:
  explicit StubCalls(const char* const (&names)[Count]) : names_(names) {}

  // Counts the call; the error it is scripted to fail with, or 0.
  int enter(int function) {
    made_[function].fetch_add(1, std::memory_order_relaxed);
    const unsigned long chosen = chosen_.load(std::memory_order_relaxed);
    if (chosen != 0 && counted_.fetch_add(1) + 1 == chosen) {
      failed_ = names_[function];
      return error_of_chosen_;
    }
    const int error = errors_[function].load(std::memory_order_relaxed);
    if (error == 0) return 0;
    return successes_left_[function].fetch_sub(1) > 0 ? 0 : error;
  }
  void reset() {
    for (auto& made : made_) made = 0;
    for (auto& error : errors_) error = 0;
    fail_call(0, 0);
  }
  // Calls of this function fail after so many successes.
  void fail(const char* function, int error, unsigned after = 0) {
    for (int i = 0; i < Count; ++i) {
      if (std::strcmp(names_[i], function) != 0) continue;
      successes_left_[i] = static_cast<long>(after);
      errors_[i] = error;
    }
  }
  // The nth call from now on fails, whichever function's it is; 0: none, and none is counted.
  void fail_call(unsigned long n, int error) {
    counted_ = 0;
    failed_ = nullptr;
    error_of_chosen_ = error;
    chosen_ = n;
  }
  unsigned long counted() const { return counted_; }
  const char* failed() const { return failed_; }
  // Of this function; null: of all.
  unsigned long made(const char* function) const {
    unsigned long count = 0;
    for (int i = 0; i < Count; ++i) {
      if (function == nullptr || std::strcmp(names_[i], function) == 0) count += made_[i];
    }
    return count;
  }

 private:
  const char* const (&names_)[Count];
  std::atomic<unsigned long> made_[Count] = {};
  std::atomic<int> errors_[Count] = {};
  std::atomic<long> successes_left_[Count] = {};
  std::atomic<unsigned long> chosen_{0};
  std::atomic<unsigned long> counted_{0};
  std::atomic<int> error_of_chosen_{0};
  std::atomic<const char*> failed_{nullptr};
};

}  // namespace idletune::bench
