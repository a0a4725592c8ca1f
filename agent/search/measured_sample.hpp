// The measurements that a surrogate learns from: bounded, however many were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <idletune/span.hpp>

#include "models/core/random.hpp"

namespace idletune {

// Keeps the kBest quickest measurements and a uniform sample of kOthers of the rest (reservoir
// sampling, Vitter 1985): the good region in full and the remainder fairly. 2 bytes per column and
// 24 more for each one kept.
class MeasuredSample {
 public:
  static constexpr std::size_t kBest = 128;
  static constexpr std::size_t kOthers = 128;

  MeasuredSample(std::size_t columns, std::uint64_t seed);
  // `log_time`: ln of the run time; infinity if it failed. `prior`: any number to be kept with it.
  void add(Span<const std::uint16_t> codes, double log_time, float prior);

  std::size_t size() const { return best_.size() + others_.size(); }
  // Ran correctly, of all that were added.
  std::size_t correct() const { return correct_; }
  // The `i`th quickest for i < min(size(), kBest); the rest in no order.
  Span<const std::uint16_t> codes(std::size_t i) const {
    return {codes_.data() + entry(i).slot * columns_, columns_};
  }
  double log_time(std::size_t i) const { return entry(i).log_time; }
  float prior(std::size_t i) const { return entry(i).prior; }
  std::size_t bytes() const;

 private:
  struct Entry {
    double log_time = 0;
    float prior = 0;
    std::uint16_t slot = 0;  // of codes_
  };
  const Entry& entry(std::size_t i) const {
    return i < best_.size() ? best_[i] : others_[i - best_.size()];
  }
  void add_other(const Entry& entry);

  std::size_t columns_;
  Random random_;
  std::vector<std::uint16_t> codes_;
  std::vector<Entry> best_;  // ascending
  std::vector<Entry> others_;
  std::uint64_t others_seen_ = 0;
  std::size_t correct_ = 0;
  std::uint16_t free_slot_ = 0;  // the next one to be written
};

}  // namespace idletune
