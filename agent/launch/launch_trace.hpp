// Who had begun when a process died: cells on a page that outlives it
// (platform/os/memory_file.hpp), written without waiting by whoever hands something to the device.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <idletune/device.hpp>

namespace idletune::detail {

class LaunchTrace {
 public:
  static constexpr std::uint32_t kCells = 64;
  static constexpr std::uint32_t kTunersCells = 4;  // the last ones, which launches never take
  static constexpr std::uint32_t kNoCell = kCells;
  // Where what a cell names was running.
  enum class Place : std::uint32_t { helper = 0, here = 1, launches = 2 };

  // Begins as zeros. Times are of a clock that goes on until the board does not (CLOCK_MONOTONIC).
  // `who`: journal::Trial::who(); `shape`: its digest.
  struct Cell {
    std::atomic<std::uint32_t> state;  // Claim
    std::atomic<std::uint32_t> place;
    std::atomic<std::uint64_t> session;
    std::atomic<std::uint64_t> who, shape;
    std::atomic<std::int64_t> begun;  // 0: not yet
  };
  struct Page {
    std::atomic<std::uint64_t> layout;
    std::atomic<std::uint64_t> session;  // that had it last
    std::atomic<std::int64_t> looked;    // when its tuner looked last
    std::array<Cell, kCells> cells;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");

  // What a session before left behind.
  struct Unended {
    Place place = Place::helper;
    std::uint64_t who = 0, shape = 0;
    Nanoseconds begun{0};
    Nanoseconds looked_before{0};  // when the tuner of the last session looked last; 0: never
    // Whether it may have died of it. A launch that nobody would have seen ending does not accuse
    // for ever: the tuner looked shortly before or later, or the next start came soon.
    bool accuses(Nanoseconds now) const {
      return place != Place::launches || looked_before + kLooks >= begun || now - begun <= kSoon;
    }
  };
  static constexpr Nanoseconds kLooks = std::chrono::seconds(1);
  static constexpr Nanoseconds kSoon = std::chrono::minutes(1);

  // The page must outlive it, and be nobody else's meanwhile. `session`: not 0, another for each
  // process. What it finds is kept in unended() and keeps its cells until forget().
  LaunchTrace(Page& page, std::uint64_t session);

  // --- any thread, without waiting ---
  // Call it before the first launch; kNoCell: there is none left, so nobody would know.
  std::uint32_t begin(Place place, std::uint64_t who, std::uint64_t shape, Nanoseconds now);
  // It went well, or is none of this process's any more.
  void end(std::uint32_t cell);
  Nanoseconds begun(std::uint32_t cell) const {
    return Nanoseconds(page_.cells[cell].begun.load(std::memory_order_relaxed));
  }

  // --- the tuner ---
  void looked(Nanoseconds now) { page_.looked.store(now.count(), std::memory_order_release); }
  const std::vector<Unended>& unended() const { return unended_; }
  std::uint64_t last_session() const { return last_session_; }  // that had the page; 0: none
  // Once it is on record.
  void forget();

 private:
  enum Claim : std::uint32_t { free = 0, taken = 1 };

  Page& page_;
  const std::uint64_t session_;
  std::uint64_t last_session_ = 0;
  std::vector<Unended> unended_;
  std::atomic<std::uint32_t> next_{0};  // where a free cell is looked for first
};

// Something is in somebody's hands as long as this lives.
class HandedOver {
 public:
  HandedOver() = default;
  HandedOver(LaunchTrace* trace, LaunchTrace::Place place, std::uint64_t who, std::uint64_t shape,
             Nanoseconds now)
      : trace_(trace), cell_(trace != nullptr ? trace->begin(place, who, shape, now) : 0) {}
  HandedOver(HandedOver&& other) noexcept
      : trace_(std::exchange(other.trace_, nullptr)), cell_(other.cell_) {}
  HandedOver& operator=(HandedOver&& other) noexcept {
    std::swap(trace_, other.trace_);
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~HandedOver() {
    if (trace_ != nullptr) trace_->end(cell_);
  }

 private:
  LaunchTrace* trace_ = nullptr;  // null: nobody traces
  std::uint32_t cell_ = 0;
};

// What one variant's launches owe the trace: a cell from the first of them until it is proven.
class LaunchProof {
 public:
  static constexpr Nanoseconds kLongAgo = std::chrono::seconds(10);

  LaunchProof() = default;
  ~LaunchProof() { prove(); }
  LaunchProof(const LaunchProof&) = delete;
  LaunchProof& operator=(const LaunchProof&) = delete;
  // Instead of what it was. No launch of either may be under way.
  void take_over(LaunchProof&& other);

  // Nothing is owed: there is no trace, or the variant is the default's.
  void not_needed() { cell_.store(kProven, std::memory_order_relaxed); }
  bool proven() const { return cell_.load(std::memory_order_relaxed) == kProven; }
  // Before a launch, any thread. False: no cell is left for it, or another thread is just taking
  // it. `begins`: it is this launch that it waits for.
  bool begin(LaunchTrace& trace, std::uint64_t who, std::uint64_t shape, Nanoseconds now,
             bool& begins) const;
  // A launch of it went well. Any thread.
  void prove() const;
  // Nothing of the launch that it waits for reached the device; the next one begins anew.
  void withdraw() const { end(kNotBegun); }
  // Time has passed since it began: whatever was to happen has.
  void look(Nanoseconds now) const;

 private:
  void end(std::uint32_t state) const;
  // Beside the cell's number.
  static constexpr std::uint32_t kProven = UINT32_MAX;
  static constexpr std::uint32_t kNotBegun = kProven - 1;
  static constexpr std::uint32_t kBeginning = kProven - 2;

  mutable std::atomic<std::uint32_t> cell_{kNotBegun};
  mutable std::atomic<LaunchTrace*> trace_{nullptr};  // where the cell is
};

// The same of a class variant at shapes that have no slot. Shapes are told apart by some bits of
// their digests; all that begin within a while share the first one's cell and are proven together.
class UnslottedProof {
 public:
  ~UnslottedProof();
  bool begin(LaunchTrace& trace, std::uint64_t who, std::uint64_t shape, Nanoseconds now) const;
  void look(Nanoseconds now) const;

 private:
  static constexpr std::uint32_t kBits = 256;

  mutable std::array<std::atomic<std::uint64_t>, kBits / 64> begun_{}, proven_{};
  mutable std::atomic<std::uint32_t> cell_{LaunchTrace::kNoCell};
  mutable std::atomic<LaunchTrace*> trace_{nullptr};
};

}  // namespace idletune::detail
