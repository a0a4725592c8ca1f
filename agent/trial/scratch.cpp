#include "agent/trial/scratch.hpp"

#include <idletune/text.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "agent/trial/tuning_data.hpp"

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
    return Status(StatusCode::out_of_memory, {bytes, " bytes of host memory"});
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
    if (package.argument(i).kind != ArgumentKind::buffer) continue;
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
  const Result<std::uint64_t> elements =
      package_.buffer_elements(slots_[buffer].argument, shape, configuration);
  if (!elements) return elements.status();
  const std::uint64_t element_bytes = scalar_size_bytes(spec(buffer).type);
  if (*elements > kMaxHostBytes / 2 / element_bytes) {
    return Status(StatusCode::out_of_memory,
                  {"buffer '", spec(buffer).name, "' of ", *elements, " elements"});
  }
  return *elements * element_bytes;
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

Status Scratch::fit(const Shape& shape, const Configuration& configuration) {
  Status status = make_chunks();
  for (std::size_t i = 0; status.ok() && i < slots_.size(); ++i) {
    const Result<std::uint64_t> bytes = data_bytes_for(i, shape, configuration);
    if (!bytes) {
      status = bytes.status();
    } else if (!slots_[i].whole || slots_[i].data_bytes != *bytes) {
      status = allocate(slots_[i], *bytes);
    }
  }
  if (!status.ok()) release();
  return status;
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

Status Scratch::allocate(Slot& slot, std::uint64_t data_bytes) {
  slot.window.reset();
  slot.whole.reset();
  slot.data_bytes = data_bytes;
  slot.front_bytes = front_guard_bytes_;
  const std::uint64_t whole_bytes = front_guard_bytes_ + data_bytes + guard_bytes_;
  Result<std::unique_ptr<Buffer>> whole = device_.allocate(static_cast<std::size_t>(whole_bytes));
  if (!whole) return whole.status();
  slot.whole = std::move(*whole);
  if (front_guard_bytes_ != 0) {
    Result<std::unique_ptr<Buffer>> window =
        device_.window(*slot.whole, static_cast<std::size_t>(front_guard_bytes_),
                       static_cast<std::size_t>(data_bytes));
    if (!window) return window.status();
    slot.window = std::move(*window);
  }
  return write_guards(slot);
}

Status Scratch::write_guards(Slot& slot) {
  const auto write_zone = [&](std::uint64_t offset, std::uint64_t bytes) -> Status {
    for (std::uint64_t done = 0; done < bytes;) {
      const std::size_t size = chunk_size(bytes - done);
      const MutableBytes part = chunk_.view().subspan(0, size);
      fill_words(guard_word(slot.argument), part);
      const Status status =
          device_.write(*slot.whole, static_cast<std::size_t>(offset + done), Bytes(part));
      if (!status.ok()) return status;
      done += size;
    }
    return {};
  };
  const Status status = write_zone(0, slot.front_bytes);
  if (!status.ok()) return status;
  return write_zone(slot.front_bytes + slot.data_bytes, guard_bytes_);
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
  const ArgumentSpec& spec = this->spec(buffer);
  const std::uint32_t argument = slots_[buffer].argument;
  if (spec.access == Access::out) return fill_words(poison_word(argument, seed), out);
  fill_elements(spec, argument, seed, offset / scalar_size_bytes(spec.type), out);
}

Status Scratch::fill(std::uint32_t seed, bool only_inout) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (only_inout && spec(i).access != Access::inout) continue;
    for (std::uint64_t offset = 0; offset < slots_[i].data_bytes;) {
      const std::size_t size = chunk_size(slots_[i].data_bytes - offset);
      const MutableBytes part = chunk_.view().subspan(0, size);
      initial_content(i, seed, offset, part);
      const Status status = device_.write(
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
  Status status = find_guard_damage(damage);
  for (std::size_t i = 0; status.ok() && damage.empty() && i < slots_.size(); ++i) {
    if (spec(i).access == Access::in) status = check_input(i, seed, damage);
  }
  return status;
}

Status Scratch::find_guard_damage(std::string& damage) {
  damage.clear();
  Status status;
  for (Slot& slot : slots_) {
    std::string found;
    status = check_guard(slot, Zone::front, found);
    if (status.ok() && found.empty()) status = check_guard(slot, Zone::back, found);
    if (status.ok() && !found.empty()) status = write_guards(slot);  // for the next candidate
    if (damage.empty()) damage = std::move(found);
    if (!status.ok()) break;
  }
  return status;
}

Status Scratch::check_guard(const Slot& slot, Zone zone, std::string& damage) {
  const std::uint64_t start = zone == Zone::front ? 0 : slot.front_bytes + slot.data_bytes;
  const std::uint64_t bytes = zone == Zone::front ? slot.front_bytes : guard_bytes_;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t size = chunk_size(bytes - done);
    const MutableBytes got = chunk_.view().subspan(0, size);
    const MutableBytes expected = expected_.view().subspan(0, size);
    const Status status = device_.read(*slot.whole, static_cast<std::size_t>(start + done), got);
    if (!status.ok()) return status;
    fill_words(guard_word(slot.argument), expected);
    const std::size_t at = first_difference(Bytes(got), Bytes(expected));
    if (at < size) {
      const std::uint64_t position = done + at;
      const bool before = zone == Zone::front;
      damage = joined({"wrote outside buffer '", package_.argument(slot.argument).name,
                       "': ", before ? bytes - position : position,
                       before ? " bytes before its start" : " bytes behind its end"});
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
    const Status status = read(buffer, offset, got);
    if (!status.ok()) return status;
    initial_content(buffer, seed, offset, expected);
    if (std::memcmp(got.data(), expected.data(), size) != 0) {
      const std::uint64_t at = offset + first_difference(Bytes(got), Bytes(expected));
      damage = joined({"wrote into input '", spec(buffer).name, "', element ", at / element_bytes});
      return {};
    }
    offset += size;
  }
  return {};
}

Result<std::vector<Argument>> Scratch::arguments(const Shape& shape, std::uint32_t seed) const {
  std::vector<Argument> result;
  std::size_t next_slot = 0;
  for (std::size_t i = 0; i < package_.argument_count(); ++i) {
    const ArgumentSpec& spec = package_.argument(i);
    if (spec.kind == ArgumentKind::buffer) {
      const Slot& slot = slots_[next_slot++];
      result.push_back(slot.window ? slot.window->argument() : slot.whole->argument());
    } else if (spec.kind == ArgumentKind::scalar) {
      result.push_back(scalar_value(spec, static_cast<std::uint32_t>(i), seed));
    } else {
      const Result<std::int64_t> value = package_.dimension_value(i, shape);
      if (!value) return value.status();
      result.push_back(dimension_argument(spec.type, *value));
    }
  }
  return result;
}

}  // namespace idletune::trial
