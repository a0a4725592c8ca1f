// A trial: trying one configuration of one kernel at one shape, in stages, behind an interface that
// hides whether it happens in a separate process (the default) or in this one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/device.hpp>
#include <idletune/result.hpp>

namespace idletune {

enum class TrialStage : std::uint8_t {
  compile = 0,  // build the variant (CPU only; may outlive the gap)
  prepare = 1,  // allocate and fill scratch buffers of the shape and run the reference for `seed`
  check = 2,    // run once on fresh inputs of `seed`, compare every element; serves as warm-up
  measure = 3   // up to `repeats` timed runs
};

// Whether the stage runs the configuration at its shape (a compilation launches it once on a
// small one, where drivers generate code).
constexpr bool runs_configuration(TrialStage stage) {
  return stage == TrialStage::check || stage == TrialStage::measure;
}

// One stage of a trial. Plain data, serialisable (agent/trial/trial_wire.hpp).
struct TrialRequest {
  TrialStage stage = TrialStage::compile;
  Shape shape;
  Configuration configuration;
  std::uint32_t seed = 1;        // input data of prepare and check
  std::uint32_t repeats = 1;     // measure
  Nanoseconds deadline{0};       // per run on the device; 0: none
  Nanoseconds compile_limit{0};  // compile, in a helper: it is ended then; 0: at some time
  Nanoseconds stop_above{0};     // measure: stop after the first run slower than this; 0: never
  bool cold = false;     // measure: no run beforehand that is not timed, where one takes too long
  std::string captured;  // file of arguments that the application lent; empty: none
  std::uint64_t captured_digest = 0;  // of what has to be in it
  bool only_warm_up =
      false;  // prepare: run the reference once, on a small problem, and keep nothing
  bool ignore_device_limits = false;  // tests only: let a too big configuration reach the driver
};

// What became of the reference in the helper that a stage ran in, before anything else ran there.
enum class ReferenceRun : std::uint8_t {
  none,   // nobody knows: no helper started, others killed it, or none was needed
  well,   // it came to an end; if it has failed, `prepare` says more
  failed  // or hung; where an earlier helper died, the device did not survive that
};

struct TrialOutcome {
  // The stage that ended or failed. check and measure make up for a missing compile or prepare, and
  // then it may be an earlier one than asked for. A failed `prepare` (no helper, no memory, a
  // broken reference) says nothing about the configuration.
  TrialStage stage = TrialStage::compile;
  TrialStatus status = TrialStatus::correct;
  std::string message;               // why not correct; empty otherwise
  std::vector<Nanoseconds> samples;  // measure: one device time per run, in order
  Nanoseconds setup{0};              // check and measure: of the variant's setup; 0: it has none
  Nanoseconds wall{0};               // what the whole stage took, as the tuner must budget it
  Nanoseconds frozen{0};             // besides, while a helper's supervisor did not run
  Nanoseconds device{0};             // of `wall`, time the device was occupied
  Nanoseconds processor{0};          // processor time that the helper had; 0: unknown
  double max_error = 0;              // check: largest |out-ref| / allowed; <= 1 passes
  // A failed `compile` that was ended at its limit, which says nothing about the configuration.
  bool cut = false;
  // A crash, or a failed `prepare`: somebody else may have killed the helper.
  bool ambiguous = false;
  ReferenceRun reference = ReferenceRun::none;
};

// Runs stages one at a time. Used by one thread.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  // Starts a stage and returns; it may run on after this returns. Error `busy` while one is
  // running.
  virtual Status start(const TrialRequest& request) = 0;
  // Waits at most `wait` (0: just looks). True and `outcome` filled when the stage has ended (a
  // dead or killed helper is an outcome: crash or timeout); false while it still runs.
  virtual bool poll(Nanoseconds wait, TrialOutcome& outcome) = 0;
  // Between stages, now and then: a process that ran them and has died since is not left a zombie.
  virtual void reap() {}
  // Whether a crash of the configuration is survived by this process.
  virtual bool isolated() const = 0;
  // True after a run outlived its deadline in this process or spoilt the device for it: no further
  // trial may be started here.
  virtual bool poisoned() const = 0;
};

}  // namespace idletune
