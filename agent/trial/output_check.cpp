#include "agent/trial/output_check.hpp"

#include <idletune/text.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "agent/trial/tuning_data.hpp"
#include "models/core/number_text.hpp"
#include "models/core/scalar.hpp"

namespace idletune::trial {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Exact below 2^53 also where a double cannot hold both integers.
double difference(ScalarType type, const std::uint8_t* a, const std::uint8_t* b) {
  if (!is_integer(type)) return std::fabs(load_number(type, a) - load_number(type, b));
  std::uint64_t from = load_integer(type, a);
  std::uint64_t to = load_integer(type, b);
  const std::uint64_t sign = is_signed(type) ? std::uint64_t{1} << 63 : 0;
  if ((from ^ sign) > (to ^ sign)) std::swap(from, to);
  return static_cast<double>(to - from);
}

// What no computation leaves by chance. Bytes and 16-bit integers take every value: what was not
// written there is found as a wrong number, under one of two seeds at the latest.
bool tells_poison(ScalarType type) {
  return scalar_size_bytes(type) >= 4 || type == ScalarType::f16;
}

}  // namespace

OutputCheck::OutputCheck(const ArgumentSpec& spec, const Tolerance& tolerance,
                         const std::uint32_t* poison)
    : spec_(spec), tolerance_(tolerance), poisoned_(poison != nullptr && tells_poison(spec.type)) {
  if (poisoned_) fill_words(*poison, poison_);
}

void OutputCheck::add(Bytes output, Bytes reference) {
  const std::size_t size = scalar_size_bytes(spec_.type);
  const std::size_t count = output.size() / size;
  if (std::memcmp(output.data(), reference.data(), count * size) != 0) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* out = output.data() + i * size;
      const std::uint8_t* ref = reference.data() + i * size;
      if (std::memcmp(out, ref, size) == 0) continue;
      const double error = error_of(out, ref);
      if (error > max_error_) max_error_ = error;
      if (error <= 1 || wrong_++ != 0) continue;
      record_wrong(elements_ + i, out, ref);
    }
  }
  elements_ += count;
}

double OutputCheck::error_of(const std::uint8_t* output, const std::uint8_t* reference) const {
  if (is_poison(reference) != is_poison(output)) return kInfinity;
  const double out = load_number(spec_.type, output);
  const double ref = load_number(spec_.type, reference);
  if (std::isnan(out) || std::isnan(ref)) return std::isnan(out) && std::isnan(ref) ? 0 : kInfinity;
  // Equal infinities, and zeros of either sign. Integers that are one double may still differ.
  if (out == ref && !is_integer(spec_.type)) return 0;
  const double distance = difference(spec_.type, output, reference);
  const double allowed = tolerance_.allowed(ref);
  if (!std::isfinite(distance) || !std::isfinite(allowed) || !(allowed > 0)) return kInfinity;
  return distance / allowed;
}

std::string OutputCheck::text_of(const std::uint8_t* value) const {
  if (!is_integer(spec_.type)) return number_text(load_number(spec_.type, value), 9);
  const std::uint64_t integer = load_integer(spec_.type, value);
  if (!is_signed(spec_.type)) return joined("%", integer);
  return joined("%", static_cast<std::int64_t>(integer));
}

bool OutputCheck::is_poison(const std::uint8_t* value) const {
  return poisoned_ && std::memcmp(value, poison_, scalar_size_bytes(spec_.type)) == 0;
}

void OutputCheck::record_wrong(std::uint64_t element, const std::uint8_t* output,
                               const std::uint8_t* reference) {
  first_wrong_ = joined("output '%': element %", spec_.name, element);
  if (is_poison(output)) {
    append(first_wrong_, " was not written, expected %", text_of(reference));
  } else if (is_poison(reference)) {
    append(first_wrong_, " was written (%), expected untouched", text_of(output));
  } else {
    append(first_wrong_, " is %, expected % (allowed difference %)", text_of(output),
           text_of(reference),
           number_text(tolerance_.allowed(load_number(spec_.type, reference)), 9));
  }
}

std::string OutputCheck::message() const {
  if (passed()) return {};
  return joined("%; % of % elements differ", first_wrong_, wrong_, elements_);
}

}  // namespace idletune::trial
