// The histories of a report, sorted into what can be compared with each other.
#pragma once

#include <deque>

#include "agent/host/report/common.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/space/space.hpp"

namespace idletune::report {

// A history and the name of the file that it came from.
struct Recording {
  History history;
  std::string file;
};

// One device of a group. Repeated runs of it are combined as `learn` does.
struct Source {
  std::string device;                        // differs from those of the group's other sources
  std::vector<const Recording*> recordings;  // at least one
  const History* history = nullptr;          // all of them together
  PerformanceDistribution distribution;
  std::uint64_t dropped_failures = 0;  // counted as failed in `distribution`, see there
};

// One kernel with one set of parameters at one problem size.
struct Group {
  std::string kernel;
  std::string title;            // differs from those of the other groups
  std::vector<Source> sources;  // at least one

  std::vector<const History*> histories() const;  // of its sources
};

// A kernel at one size on one device.
struct Pair {
  const Group* group;
  const Source* source;
  std::string name() const { return group->title + " on " + source->device; }
};

// Kinds of parameters by their names.
class ParameterKinds {
 public:
  // What a kernel's description says. It holds for that kernel, and for others of which nothing is
  // known (one tool's "gemm" is another one's "Xgemm"; the first description that has the name
  // counts).
  void describe(const std::string& kernel, const std::string& parameter, ParameterKind kind);
  // Holds for every kernel, whatever descriptions say.
  void decide(const std::string& parameter, ParameterKind kind);
  std::optional<ParameterKind> of(const std::string& kernel, const std::string& parameter) const;

 private:
  std::map<std::string, ParameterKind> decided_;
  std::map<std::pair<std::string, std::string>, ParameterKind> of_kernel_;
  std::map<std::string, ParameterKind> of_any_;
};

struct Study {
  std::deque<Recording> recordings;  // what `groups` point into, as
  std::deque<History> combined;      // are these
  std::vector<Group> groups;
  std::vector<std::string> warnings;  // what was left out, one line each
  ParameterKinds kinds;

  std::vector<Pair> pairs() const;
  std::size_t source_count() const { return pairs().size(); }
};

// A configuration of a history as the source had it: "WG=64 VECTOR=2"; numbers as numbers.
std::string configuration_text(const History& history, std::size_t row);
json configuration_object(const History& history, std::size_t row);

// Groups are in the order of their first history, sources likewise. Histories in which nothing ran
// correctly are left out with a warning.
Study study_of(std::vector<Recording> recordings, ParameterKinds kinds);

}  // namespace idletune::report
