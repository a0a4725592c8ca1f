#include "agent/trial/output_check.hpp"

#include <idletune/text.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>

#include "agent/trial/tuning_data.hpp"

namespace idletune::trial {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}
std::string number_text(float value) { return number_text(static_cast<double>(value)); }
template <class T>
std::string number_text(T value) {
  return std::to_string(value);
}

double difference(double a, double b) { return std::fabs(a - b); }
double difference(float a, float b) {
  return std::fabs(static_cast<double>(a) - static_cast<double>(b));
}
template <class T>
double difference(T a, T b) {  // exact below 2^53 also where a double cannot hold both operands
  using Unsigned = std::make_unsigned_t<T>;
  const auto from = static_cast<Unsigned>(a < b ? a : b);
  const auto to = static_cast<Unsigned>(a < b ? b : a);
  return static_cast<double>(static_cast<Unsigned>(to - from));
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  (void)value;
  return false;
}

}  // namespace

OutputCheck::OutputCheck(const ArgumentSpec& spec, const Tolerance& tolerance,
                         const std::uint32_t* poison)
    : spec_(spec), tolerance_(tolerance), poisoned_(poison != nullptr) {
  if (poisoned_) fill_words(*poison, poison_);
}

void OutputCheck::add(Bytes output, Bytes reference) {
  switch (spec_.type) {
    case ScalarType::i32: return add_typed<std::int32_t>(output, reference);
    case ScalarType::u32: return add_typed<std::uint32_t>(output, reference);
    case ScalarType::i64: return add_typed<std::int64_t>(output, reference);
    case ScalarType::u64: return add_typed<std::uint64_t>(output, reference);
    case ScalarType::f32: return add_typed<float>(output, reference);
    case ScalarType::f64: return add_typed<double>(output, reference);
  }
}

template <class T>
void OutputCheck::add_typed(Bytes output, Bytes reference) {
  const std::size_t count = output.size() / sizeof(T);
  if (std::memcmp(output.data(), reference.data(), count * sizeof(T)) != 0) {
    for (std::size_t i = 0; i < count; ++i) {
      T out, ref;
      std::memcpy(&out, output.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&ref, reference.data() + i * sizeof(T), sizeof(T));
      if (std::memcmp(&out, &ref, sizeof(T)) == 0) continue;
      const double error = error_of(out, ref);
      if (error > max_error_) max_error_ = error;
      if (error <= 1 || wrong_++ != 0) continue;
      record_wrong(elements_ + i, text_of(out), text_of(ref),
                   tolerance_.allowed(static_cast<double>(ref)));
    }
  }
  elements_ += count;
}

template <class T>
double OutputCheck::error_of(T output, T reference) const {
  if (is_poison(&reference, sizeof(T)) != is_poison(&output, sizeof(T))) return kInfinity;
  if (is_nan(output) || is_nan(reference)) {
    return is_nan(output) && is_nan(reference) ? 0 : kInfinity;
  }
  if (output == reference) return 0;  // also equal infinities, and zeros of either sign
  const double distance = difference(output, reference);
  const double allowed = tolerance_.allowed(static_cast<double>(reference));
  if (!std::isfinite(distance) || !std::isfinite(allowed) || !(allowed > 0)) return kInfinity;
  return distance / allowed;
}

template <class T>
std::string OutputCheck::text_of(T value) const {
  return is_poison(&value, sizeof value) ? std::string() : number_text(value);
}

bool OutputCheck::is_poison(const void* value, std::size_t bytes) const {
  return poisoned_ && std::memcmp(value, poison_, bytes) == 0;
}

void OutputCheck::record_wrong(std::uint64_t element, const std::string& output,
                               const std::string& reference, double allowed) {
  first_wrong_ = joined({"output '", spec_.name, "': element ", element});
  if (output.empty()) {
    append(first_wrong_, {" was not written, expected ", reference});
  } else if (reference.empty()) {
    append(first_wrong_, {" was written (", output, "), expected untouched"});
  } else {
    append(first_wrong_, {" is ", output, ", expected ", reference, " (allowed difference ",
                          number_text(allowed), ")"});
  }
}

std::string OutputCheck::message() const {
  if (passed()) return {};
  return joined({first_wrong_, "; ", wrong_, " of ", elements_, " elements differ"});
}

}  // namespace idletune::trial
