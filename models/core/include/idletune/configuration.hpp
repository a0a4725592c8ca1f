// The small values that everything speaks of: shapes, configurations, measurement statuses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <idletune/span.hpp>

namespace idletune {

inline constexpr std::size_t kMaxDimensions = 8;   // of a problem size
inline constexpr std::size_t kMaxFeatures = 8;     // of a problem, besides
inline constexpr std::size_t kMaxParameters = 32;  // of a tuning space
// Of a kernel function. A launch copies as many as this onto its stack, so more would cost every
// launch of every kernel.
inline constexpr std::size_t kMaxArguments = 32;

// A problem: the values of a kernel's dimensions, in the order its description names them (M, N, K
// for a GEMM), then the features that the application gives, in theirs: what else a good
// configuration depends on, such as the mean length of a sparse matrix's rows. At most
// kMaxDimensions and kMaxFeatures; further ones are dropped and `overflow()` says so.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dimensions) {
    for (std::int64_t d : dimensions) push_back(d);
  }
  // Shape({rows, entries}, {12.5, 3.0})
  Shape(std::initializer_list<std::int64_t> dimensions, std::initializer_list<double> features)
      : Shape(dimensions) {
    for (double f : features) push_feature(f);
  }
  explicit Shape(Span<const std::int64_t> dimensions, Span<const double> features = {}) {
    for (std::int64_t d : dimensions) push_back(d);
    for (double f : features) push_feature(f);
  }
  // Before the features.
  void push_back(std::int64_t dimension) {
    if (size_ < kMaxDimensions && features_ == 0) {
      values_[size_++] = dimension;
    } else {
      overflow_ = true;
    }
  }
  // Whatever number it is: who launches refuses those that are no features.
  void push_feature(double feature);
  // The number of dimensions; they are what the next three speak of.
  std::size_t size() const { return size_; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  const std::int64_t* data() const { return values_.data(); }
  Span<const std::int64_t> values() const { return {values_.data(), size_}; }

  std::size_t feature_count() const { return features_; }
  double feature(std::size_t i) const;
  // Dimensions, then features, as the numbers that they are; a model's selectors ask for them.
  std::size_t input_count() const { return std::size_t{size_} + features_; }
  double input(std::size_t i) const {
    return i < size_ ? static_cast<double>(values_[i]) : feature(i - size_);
  }

  bool overflow() const { return overflow_; }
  // What stands for it in keys and files: dimensions, then the bits of features.
  Span<const std::int64_t> words() const { return {values_.data(), input_count()}; }
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.size_ != b.size_ || a.features_ != b.features_ || a.overflow_ != b.overflow_)
      return false;
    for (std::size_t i = 0; i < a.input_count(); ++i) {
      if (a.values_[i] != b.values_[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  std::array<std::int64_t, kMaxDimensions + kMaxFeatures> values_{};
  std::uint8_t size_ = 0;
  std::uint8_t features_ = 0;
  bool overflow_ = false;
};
using Problem = Shape;

// One value per tuning parameter, in the space's parameter order. A plain value; 264 bytes.
class Configuration {
 public:
  Configuration() = default;
  Configuration(std::initializer_list<std::int64_t> values) {
    for (std::int64_t v : values) push_back(v);
  }
  explicit Configuration(Span<const std::int64_t> values) {
    for (std::int64_t v : values) push_back(v);
  }
  // Values past kMaxParameters are dropped; spaces with more parameters are refused when opened.
  void push_back(std::int64_t value) {
    if (size_ < kMaxParameters) values_[size_++] = value;
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  Span<const std::int64_t> values() const { return {values_.data(), size_}; }
  friend bool operator==(const Configuration& a, const Configuration& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (a.values_[i] != b.values_[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Configuration& a, const Configuration& b) { return !(a == b); }

 private:
  std::array<std::int64_t, kMaxParameters> values_{};
  std::uint8_t size_ = 0;
};

// How a measurement ended: the statuses of the T4 format, plus `crash`. The numbers are stored in
// files and never change.
enum class TrialStatus : std::uint8_t {
  correct = 0,
  compile = 1,      // did not compile
  runtime = 2,      // failed to launch or run
  correctness = 3,  // ran, but its output differs from the reference
  timeout = 4,      // outlived its deadline
  constraints = 5,  // violates a constraint of the space or a limit of the device
  crash = 6         // took its process (or the board) down
};
inline constexpr std::size_t kTrialStatusCount = 7;

// Whether whoever ran it did not survive it, or never came back.
constexpr bool is_death(TrialStatus status) {
  return status == TrialStatus::crash || status == TrialStatus::timeout;
}

// "correct", "compile", ...; "unknown" for a number that is none. Never null.
const char* trial_status_name(TrialStatus status);

}  // namespace idletune
