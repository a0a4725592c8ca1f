#include "agent/launch/variant_scratch.hpp"

#include <cstring>
#include <utility>

#include "agent/trial/step_programs.hpp"

namespace idletune::detail {
namespace {

constexpr std::uint64_t kSharedPart = 2;  // of the limit: a half

}  // namespace

Status VariantScratch::add(Device& device, std::uint64_t bytes, Argument& argument) {
  const std::uint64_t before = use_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  bytes_ += bytes;
  if (bytes > use_.limit_bytes || before > use_.limit_bytes - bytes) {
    return Status(StatusCode::out_of_memory, "scratch of % bytes beside %, the limit is %", bytes,
                  before, use_.limit_bytes);
  }
  Result<std::unique_ptr<Buffer>> buffer = device.allocate(static_cast<std::size_t>(bytes));
  if (!buffer.ok()) return buffer.status();
  argument = (*buffer)->argument();
  buffers_.push_back(std::move(*buffer));
  return {};
}

VariantScratch::~VariantScratch() {
  const MutexLock lock(enqueueing);
  if (mark_ != nullptr) device_->forget_mark(mark_);
  use_.bytes.fetch_sub(bytes_, std::memory_order_relaxed);
}

Status VariantScratch::begin_on(Device& device, void* queue) {
  return used_ ? device.order_after(mark_, queue_, queue) : Status();
}

Status VariantScratch::end_on(Device& device, void* queue) {
  const Result<void*> mark = device.mark(queue, mark_);
  if (!mark.ok()) return mark.status();
  device_ = &device;
  mark_ = *mark;
  queue_ = queue;
  used_ = true;
  return {};
}

void VariantScratch::expect_setup(Span<const PlannedStep> setup) {
  const MutexLock lock(enqueueing);
  for (const PlannedStep& step : setup) {
    prepared_of_.resize(prepared_of_.size() + step.spec.arguments.size());
  }
}

VariantScratch::Prepared VariantScratch::look(Span<const PlannedStep> setup,
                                              const Argument* arguments, std::uint32_t version) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (prepared_ && prepared_version_ == version && is_of(setup, arguments)) {
    unprepared_in_a_row.store(0, kRelaxed);
    return Prepared::yes;
  }
  if (setups_allowed.load(kRelaxed) > 0) return Prepared::now;
  unprepared_launches.fetch_add(1, kRelaxed);
  unprepared_in_a_row.fetch_add(1, kRelaxed);
  return Prepared::no;
}

void VariantScratch::note_setup(Span<const PlannedStep> setup, const Argument* arguments,
                                std::uint32_t version) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const std::uint32_t allowed = setups_allowed.load(kRelaxed);
  if (allowed != kAlways) setups_allowed.store(allowed - 1, kRelaxed);
  setups_made.fetch_add(1, kRelaxed);
  unprepared_in_a_row.store(0, kRelaxed);
  Argument* note = prepared_of_.data();
  for (const PlannedStep& step : setup) {
    note += trial::arguments_of_step(step.spec, arguments, note).size();
  }
  prepared_version_ = version;
  prepared_ = true;
}

bool VariantScratch::is_of(Span<const PlannedStep> setup, const Argument* arguments) const {
  const Argument* noted = prepared_of_.data();
  for (const PlannedStep& step : setup) {
    for (const std::uint8_t i : step.spec.arguments) {
      if (std::memcmp((noted++)->data(), arguments[i].data(), 8) != 0) return false;
    }
  }
  return true;
}

bool SharedScratch::lend(std::size_t number, std::uint64_t bytes, Argument& buffer) {
  Place& place = places_[number];
  const Buffer* held = place.buffer.load(std::memory_order_acquire);
  if (held == nullptr || held->size_bytes() < bytes) {
    place.wanted.store(bytes, std::memory_order_relaxed);
    return false;
  }
  buffer = held->argument();
  return true;
}

void SharedScratch::note(const VariantScratch& other) {
  for (std::size_t i = 0; i < other.buffers_.size(); ++i) {
    Argument unused;
    (void)lend(i, other.buffers_[i]->size_bytes(), unused);
  }
}

void SharedScratch::enlarge(Device& device) {
  for (Place& place : places_) {
    const std::uint64_t wanted = place.wanted.load(std::memory_order_relaxed);
    const Buffer* held = place.buffer.load(std::memory_order_relaxed);
    const std::uint64_t before = held != nullptr ? held->size_bytes() : 0;
    if (wanted <= before || wanted >= place.refused) continue;
    const std::uint64_t bytes = wanted + before, all = bytes_;
    Argument unused;
    if (all + bytes <= use_.limit_bytes / kSharedPart && add(device, bytes, unused).ok()) {
      place.buffer.store(buffers_.back().get(), std::memory_order_release);
      enlarged_.fetch_add(1, std::memory_order_relaxed);
    } else {
      use_.bytes.fetch_sub(bytes_ - all, std::memory_order_relaxed);
      bytes_ = all;
      place.refused = wanted;
    }
  }
}

}  // namespace idletune::detail
