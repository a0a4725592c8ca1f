// Compares outputs with the reference, element by element.
#pragma once

#include <cstdint>
#include <string>

#include <idletune/span.hpp>

#include "models/package/package_specs.hpp"

namespace idletune::trial {

// Judges one output buffer, chunk by chunk in order of elements.
//
// An element is accepted if |out - ref| is within the tolerance (integers: computed without
// overflow), or both are NaN, or both are the same infinity. An element that the reference left as
// it was (`poison` as a bit pattern) must be left as it was.
class OutputCheck {
 public:
  // `poison`: what the buffer was filled with before both runs; null for one that got inputs.
  OutputCheck(const ArgumentSpec& spec, const Tolerance& tolerance, const std::uint32_t* poison);

  // Both chunks have the same size, a multiple of the element's.
  void add(Bytes output, Bytes reference);

  bool passed() const { return wrong_ == 0; }
  std::uint64_t elements() const { return elements_; }
  // The largest |out - ref| / allowed among numbers; infinite if an element is wrong in a way that
  // no tolerance covers.
  double max_error() const { return max_error_; }
  // "output 'c': element 17 is 3.5, expected 2.25 (allowed difference 1e-05); 3 of 64 elements
  // differ"; empty if passed.
  std::string message() const;

 private:
  // Pointers to one element.
  double error_of(const std::uint8_t* output, const std::uint8_t* reference) const;
  std::string text_of(const std::uint8_t* value) const;
  bool is_poison(const std::uint8_t* value) const;
  void record_wrong(std::uint64_t element, const std::uint8_t* output,
                    const std::uint8_t* reference);

  const ArgumentSpec& spec_;
  Tolerance tolerance_;
  std::uint8_t poison_[8] = {};
  bool poisoned_ = false;
  std::uint64_t elements_ = 0;
  std::uint64_t wrong_ = 0;
  double max_error_ = 0;
  std::string first_wrong_;
};

}  // namespace idletune::trial
