#include "agent/trial/scratch.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "agent/trial/tuning_data.hpp"
#include "models/core/lists.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::trial {
namespace {

constexpr std::uint64_t kMaxHostBytes = std::numeric_limits<std::size_t>::max() / 2;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t multiple) {
  return multiple == 0 ? bytes : (bytes + multiple - 1) / multiple * multiple;
}

std::size_t chunk_size(std::uint64_t left_bytes) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes, Scratch::kChunkBytes));
}

std::size_t first_difference(Bytes a, Bytes b) {
  std::size_t i = 0;
  while (i < a.size() && a[i] == b[i]) ++i;
  return i;
}

}  // namespace

Result<HostBytes> allocate_host(std::uint64_t bytes) {
  HostBytes result;
  if (bytes <= kMaxHostBytes) {
    result.size = static_cast<std::size_t>(bytes);
    result.data.reset(new (std::nothrow) std::uint8_t[result.size]);
  }
  if (!result.data) {
    return Status(StatusCode::out_of_memory, "% bytes of host memory", bytes);
  }
  return result;
}

Scratch::Scratch(Device& device, const KernelPackage& package, std::uint64_t guard_bytes)
    : device_(device),
      package_(package),
      guard_bytes_(rounded_up(guard_bytes, 8)),
      front_guard_bytes_(0) {
  const std::size_t alignment = device.window_alignment_bytes();
  if (alignment != 0) front_guard_bytes_ = rounded_up(guard_bytes, alignment);
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    if (!is_memory(package.argument(i).kind)) continue;
    Slot slot;
    slot.argument = static_cast<std::uint32_t>(i);
    slots_.push_back(std::move(slot));
  }
}

const ArgumentSpec& Scratch::spec(std::size_t buffer) const {
  return package_.argument(slots_[buffer].argument);
}

Result<std::uint64_t> Scratch::data_bytes_for(std::size_t buffer, const Shape& shape,
                                              const Configuration& configuration) const {
  Result<std::uint64_t> bytes =
      package_.buffer_bytes(slots_[buffer].argument, shape, configuration);
  if (bytes.ok() && *bytes > kMaxHostBytes / 2) {
    return Status(StatusCode::out_of_memory, "buffer '%' of % bytes", spec(buffer).name, *bytes);
  }
  return bytes;
}

Result<std::uint64_t> Scratch::needed_bytes(const Shape& shape,
                                            const Configuration& configuration) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Result<std::uint64_t> bytes = data_bytes_for(i, shape, configuration);
    if (!bytes) return bytes.status();
    total += *bytes + guard_bytes_ + front_guard_bytes_;
  }
  return total;
}

std::uint64_t Scratch::zone_share(const Shape& shape, const Configuration& configuration,
                                  std::uint64_t spare_bytes) const {
  std::uint64_t zones = 1;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Result<std::uint64_t> bytes = data_bytes_for(i, shape, configuration);
    if (bytes.ok()) zones += *bytes * (front_guard_bytes_ != 0 ? 2 : 1);
  }
  return spare_bytes >= zones ? 1024 : spare_bytes * 1024 / zones;
}

Status Scratch::fit(const Shape& shape, const Configuration& configuration,
                    std::uint64_t spare_bytes) {
  Status status = make_chunks();
  const std::uint64_t share = zone_share(shape, configuration, spare_bytes);
  for (std::size_t i = 0; status.ok() && i < slots_.size(); ++i) {
    const Result<std::uint64_t> bytes = data_bytes_for(i, shape, configuration);
    if (!bytes) {
      status = bytes.status();
    } else if (!slots_[i].whole || slots_[i].data_bytes != *bytes) {
      status = allocate(slots_[i], *bytes, *bytes * share / 1024);
    }
    if (status.ok()) choose_content(slots_[i], shape);
  }
  if (!status.ok()) release();
  return status;
}

void Scratch::choose_content(Slot& slot, const Shape& shape) const {
  slot.fill = fill_at(package_, slot.argument, shape, slot.data_bytes);
  slot.captured = Bytes();
  if (captured_ == nullptr || !slot.fill.captured) return;
  const CapturedArguments::Array* array = captured_->find(slot.fill.name);
  if (array != nullptr && array->data.size() == slot.data_bytes) slot.captured = array->data;
}

bool Scratch::fits(const Shape& shape, const Configuration& configuration) const {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Result<std::uint64_t> bytes = data_bytes_for(i, shape, configuration);
    if (!bytes || !slots_[i].whole || slots_[i].data_bytes != *bytes) return false;
  }
  return true;
}

