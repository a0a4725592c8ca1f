// A described kernel against double precision on the host. A new kernel costs one short file: its
// reference, its shapes, and one fault that the check must find.
//
//   const KernelCheck kCheck{"mvt", {{1}, {33}, {130}}, {19}, expected_mvt, {"+ sum", "- sum"}};
//   IDLETUNE_KERNEL_TESTS("mvt", kCheck)
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>

#include "models/space/space.hpp"

namespace idletune::kernel_tests {

// What a kernel is called with, by the argument's name.
struct Inputs {
  std::map<std::string, std::vector<float>> buffers;  // `in`, and `inout` before the run
  std::map<std::string, float> scalars;
  const std::vector<float>& operator[](const std::string& name) const { return buffers.at(name); }
  double at(const std::string& name, std::size_t i) const {
    return static_cast<double>(buffers.at(name)[i]);
  }
  double scalar(const std::string& name) const { return static_cast<double>(scalars.at(name)); }
};

// How far a single-precision sum of `terms` terms, whose absolute values add up to `magnitude`, may
// be off: rounding errors grow like sqrt(terms); 4 for what is done besides adding.
inline double rounding_bound(double terms, double magnitude) {
  return (std::sqrt(terms) + 4) / (1 << 23) * magnitude;
}

// A sum in double precision.
struct Sum {
  double value = 0;
  double magnitude = 0;  // of its terms, added up
  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
};

// What an output buffer must hold: within `bound` of `value`, element by element.
struct Expected {
  std::vector<double> value;
  std::vector<double> bound;
  void add(double v, double b) {
    value.push_back(v);
    bound.push_back(b);
  }
  void add(const Sum& sum, std::size_t terms) {
    add(sum.value, rounding_bound(static_cast<double>(terms), sum.magnitude));
  }
};
using Outputs = std::map<std::string, Expected>;

struct Fault {
  const char* right;  // text that occurs in the source ...
  const char* wrong;  // ... and what makes the kernel wrong in its place
};

struct KernelCheck {
  const char* name;           // kernels/<name>/<name>.xml
  std::vector<Shape> shapes;  // odd, prime, tiny, beside the tiles
  Shape tiny;                 // what simulators run; more than one tile where that is cheap
  Outputs (*expected)(const Shape& shape, const Inputs& inputs);
  Fault fault;
  std::vector<Shape> more_tiny = {};     // where launch steps differ from shape to shape
  std::vector<Fault> class_faults = {};  // that show at shapes of some classes only
  // Puts other values than made-up ones where a shape is for them.
  void (*adjust)(const Shape& shape, Inputs& inputs) = nullptr;
};

void check_reference_kernel(const KernelCheck& check);
void check_default_configuration(const KernelCheck& check);
// Every parameter value and further random ones.
std::vector<Configuration> configurations_to_check(const Space& space);
// They, on every shape that they apply to.
void check_random_configurations(const KernelCheck& check);
void check_every_value_on_tiny_shape(const KernelCheck& check);
void check_fault_is_found(const KernelCheck& check);
// A configuration is checked at the smallest shape of a class, and launched at others of the class
// as launches do that find no slot. IDLETUNE_CLASS_LAUNCHES says how many (10),
// IDLETUNE_KERNEL_SEED which.
void check_class_launches(const KernelCheck& check);
// Each of the class faults is found at any shape of a class of which it is found at one, and not at
// all classes.
void check_class_faults(const KernelCheck& check);

}  // namespace idletune::kernel_tests

#define IDLETUNE_KERNEL_TESTS(name, check)                                              \
  TEST_CASE("the reference of " name " agrees with double precision") {                 \
    check_reference_kernel(check);                                                      \
  }                                                                                     \
  TEST_CASE("the default configuration of " name " is right for every shape") {         \
    check_default_configuration(check);                                                 \
  }                                                                                     \
  TEST_CASE("random configurations of " name " with every parameter value are right") { \
    check_random_configurations(check);                                                 \
  }                                                                                     \
  TEST_CASE("every parameter value of " name " is right for a tiny shape") {            \
    check_every_value_on_tiny_shape(check);                                             \
  }                                                                                     \
  TEST_CASE("a fault in " name " is found") { check_fault_is_found(check); }            \
  TEST_CASE("what " name " launches for a class of shapes is right for all of it") {    \
    check_class_launches(check);                                                        \
  }

#define IDLETUNE_CLASS_FAULT_TEST(name, check)                                              \
  TEST_CASE("faults of " name " that some classes show are found at each shape of those") { \
    check_class_faults(check);                                                              \
  }
