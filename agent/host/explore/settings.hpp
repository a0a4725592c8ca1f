// What is explored, and how much of it is measured.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/device.hpp>

#include "agent/host/explore/log.hpp"
#include "models/package/package_specs.hpp"

namespace idletune::explore {

inline constexpr std::uint32_t kMaxRepeats = 100;
inline constexpr std::uint32_t kLeastRepeats = 3;
inline constexpr std::uint32_t kInputs = 2;  // sets of them that a problem has
// Where all problems of a list are large, so many of the smallest count as small.
inline constexpr std::size_t kLeastSmallProblems = 8;

// One problem is looked at closely, each of a list briefly.
struct Settings {
  static Settings of_one(const Shape& problem);
  static Settings of_list(std::vector<Shape> problems);

  std::vector<Shape> problems;  // at least one
  bool is_list = false;
  std::string captured;  // file of the arguments that an application lent; empty: none
  std::uint64_t captured_digest = 0;
  std::uint64_t seed = 1;  // of the order
  std::string chosen;      // how configurations were, if not drawn: part of the identity
  // Comparisons of a configuration's output with the reference's: at the smallest problem, at
  // others that are drawn among the small ones, and as long as there are not so many, for the other
  // set of inputs. Of a list one among the larger problems besides.
  std::uint32_t checks = kInputs;
  double small_extent = 4 << 20;       // products of dimensions up to here are small
  double largest_extent = 256u << 20;  // the reference takes too long beyond
  std::uint32_t repeats = 10;  // timed runs of a configuration at a problem, 1 to kMaxRepeats
  // The timed runs end when they have taken this long together, but not before kLeastRepeats of
  // them, unless a single one takes that long.
  Nanoseconds measure_at_most{std::chrono::milliseconds(100)};
  // A configuration that takes so many times the best known time of a problem runs there
  // kLeastRepeats times.
  double hopeless = 3;
  // One that took so many times the best known time at each of the problems most like another one
  // is not run there at all; 0: it is.
  double far_too_slow = 8;
  Nanoseconds run_deadline{std::chrono::seconds(2)};       // of one run; then it is a timeout
  Nanoseconds control_interval{std::chrono::seconds(30)};  // 0: the default is never timed
  // So many of the best configurations of each problem are timed again, so many times.
  std::uint32_t finalists = 0;
  std::uint32_t rounds = 0;
  // Asked while a stage runs: true ends run() at once, with an error that says nothing about the
  // configuration. The helper ends with its runner.
  bool (*give_up)() = nullptr;
};

// The settings and everything else that results must have in common to belong together.
Identity identity_of(const KernelPackage& package, const DeviceInfo& device,
                     const Settings& settings);

// A comparison of outputs: at which problem, with which inputs (1 to kInputs).
struct Check {
  std::size_t problem = 0;
  std::uint32_t inputs = 1;
};
// Drawn by `seed` among the problems where a configuration exists, small ones first.
std::vector<Check> checks_of(const Settings& settings, const std::vector<std::size_t>& problems,
                             std::uint64_t seed);

}  // namespace idletune::explore