Status Scratch::make_chunks() {
  for (HostBytes* bytes : {&chunk_, &expected_}) {
    if (bytes->data) continue;
    Result<HostBytes> allocated = allocate_host(kChunkBytes);
    if (!allocated) return allocated.status();
    *bytes = std::move(*allocated);
  }
  return {};
}

Status Scratch::allocate(Slot& slot, std::uint64_t data_bytes, std::uint64_t zone_bytes) {
  slot.data_bytes = data_bytes;
  slot.front_bytes = front_guard_bytes_;
  slot.back_bytes = guard_bytes_;
  if (guard_bytes_ != 0 && zone_bytes > guard_bytes_) {
    slot.back_bytes = rounded_up(zone_bytes, 8);
    if (front_guard_bytes_ != 0) {
      slot.front_bytes = rounded_up(zone_bytes, device_.window_alignment_bytes());
    }
    const std::uint64_t most_bytes = device_.info().max_allocation_bytes;
    if (most_bytes == 0 || slot.front_bytes + data_bytes + slot.back_bytes <= most_bytes) {
      Status status = allocate_exactly(slot);
      if (status.code() != StatusCode::out_of_memory) return status;
    }
    slot.front_bytes = front_guard_bytes_;
    slot.back_bytes = guard_bytes_;
  }
  return allocate_exactly(slot);
}

Status Scratch::allocate_exactly(Slot& slot) {
  slot.window.reset();
  slot.whole.reset();
  const std::uint64_t whole_bytes = slot.front_bytes + slot.data_bytes + slot.back_bytes;
  Result<std::unique_ptr<Buffer>> whole = device_.allocate(static_cast<std::size_t>(whole_bytes));
  if (!whole) return whole.status();
  slot.whole = std::move(*whole);
  if (slot.front_bytes != 0) {
    Result<std::unique_ptr<Buffer>> window =
        device_.window(*slot.whole, static_cast<std::size_t>(slot.front_bytes),
                       static_cast<std::size_t>(slot.data_bytes));
    if (!window) return window.status();
    slot.window = std::move(*window);
  }
  return write_guards(slot);
}

Status Scratch::write_guards(Slot& slot) {
  fill_words(guard_word(slot.argument), chunk_.view());
  const auto write_zone = [&](std::uint64_t offset, std::uint64_t bytes) -> Status {
    for (std::uint64_t done = 0; done < bytes;) {
      const std::size_t size = chunk_size(bytes - done);
      Status status = device_.write(*slot.whole, static_cast<std::size_t>(offset + done),
                                    Bytes(chunk_.view().subspan(0, size)));
      if (!status.ok()) return status;
      done += size;
    }
    return {};
  };
  Status status = write_zone(0, slot.front_bytes);
  if (!status.ok()) return status;
  return write_zone(slot.front_bytes + slot.data_bytes, slot.back_bytes);
}

void Scratch::release() {
  for (Slot& slot : slots_) {
    slot.window.reset();
    slot.whole.reset();
    slot.data_bytes = 0;
  }
}

void Scratch::initial_content(std::size_t buffer, std::uint32_t seed, std::uint64_t offset,
                              MutableBytes out) const {
  const ArgumentSpec& spec = slots_[buffer].fill;
  const std::uint32_t argument = slots_[buffer].argument;
  if (spec.access == Access::out) return fill_words(poison_word(spec.type, argument, seed), out);
  if (const Bytes captured = slots_[buffer].captured; !captured.empty()) {
    const Bytes part = captured.subspan(static_cast<std::size_t>(offset), out.size());
    if (!part.empty()) std::memcpy(out.data(), part.data(), part.size());
    return;
  }
  fill_elements(spec, argument, seed, offset / scalar_size_bytes(spec.type), out);
}

bool Scratch::keeps(std::size_t buffer, Refill refill) const {
  const ArgumentSpec& spec = this->spec(buffer);
  if (refill == Refill::inout) return spec.access != Access::inout;
  return refill == Refill::launches &&
         (spec.access == Access::in || spec.kind == ArgumentKind::prepared);
}

Status Scratch::fill(std::uint32_t seed, Refill refill) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (keeps(i, refill)) continue;
    for (std::uint64_t offset = 0; offset < slots_[i].data_bytes;) {
      const std::size_t size = chunk_size(slots_[i].data_bytes - offset);
      const MutableBytes part = chunk_.view().subspan(0, size);
      initial_content(i, seed, offset, part);
      Status status = device_.write(
          *slots_[i].whole, static_cast<std::size_t>(slots_[i].front_bytes + offset), Bytes(part));
      if (!status.ok()) return status;
      offset += size;
    }
  }
  return {};
}

