#include "agent/launch/launch_trace.hpp"

#include "models/core/lists.hpp"

namespace idletune::detail {
namespace {

constexpr std::uint64_t kLayout = 0x1d7e7241ce000002;

}  // namespace

LaunchTrace::LaunchTrace(Page& page, std::uint64_t session) : page_(page), session_(session) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const bool known = page_.layout.load(std::memory_order_acquire) == kLayout;
  const Nanoseconds looked(known ? page_.looked.load(kRelaxed) : 0);
  if (known) last_session_ = page_.session.load(kRelaxed);
  for (Cell& cell : page_.cells) {
    Unended found;
    found.begun = Nanoseconds(known ? cell.begun.load(std::memory_order_acquire) : 0);
    const std::uint32_t place = cell.place.load(kRelaxed);
    if (found.begun.count() == 0 || place > static_cast<std::uint32_t>(Place::launches)) {
      cell.begun.store(0, kRelaxed);
      cell.state.store(free, kRelaxed);
      continue;
    }
    found.place = static_cast<Place>(place);
    found.who = cell.who.load(kRelaxed);
    found.shape = cell.shape.load(kRelaxed);
    found.looked_before = looked;
    push(unended_, found);
  }
  page_.session.store(session, kRelaxed);
  page_.looked.store(0, kRelaxed);
  page_.layout.store(kLayout, std::memory_order_release);
}

std::uint32_t LaunchTrace::begin(Place place, std::uint64_t who, std::uint64_t shape,
                                 Nanoseconds now) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const bool tuners = place != Place::launches;
  const std::uint32_t from = tuners ? kCells - kTunersCells : 0;
  const std::uint32_t count = tuners ? kTunersCells : kCells - kTunersCells;
  const std::uint32_t first = next_.fetch_add(1, kRelaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t number = from + (first + i) % count;
    Cell& cell = page_.cells[number];
    std::uint32_t expected = free;
    if (!cell.state.compare_exchange_strong(expected, taken, std::memory_order_acquire)) continue;
    cell.session.store(session_, kRelaxed);
    cell.place.store(static_cast<std::uint32_t>(place), kRelaxed);
    cell.who.store(who, kRelaxed);
    cell.shape.store(shape, kRelaxed);
    cell.begun.store(now.count() != 0 ? now.count() : 1, std::memory_order_release);
    return number;
  }
  return kNoCell;
}

void LaunchTrace::end(std::uint32_t number) {
  if (number >= kCells) return;
  Cell& cell = page_.cells[number];
  cell.begun.store(0, std::memory_order_relaxed);
  cell.state.store(free, std::memory_order_release);
}

void LaunchProof::take_over(LaunchProof&& other) {
  prove();
  trace_.store(other.trace_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  cell_.store(other.cell_.exchange(kProven, std::memory_order_relaxed), std::memory_order_relaxed);
}

bool LaunchProof::begin(LaunchTrace& trace, std::uint64_t who, std::uint64_t shape, Nanoseconds now,
                        bool& begins) const {
  std::uint32_t found = kNotBegun;
  if (!cell_.compare_exchange_strong(found, kBeginning, std::memory_order_acquire)) {
    look(now);
    return found != kBeginning;
  }
  const std::uint32_t cell = trace.begin(LaunchTrace::Place::launches, who, shape, now);
  trace_.store(&trace, std::memory_order_relaxed);
  begins = cell != LaunchTrace::kNoCell;
  cell_.store(begins ? cell : kNotBegun, std::memory_order_release);
  return begins;
}

void LaunchProof::prove() const { end(kProven); }

void LaunchProof::end(std::uint32_t state) const {
  std::uint32_t cell = cell_.load(std::memory_order_acquire);
  if (cell < LaunchTrace::kCells && cell_.compare_exchange_strong(cell, state)) {
    trace_.load(std::memory_order_relaxed)->end(cell);
  }
}

void LaunchProof::look(Nanoseconds now) const {
  const std::uint32_t cell = cell_.load(std::memory_order_acquire);
  if (cell >= LaunchTrace::kCells) return;
  const Nanoseconds begun = trace_.load(std::memory_order_relaxed)->begun(cell);
  if (begun.count() != 0 && now - begun >= kLongAgo) prove();
}

UnslottedProof::~UnslottedProof() {
  if (LaunchTrace* trace = trace_.load(std::memory_order_relaxed)) trace->end(cell_);
}

bool UnslottedProof::begin(LaunchTrace& trace, std::uint64_t who, std::uint64_t shape,
                           Nanoseconds now) const {
  const auto word = static_cast<std::size_t>(shape / 64 % begun_.size());
  const std::uint64_t bit = std::uint64_t{1} << shape % 64;
  if ((proven_[word].load(std::memory_order_relaxed) & bit) != 0) return true;
  look(now);
  std::uint32_t none = LaunchTrace::kNoCell;
  if (cell_.load(std::memory_order_acquire) == none) {
    const std::uint32_t cell = trace.begin(LaunchTrace::Place::launches, who, shape, now);
    if (cell == LaunchTrace::kNoCell) return false;
    trace_.store(&trace, std::memory_order_relaxed);
    if (!cell_.compare_exchange_strong(none, cell, std::memory_order_acq_rel)) trace.end(cell);
  }
  begun_[word].fetch_or(bit, std::memory_order_relaxed);
  return true;
}

void UnslottedProof::look(Nanoseconds now) const {
  std::uint32_t cell = cell_.load(std::memory_order_acquire);
  if (cell == LaunchTrace::kNoCell) return;
  LaunchTrace* trace = trace_.load(std::memory_order_relaxed);
  const Nanoseconds begun = trace->begun(cell);
  if (begun.count() == 0 || now - begun < LaunchProof::kLongAgo) return;
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    proven_[i].fetch_or(begun_[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  if (cell_.compare_exchange_strong(cell, LaunchTrace::kNoCell)) trace->end(cell);
}

void LaunchTrace::forget() {
  for (std::uint32_t i = 0; i < kCells; ++i) {
    const Cell& cell = page_.cells[i];
    const bool before = cell.session.load(std::memory_order_relaxed) != session_;
    if (before && cell.begun.load(std::memory_order_relaxed) != 0) end(i);
  }
  unended_.clear();
}

}  // namespace idletune::detail
