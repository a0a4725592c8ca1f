// What is true of a played board: which configurations its kernel has, how fast they are, and what
// they do to whoever runs them. Drawn from a seed; never changes. Configurations, shapes and
// drivers are numbers here; 0 is the default configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/options.hpp>

#include "agent/trial/quirks.hpp"
#include "models/package/package_specs.hpp"
#include "models/predict/model.hpp"

namespace idletune::lives {

enum class Nature : std::uint8_t {
  good,
  slow,
  wrong,           // everywhere
  wrong_shape,     // at one shape
  wrong_class,     // at the shapes of one class
  crash,           // wherever it runs
  crash_shape,     // or a hang, at one shape; in the application too
  crash_often,     // one run in five, in the helper
  crash_late,      // in the helper, after some runs
  crash_launch,    // in the application only, one launch in fifty
  hang,            // in the helper
  hang_warm_up,    // in the application's process only, before its first launch
  refused,         // by the compiler
  refused_build,   // by the compiler of the application's process only
  refused_launch,  // by the driver, in the application's launches
  memory,          // its helper is killed by somebody
  slow_launch,     // fast in trials, slow in the application
  wrong_late,      // after some checks
  wrong_lent,      // on data that the application lent
  crash_lent,      // in the helper, on such data
  count
};
const char* name_of(Nature nature);

// What a run of the program may say of its boards.
struct WorldLimits {
  std::string natures;  // "friendly": good and slow only; "sound": none that change; empty: all
  std::string
      force;  // words: worker, caller, in-place, no-race, helper, in-process, profiling, calls
};

struct World {
  // Each with each version of the package: numbers that go on counting.
  static constexpr int kVersions = 3, kPackages = 2, kDrivers = kVersions * kPackages;
  World(std::uint64_t seed, const WorldLimits& limits);

  std::uint64_t seed;
  std::vector<Configuration> configurations;
  std::vector<std::int64_t> sizes;  // shape i is {sizes[i]}
  bool friendly = false;
  bool in_place = false;
  bool isolated = true;  // trials run in a helper
  bool worker = false;   // builds and errands take played time beside the application
  // After which what was told is on the medium: the first may be of what was being written then.
  int syncs() const { return worker ? 2 : 1; }
  bool profiling = true;
  int colder = 1;  // times as long as in trials launches take: they find other caches
  bool has_model = true;
  bool slots = false;     // models are pushed, tried and kept
  bool setups = false;    // some configurations prepare something once, of a constant buffer
  bool captures = false;  // the application may lend data
  bool solves = false;    // the application solves linear systems as well
  bool methods = false;   // all of them, also where numbers are single and refined
  bool mixed = false;     // numbers of solvers are single, and refined
  bool large = false;     // one of their matrices has more rows than are all checked
  bool called = false;    // calls of the application's own, which tell what no trial does
  AgentOptions options;
  struct Package {
    std::vector<std::uint8_t> bytes;
    std::shared_ptr<const KernelPackage> read;
  };
  const Package* packages[kPackages] = {};
  static int version_of(int driver) { return driver % kVersions; }
  static int package_of(int driver) { return driver / kVersions; }

  int count() const { return static_cast<int>(configurations.size()); }
  int shapes() const { return static_cast<int>(sizes.size()); }
  Shape shape(int s) const { return {sizes[static_cast<std::size_t>(s)]}; }
  int index_of(const Configuration& configuration) const;  // -1: none of them
  int index_of(const Shape& shape) const;                  // likewise
  const Configuration& configuration(int c) const {
    return configurations[static_cast<std::size_t>(c)];
  }
  std::string text(int driver, int c) const;

  Nature nature(int driver, int c) const { return natures_[at(driver, c)]; }
  bool sound(int driver, int c, int s) const;  // right and harmless at the shape, always
  std::uint64_t lateness(int c) const;         // after how many checks it is wrong, or runs crash
  int odd_shape(int c) const { return odd_shapes_[static_cast<std::size_t>(c)]; }
  std::uint64_t class_of(int c, int s) const { return classes_[at_shape(c, s)]; }
  bool wrong(int driver, int c, int s, bool lent = false) const;  // `lent`: on such data
  bool has_setup(int c) const;
  bool crashes(int driver, int c, int s, bool lent = false) const;  // surely
  Nanoseconds time(int c, int s) const { return times_[at_shape(c, s)]; }
  Nanoseconds in_launches(int c, int s) const { return colder * time(c, s); }  // to be expected
  std::size_t items(std::int64_t a, int s) const;  // of a launch with that A
  Nanoseconds launch_time(int driver, int c, int s) const;
  // As the application finds out; some fail only after they ran for a while.
  TrialStatus status_of_call(int driver, int c, int s, int times) const;
  // Of both packages.
  std::shared_ptr<const QuirkTable> quirks_naming(int c) const;
  // First pick and portfolio.
  std::shared_ptr<const Model> model_saying(int c, int other) const;
  std::vector<std::uint8_t> model_saying(int c, int other, std::uint64_t generation) const;

 private:
  std::size_t at(int driver, int c) const { return static_cast<std::size_t>(driver * count() + c); }
  std::size_t at_shape(int c, int s) const { return static_cast<std::size_t>(c * shapes() + s); }
  void make_packages(int a, int b);
  Nature draw_nature(int driver, int c, bool sound_only) const;
  double ratio(int c, int s) const;  // of the default's time

  std::vector<Nature> natures_;
  std::vector<int> odd_shapes_;
  std::vector<std::uint64_t> classes_;
  std::vector<Nanoseconds> times_;
};

}  // namespace idletune::lives
