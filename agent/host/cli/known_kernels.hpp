// What kernel packages say about the kernels of histories.
#pragma once

#include "agent/host/report/common.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/history/history.hpp"
#include "models/host/pack/work.hpp"

namespace idletune::cli {

// What is known of a history beyond its rows.
struct KernelFacts {
  double default_ns = 0;           // of the default configuration; 0: not known
  std::optional<KernelWork> work;  // with that configuration
  std::string work_from;           // the file that says so
};

// For pages.
report::KnownRates rates_of(double default_ns, const std::optional<KernelWork>& work);

// What `idletune explore` noted about the default; an empty object without it.
json default_note(const History& history);
// The run time of the default configuration by that; 0: not noted.
double default_time_ns(const History& history);

// They are those of its space, in that order.
bool has_parameters(const KernelPackage& package, const std::vector<std::string>& names);

class KnownKernels {
 public:
  // Packages or descriptions that the user named. Errors: those of reading them.
  static Result<KnownKernels> open(const std::vector<std::string>& files);
  // By the named file of the history's kernel; else by the package of that name that ships, if it
  // has the same parameters. The default's time is what `explore` noted, or that of its row.
  KernelFacts about(const History& history) const;

 private:
  struct Opened {
    std::string file;
    std::shared_ptr<const KernelPackage> package;
  };
  static Result<Opened> open_one(const std::string& file);
  std::optional<Opened> package_of(const History& history) const;

  std::vector<Opened> named_;
};

}  // namespace idletune::cli
