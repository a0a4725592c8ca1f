#include "tests/emulated_cuda/stream.hpp"

#include <dlfcn.h>

#include <thread>
#include <utility>

#include "tests/emulated_cuda/graph.hpp"

namespace emulated_cuda {

const emulated_clock* shared_clock() {
  static auto* const find =
      reinterpret_cast<decltype(&emulated_cuda_clock)>(dlsym(RTLD_DEFAULT, "emulated_cuda_clock"));
  return find != nullptr ? find() : nullptr;
}

std::uint64_t Event::record() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ++recorded_;
}

void Event::reach(std::uint64_t record, double nanoseconds, std::int64_t at) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (record > reached_) reached_ = record;
    nanoseconds_ = nanoseconds;
    at_ = at;
  }
  changed_.notify_all();
}

bool Event::reached() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const emulated_clock* clock = shared_clock();
  return reached_ == recorded_ && (clock == nullptr || clock->now() >= at_);
}

std::int64_t Event::at() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return at_;
}

std::uint64_t Event::last_record() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return recorded_;
}

double Event::wait_for(std::uint64_t record) const {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return reached_ >= record; });
  return nanoseconds_;
}

double Event::nanoseconds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return nanoseconds_;
}

void Stream::add(std::function<void(Stream&)> work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (captured_ != nullptr) return captured_->work.push_back(std::move(work));
  }
  if (shared_clock() != nullptr) {
    const std::lock_guard<std::mutex> lock(doing_);
    return work(*this);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(work));
    if (!has_thread_) {
      has_thread_ = true;
      // Nobody joins it: an endless kernel must not keep a process from ending.
      std::thread([self = shared_from_this()] { self->run(); }).detach();
    }
  }
  changed_.notify_all();
}

std::shared_ptr<Graph> Stream::capture(std::shared_ptr<Graph> graph) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::swap(captured_, graph);
  return graph;
}

std::shared_ptr<Graph> Stream::captured() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return captured_;
}

void Stream::wait() {
  if (const emulated_clock* clock = shared_clock(); clock != nullptr) {
    std::unique_lock<std::mutex> lock(doing_);
    const std::int64_t until = ends_at;
    lock.unlock();
    return clock->wait(until);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
}

void Stream::close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void Stream::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !waiting_.empty() || closed_; });
    if (waiting_.empty()) return;
    auto work = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    work(*this);
    work = nullptr;
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace emulated_cuda
