// Host side: a kernel's description as people write it, before it is compiled into a package.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/package/package_specs.hpp"
#include "models/space/space.hpp"

namespace idletune {

// An expression's text and where it stands ("gemm.xml:12"; may be empty), for messages.
struct DescribedExpression {
  std::string text;
  std::string where;
  DescribedExpression() = default;
  DescribedExpression(std::string t, std::string w = {})  // NOLINT: a text is an expression
      : text(std::move(t)), where(std::move(w)) {}
  DescribedExpression(const char* t) : text(t) {}  // NOLINT
  bool empty() const { return text.empty(); }
};

struct DescribedParameter {
  std::string name;
  ParameterKind kind = ParameterKind::other;
  std::vector<std::int64_t> values;
  std::int64_t default_value = 0;
};

struct DescribedArgument {
  std::string name;
  ArgumentKind kind = ArgumentKind::buffer;
  ScalarType type = ScalarType::f32;
  Access access = Access::in;
  bool constant = false;  // buffers
  Fill fill = Fill::zero;
  double fill_low = 0;
  double fill_high = 0;
  bool captured = false;            // tuned on what the application lent; `fill` without that
  DescribedExpression index_below;  // over dimensions, of every element; empty: it is no index
  // Buffers, scratch and prepared memory: elements; dimension arguments: the value; local memory:
  // bytes; scalars: empty.
  DescribedExpression size;
};

// Global and local sizes in work items, 1 to 3 of each.
struct DescribedLaunch {
  std::vector<DescribedExpression> global;
  std::vector<DescribedExpression> local;
  DescribedExpression local_memory_bytes;  // empty: 0
};

// One of several launches that a variant consists of.
struct DescribedStep {
  std::string entry;
  DescribedLaunch launch;
  std::vector<std::string> arguments;  // names, in the order of the kernel function's parameters
  DescribedExpression condition;       // empty: runs always
  std::string where;                   // for messages; may be empty
};

struct DescribedReference {
  std::string entry;                   // empty: the kernel itself
  DescribedLaunch launch;              // empty: the kernel's own
  std::vector<std::string> arguments;  // of an entry of its own; empty: all but scratch
  // Values that differ from the default configuration.
  std::vector<std::pair<std::string, std::int64_t>> configuration;
};

struct DescribedTolerance {
  double absolute = 0;
  double relative = 0;
  DescribedExpression scale;  // over dimensions; empty: 0
};

// A number that a problem has besides its dimensions.
struct DescribedFeature {
  std::string name;
  DescribedExpression value;            // over dimensions; empty: the application gives it
  DescribedExpression over;             // over dimensions, divides the value; empty: nothing does
  std::vector<std::string> categories;  // the names of 0, 1, ...; empty: a number
  std::string where;                    // for messages; may be empty
};

// What the expressions do not show of which shapes behave alike.
struct DescribedClassTerm {
  DescribedExpression of;
  DescribedExpression tile;  // empty: each value of `of` is a class of its own
};
struct DescribedClasses {
  std::vector<DescribedClassTerm> terms;
  std::vector<std::string> any;  // dimensions whose value makes no difference
  bool none = false;             // each shape is a class of its own
};

// What a family's member brings of its own, by names of the family.
struct DescribedMember {
  std::vector<std::string> parameters;
  DescribedClasses classes;
};

struct KernelDescription {
  std::string name;
  std::string where;  // file name for messages; may be empty
  std::string source;
  std::string source_file;  // its name in compilers' messages (portable dialect); may be empty
  std::string entry;        // empty where there are steps
  Dialect dialect = Dialect::portable;
  bool numbers = false;  // of a family: some member uses the portable dialect's further names
  bool compact = false;  // the package holds the source without comments and indentation
  std::string options;   // further compiler options
  std::vector<std::string> dimensions;
  std::vector<std::string> zero_dimensions;  // those that may be 0
  std::vector<DescribedFeature> features;
  std::vector<DescribedParameter> parameters;
  std::vector<DescribedExpression> constraints;
  DescribedLaunch launch;            // of a variant of one launch
  std::vector<DescribedStep> steps;  // of one of several; `entry` and `launch` are empty then
  std::vector<DescribedStep> setup;  // what runs once before them
  std::vector<DescribedArgument> arguments;
  DescribedReference reference;
  DescribedTolerance tolerance;
  DescribedExpression operations;  // of a launch, over dimensions; empty: not said
  DescribedClasses classes;
  // Of a family: the first parameter says which of them runs, and the parameters of the others have
  // their defaults then.
  std::vector<DescribedMember> members;
};

}  // namespace idletune
