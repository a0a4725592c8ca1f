// Ask/tell on a bench: whoever has time to measure asks for configurations of one problem. What an
// application calls anyway is tuned while it does (<idletune/calls.hpp>).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <idletune/aims.hpp>
#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune {

struct TunerParameter {
  std::string name;
  std::vector<std::int64_t> values;  // at least one; the first is the default
};

class SearchLearner;

struct TunerOptions {
  std::string name = "tuner";
  std::string package;                     // a kernel package's space; or
  std::vector<TunerParameter> parameters;  // a space without constraints
  // Path of an .itmodel that knows `name`, or the package's kernel. Empty: no model.
  std::string model;
  const SearchLearner* learner = nullptr;  // as AgentOptions::learner
  std::uint64_t seed = 0;                  // as AgentOptions::seed
  // r: satisfied at this share of the estimated optimum; and p_s. More than 0, at most 1.
  double wanted_ratio = kWellPerforming;
  double wanted_probability = kWantedProbability;
};

// What came of a configuration. `run_time` matters only for `correct`.
struct Measurement {
  TrialStatus status = TrialStatus::correct;
  Nanoseconds run_time{0};
};

// Used by one thread at a time. What was moved from can be assigned to and destroyed.
class Tuner {
 public:
  // Errors: invalid_argument, and those of reading a package or model.
  static Result<Tuner> open(const TunerOptions& options);
  Tuner(Tuner&&) noexcept;
  Tuner& operator=(Tuner&&) noexcept;
  ~Tuner();

  // The next configuration worth a measurement, never the same twice. Nothing when the space is
  // exhausted.
  std::optional<Configuration> ask();
  // Told again, a configuration is no further one: the best of its times counts, and after a
  // failure none. False, and nothing else: it is not in the space.
  bool tell(const Configuration& configuration, const Measurement& measurement);
  // The best correct one told so far, or the default (first values) before any.
  Configuration best() const;
  Nanoseconds best_time() const;  // 0 before any
  // Whether `launches` further uses would pay for more steps of `step_cost` each, by what was told
  // so far; while nothing of it was correct, whether anything is left to try. `reason`, if not
  // null, receives one sentence.
  bool pays(double launches, Nanoseconds step_cost, std::string* reason = nullptr) const;
  std::size_t told() const;  // configurations
  // "NAME=value NAME=value".
  std::string text(const Configuration& configuration) const;
  std::size_t parameter_count() const;
  const std::string& parameter_name(std::size_t index) const;  // empty behind the last

 private:
  class State;
  explicit Tuner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace idletune
