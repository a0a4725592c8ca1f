// A conversion on a thread of its own, while the iterations go on in compressed rows.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "kernels/krylov/formats.hpp"

namespace idletune::krylov {

// One that another clock than this machine's says to be done.
struct PlayedConversion {
  double seconds = 0;
  std::function<bool()> done;
};

class BackgroundConversion {
 public:
  BackgroundConversion() = default;
  BackgroundConversion(const BackgroundConversion&) = delete;
  BackgroundConversion& operator=(const BackgroundConversion&) = delete;
  ~BackgroundConversion();  // waits for the thread

  // Of convert(). `pattern` must outlive this and stay as it is. False: there is no thread to be
  // had.
  bool start(const SparsityPattern& pattern, SparseFormat format, std::size_t number_bytes,
             std::uint64_t limit_bytes);
  bool started() const { return pattern_ != nullptr; }  // and not taken
  bool done() const { return played_ ? played_->done() : done_.load(std::memory_order_acquire); }
  // What convert() returned, after it is done.
  Result<StoredPattern> take();
  // That it took, once it is done.
  double seconds() const { return played_ ? played_->seconds : seconds_; }

 private:
  static void* run(void* self);

  pthread_t thread_{};
  const SparsityPattern* pattern_ = nullptr;
  SparseFormat format_ = SparseFormat::csr;
  std::size_t number_bytes_ = 0;
  std::uint64_t limit_bytes_ = 0;
  Result<StoredPattern> stored_{StatusCode::internal, ""};
  double seconds_ = 0;
  std::atomic<bool> done_{false};
  std::optional<PlayedConversion> played_;
};

// For played processes: what is asked when one begins; null: no longer.
void play_conversions(std::function<PlayedConversion()> begins);

}  // namespace idletune::krylov