Status Scratch::read(std::size_t buffer, std::uint64_t offset, MutableBytes out) const {
  const Slot& slot = slots_[buffer];
  return device_.read(*slot.whole, static_cast<std::size_t>(slot.front_bytes + offset), out);
}

Status Scratch::find_damage(std::uint32_t seed, std::string& damage) {
  Status status = find_guard_damage(UINT64_MAX, damage);
  for (std::size_t i = 0; status.ok() && damage.empty() && i < slots_.size(); ++i) {
    if (spec(i).access == Access::in) status = check_input(i, seed, damage);
  }
  return status;
}

Status Scratch::find_near_damage(std::string& damage) {
  return find_guard_damage(std::max(guard_bytes_, front_guard_bytes_), damage);
}

Status Scratch::find_guard_damage(std::uint64_t reach_bytes, std::string& damage) {
  damage.clear();
  Status status;
  for (Slot& slot : slots_) {
    std::string found;
    status = check_guard(slot, Zone::front, reach_bytes, found);
    if (status.ok() && found.empty()) status = check_guard(slot, Zone::back, reach_bytes, found);
    if (status.ok() && !found.empty()) status = write_guards(slot);  // for the next candidate
    if (damage.empty()) damage = std::move(found);
    if (!status.ok()) break;
  }
  return status;
}

Status Scratch::check_guard(const Slot& slot, Zone zone, std::uint64_t reach_bytes,
                            std::string& damage) {
  const bool before = zone == Zone::front;
  const std::uint64_t bytes = std::min(before ? slot.front_bytes : slot.back_bytes, reach_bytes);
  const std::uint64_t start =
      before ? slot.front_bytes - bytes : slot.front_bytes + slot.data_bytes;
  // A zone begins and ends with whole words.
  const MutableBytes expected = expected_.view().subspan(0, chunk_size(bytes));
  fill_words(guard_word(slot.argument), expected);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t size = chunk_size(bytes - done);
    const MutableBytes got = chunk_.view().subspan(0, size);
    Status status = device_.read(*slot.whole, static_cast<std::size_t>(start + done), got);
    if (!status.ok()) return status;
    if (std::memcmp(got.data(), expected.data(), size) != 0) {
      const std::uint64_t position = done + first_difference(Bytes(got), Bytes(expected));
      damage = joined("wrote outside buffer '%': %%", package_.argument(slot.argument).name,
                      before ? bytes - position : position,
                      before ? " bytes before its start" : " bytes behind its end");
      return {};
    }
    done += size;
  }
  return {};
}

Status Scratch::check_input(std::size_t buffer, std::uint32_t seed, std::string& damage) {
  const std::size_t element_bytes = scalar_size_bytes(spec(buffer).type);
  for (std::uint64_t offset = 0; offset < slots_[buffer].data_bytes;) {
    const std::size_t size = chunk_size(slots_[buffer].data_bytes - offset);
    const MutableBytes got = chunk_.view().subspan(0, size);
    const MutableBytes expected = expected_.view().subspan(0, size);
    Status status = read(buffer, offset, got);
    if (!status.ok()) return status;
    initial_content(buffer, seed, offset, expected);
    if (std::memcmp(got.data(), expected.data(), size) != 0) {
      const std::uint64_t at = offset + first_difference(Bytes(got), Bytes(expected));
      damage = joined("wrote into input '%', element %", spec(buffer).name, at / element_bytes);
      return {};
    }
    offset += size;
  }
  return {};
}

Result<std::vector<Argument>> Scratch::arguments(const Shape& shape,
                                                 const Configuration& configuration,
                                                 std::uint32_t seed) const {
  std::vector<Argument> result;
  std::size_t next_slot = 0;
  for (std::size_t i = 0; i < package_.argument_count(); ++i) {
    const ArgumentSpec& spec = package_.argument(i);
    if (is_memory(spec.kind)) {
      const Slot& slot = slots_[next_slot++];
      result.push_back(slot.window ? slot.window->argument() : slot.whole->argument());
    } else if (spec.kind == ArgumentKind::scalar) {
      result.push_back(scalar_value(spec, static_cast<std::uint32_t>(i), seed));
    } else {
      const Result<Argument> derived = derived_argument(package_, i, shape, configuration);
      if (!derived) return derived.status();
      push(result, *derived);
    }
  }
  return result;
}

}  // namespace idletune::trial
