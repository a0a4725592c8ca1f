// Calls that the application makes itself, tuned like kernels while they are made: a codec's
// settings, a blocking factor, somebody else's kernel. The agent says with which configuration each
// call runs and is told what it took; journal, quarantine, ledger and explanation are the agent's.
//
//   idletune::CallDescription deflate;
//   deflate.name = "deflate";
//   deflate.parameters = {{"LEVEL", {6, 1, 2, 3, 4, 5, 7, 8, 9}}, {"MEMORY", {8, 6, 9}}};
//   deflate.dimensions = {"KIND"};
//   auto calls = idletune::open_calls(*agent, deflate);
//   auto call = calls->begin({kind});
//   ... call->configuration[0] ...
//   calls->end(*call, {idletune::TrialStatus::correct, took});
//   agent->idle(1ms);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/agent.hpp>
#include <idletune/tuner.hpp>

namespace idletune {

struct CallDescription {
  // With the parameters and dimensions, the identity of what is called: under another name nothing
  // is known of it. Names of parameters, dimensions and features are identifiers.
  std::string name;
  std::vector<TunerParameter> parameters;  // a space without constraints; first values: the default
  std::vector<std::string> dimensions;     // what tells problems apart, whole numbers of at least 0
  std::vector<std::string> features;       // further ones, numbers of at least 0
  // Who runs it, and in which version ("zlib 1.2.13 on a cortex-a76"): what was measured elsewhere
  // is tried early and trusted for nothing.
  std::string runs_on = "host";
  // By which share calls may become slower while they time a candidate.
  double max_slowdown = 0.05;
};

// A light handle; valid as long as its Agent. Any number of threads.
class TunedCalls {
 public:
  // A call that has begun: what it is to run with.
  struct Call {
    Problem problem;
    Configuration configuration;  // in the order of the parameters
    std::uint64_t number = 0;
  };

  // The application is about to make a call. Waits for nothing and allocates nothing once the
  // problem is known. What runs is the default, what was adopted, or in turn a candidate, as long as
  // the ledger bears what that may cost. Errors: invalid_argument (dimensions, features).
  Result<Call> begin(const Problem& problem);
  // It has ended. `run_time`: whatever is to become small, as long as it is one measure for all
  // calls of a problem: time, or time per byte where data differ in size; more than 0 and less than
  // 2^44 - 1, else it says nothing. Any other status than `correct` must be the configuration's
  // doing, else the call is not told to have ended: after `correctness` (its result is wrong) it
  // does not run at this problem again, after `crash` or `timeout` nowhere; after others it does
  // not run here now. Of the default they say nothing. What a failed call took is lost. Waits,
  // where it failed, while somebody tunes. A call that does not end is forgotten after 64 others.
  // Error: invalid_argument (it never began, has ended already, or was forgotten; a failed one's
  // problem or configuration is none of these calls', and it has not ended).
  Status end(const Call& call, const Measurement& measurement);

  // How many calls of the problem are still to come, as far as the application knows.
  void expect(const Problem& problem, double calls);
  // Errors: not_found.
  Result<Explanation> explain(const Problem& problem) const;
  std::size_t parameter_count() const;
  // "LEVEL=6 MEMORY=8".
  std::string text(const Configuration& configuration) const;

 private:
  friend Result<TunedCalls> open_calls(Agent& agent, const CallDescription& description);
  TunedCalls(detail::AgentState* agent, detail::KernelState* kernel)
      : agent_(agent), kernel_(kernel) {}
  detail::AgentState* agent_;    // of the Agent that made it
  detail::KernelState* kernel_;  // likewise
};

// From now on the agent tunes them: candidates are tried in the application's own calls alone, two
// or more of them in turn with what runs, whenever idle() or the background thread has looked. What
// was adopted earlier runs from the first call on. Errors: invalid_argument (names, values, shares).
Result<TunedCalls> open_calls(Agent& agent, const CallDescription& description);

}  // namespace idletune
