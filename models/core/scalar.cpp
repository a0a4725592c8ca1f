#include "models/core/scalar.hpp"

#include <cmath>
#include <cstring>

namespace idletune {
namespace {

struct Properties {
  char name[4];
  std::uint8_t size_bytes;
  char kind;  // Signed, Unsigned, Floating point
};
constexpr Properties kTypes[kScalarTypeCount] = {{"i32", 4, 'S'}, {"u32", 4, 'U'}, {"i64", 8, 'S'},
                                                 {"u64", 8, 'U'}, {"f32", 4, 'F'}, {"f64", 8, 'F'},
                                                 {"i8", 1, 'S'},  {"u8", 1, 'U'},  {"i16", 2, 'S'},
                                                 {"u16", 2, 'U'}, {"f16", 2, 'F'}};

const Properties& properties(ScalarType type) {
  static constexpr Properties kNone = {"", 0, 'U'};
  const auto number = static_cast<std::size_t>(type);
  return number < kScalarTypeCount ? kTypes[number] : kNone;
}

template <class T>
T load(const void* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

template <class T>
void store(T value, void* out) {
  std::memcpy(out, &value, sizeof value);
}

// The low bytes of a value that fits them.
void store_low_bytes(std::uint64_t value, std::size_t bytes, void* out) {
  switch (bytes) {
    case 1: return store(static_cast<std::uint8_t>(value), out);
    case 2: return store(static_cast<std::uint16_t>(value), out);
    case 4: return store(static_cast<std::uint32_t>(value), out);
    default: return store(value, out);
  }
}

std::uint64_t nearest_integer(const Properties& type, double value) {
  const bool is_signed = type.kind == 'S';
  const int bits = 8 * type.size_bytes - (is_signed ? 1 : 0);
  // The upper limit of a 64-bit type is no double: its successor, a power of two, is.
  const double end = std::ldexp(1, bits);
  if (value >= end) return UINT64_MAX >> (64 - bits);
  if (!(value > (is_signed ? -end : 0))) return is_signed ? ~std::uint64_t{0} << bits : 0;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(value)))
                   : static_cast<std::uint64_t>(value);
}

}  // namespace

std::size_t scalar_size_bytes(ScalarType type) { return properties(type).size_bytes; }

const char* scalar_type_name(ScalarType type) {
  const char* name = properties(type).name;
  return *name != '\0' ? name : "unknown";
}

bool is_integer(ScalarType type) { return properties(type).kind != 'F'; }
bool is_signed(ScalarType type) { return properties(type).kind == 'S'; }

Half::Half(double value) {
  const double magnitude = std::fabs(value);
  int exponent = -13;  // of the numbers below 2^-13, which are multiples of 2^-24
  if (magnitude >= 0x1p-14) (void)std::frexp(magnitude, &exponent);
  unsigned rest = 0x7e00;  // not a number
  if (magnitude >= 65520) {
    rest = 0x7c00;  // infinity
  } else if (magnitude >= 0) {
    // Rounding up to the next power of two carries into the exponent, as it should.
    const double steps = std::nearbyint(std::ldexp(magnitude, 11 - exponent));
    rest = (static_cast<unsigned>(exponent + 13) << 10) + static_cast<unsigned>(steps);
  }
  bits = static_cast<std::uint16_t>((std::signbit(value) ? 0x8000u : 0u) | rest);
}

double Half::value() const {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude =
      std::ldexp(exponent == 0 ? fraction : fraction + 1024, exponent == 0 ? -24 : exponent - 25);
  if (exponent == 31) magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

void store_number(ScalarType type, double value, void* out) {
  switch (type) {
    case ScalarType::f32: return store(static_cast<float>(value), out);
    case ScalarType::f64: return store(value, out);
    case ScalarType::f16: return store(Half(value).bits, out);
    default: break;
  }
  const Properties& known = properties(type);
  if (known.size_bytes != 0) store_low_bytes(nearest_integer(known, value), known.size_bytes, out);
}

bool store_integer(ScalarType type, std::int64_t value, void* out) {
  if (!is_integer(type)) {
    store_number(type, static_cast<double>(value), out);
    return true;
  }
  const auto bits = static_cast<std::uint64_t>(value);
  store_low_bytes(bits, scalar_size_bytes(type), out);
  return (value >= 0 || is_signed(type)) && load_integer(type, out) == bits;
}

double load_number(ScalarType type, const void* in) {
  switch (type) {
    case ScalarType::f32: return static_cast<double>(load<float>(in));
    case ScalarType::f64: return load<double>(in);
    case ScalarType::f16: {
      Half half;
      half.bits = load<std::uint16_t>(in);
      return half.value();
    }
    default: break;
  }
  const std::uint64_t bits = load_integer(type, in);
  return is_signed(type) ? static_cast<double>(static_cast<std::int64_t>(bits))
                         : static_cast<double>(bits);
}

std::uint64_t load_integer(ScalarType type, const void* in) {
  std::uint64_t bits = 0;
  switch (scalar_size_bytes(type)) {
    case 1: bits = load<std::uint8_t>(in); break;
    case 2: bits = load<std::uint16_t>(in); break;
    case 4: bits = load<std::uint32_t>(in); break;
    case 8: return load<std::uint64_t>(in);
    default: return 0;
  }
  const std::uint64_t sign = std::uint64_t{1} << (8 * scalar_size_bytes(type) - 1);
  return is_signed(type) ? (bits ^ sign) - sign : bits;
}

}  // namespace idletune
