// One step of tuning for one candidate: which stage comes next, and what the outcomes say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <idletune/aims.hpp>
#include <idletune/configuration.hpp>
#include <idletune/device.hpp>

#include "agent/trial/trial.hpp"

namespace idletune {

struct StepOptions {
  std::array<std::uint32_t, 2> seeds{1, 2};  // input data of the two output checks
  std::uint32_t screening_runs = 2;
  double screening_factor = 1.25;   // slower than this times the incumbent: not a finalist
  double hopeless_factor = 4.0;     // slower than this: not even drift can explain it
  double margin = kAdoptionMargin;  // adopt only if at least this much faster
  std::uint32_t first_look = 5;     // pairs of runs before the first verdict of the finals; >= 1
  std::uint32_t max_pairs = 9;      // at most kMaxPairs
  double significance = 0.05;       // one-sided sign test over the pairs
  double deadline_factor = 20;      // a run's deadline over the incumbent's time...
  Nanoseconds shortest_deadline{std::chrono::seconds(2)};  // ...but never less (code generation)
  bool finals = true;  // false: `adopt` means that it got to the finals, which happen elsewhere
};

enum class TrialVerdict : std::uint8_t {
  pending = 0,
  adopt = 1,          // correct for all seeds and faster than the incumbent by the margin
  reject_slow = 2,    // correct as far as checked, but not faster by the margin
  reject_failed = 3,  // did not compile, run, or pass a check: see status()
  inconclusive = 4    // the incumbent itself failed: nothing is known about the candidate
};
const char* trial_verdict_name(TrialVerdict verdict);

// What the trial starts from.
struct CandidateContext {
  Shape shape;
  Configuration candidate;
  Configuration incumbent;
  Nanoseconds incumbent_time{0};    // as last measured; 0: no screening, straight to the finals
  bool candidate_compiled = false;  // in the runner that will make this trial
  bool incumbent_compiled = true;   // likewise
  std::array<bool, 2> prepared{};   // data of seeds[i] is there for this shape, likewise
  // The candidate passed both checks at another shape of the class: one of them is made again,
  // which warms up besides.
  bool checked_for_class = false;
  // Launches that a setup of the candidate is for, and of the incumbent where that was not made
  // yet: each run of the finals counts its share of it. 0: setups count nothing here.
  double launches_left = 0;
  bool incumbent_was_set_up = true;
};

// The order of play: compile; prepare and check one seed (one that is already prepared, if any);
// screening; and only for a promising candidate the second seed and the finals. (Both checks come
// before any adoption; the second is for the few that could be adopted.)
//
// Screening: up to `screening_runs` runs that stop above screening_factor x the incumbent's time. A
// candidate that looks too slow, but not hopeless, gets one run of the incumbent beside it and is
// judged by the ratio, since the clock may have drifted since the incumbent was measured.
//
// Finals: single runs in pairs, candidate and incumbent in alternating order (A B, B A, ...). After
// `first_look` pairs, and after each further one up to `max_pairs`: adopt if the median of the pair
// ratios (with setups, see CandidateContext) is at most 1 - margin and a one-sided sign test
// rejects "not faster" at `significance`; reject as soon as neither can happen any more, or the
// median says slower.
//
// Use: while next() gives a request, start it (now or in a later gap), hand its outcome to
// on_outcome. next() changes nothing. Pure logic, no clock. One thread.
class CandidateTrial {
 public:
  static constexpr std::size_t kMaxPairs = 15;

  CandidateTrial(const StepOptions& options, const CandidateContext& context);

  std::optional<TrialRequest> next() const;
  // Whether next()'s request concerns the incumbent (an intent record is for candidates only).
  bool next_is_incumbent() const;
  // What a run of next()'s configuration takes, as far as it is known; 0: not yet.
  Nanoseconds next_run() const {
    return next_is_incumbent() ? context_.incumbent_time : candidate_time();
  }
  // The outcome of next()'s request. Ignored when done or when its stage is another.
  void on_outcome(const TrialOutcome& outcome);

  bool done() const { return verdict_ != TrialVerdict::pending; }
  TrialVerdict verdict() const { return verdict_; }
  // Of the candidate: `correct` unless a stage said otherwise.
  TrialStatus status() const { return status_; }
  const std::string& message() const { return message_; }
  bool cut() const { return cut_; }  // its compilation was, which says nothing about it
  bool checked_all_seeds() const { return checked_ == 2; }
  // It got to the finals, which happen elsewhere.
  bool to_finals_elsewhere() const { return !options_.finals && verdict_ == TrialVerdict::adopt; }

  // The candidate's run time as it would have been when the incumbent took `incumbent_time`: the
  // median ratio of the pairs (of two the lower one; or of screening) times that. 0 if it never ran.
  Nanoseconds candidate_time() const;
  // t_candidate / t_incumbent, the figure behind candidate_time; 0 if unknown.
  double ratio() const;
  // Medians of the raw runs of the finals; 0 if there were none.
  Nanoseconds raw_candidate_median() const;
  Nanoseconds raw_incumbent_median() const;
  // By how much the candidate was faster in three quarters of the pairs; 0: it was not.
  Nanoseconds least_gain() const;
  Nanoseconds compile_time() const { return compile_time_; }
  Nanoseconds setup_time() const { return setup_; }  // of the candidate; 0: it has none
  std::size_t pairs() const { return pairs_; }
  const CandidateContext& context() const { return context_; }

 private:
  enum class State : std::uint8_t {
    compile,
    prepare,
    check,
    screen,
    incumbent_compile,
    anchor,
    finals,
    done
  };
  TrialStage stage() const;
  Nanoseconds times_incumbent(double factor) const;
  void on_failure(const TrialOutcome& outcome);
  void on_prepared();
  void on_checked();
  void on_screened(const TrialOutcome& outcome);
  void on_anchor(Nanoseconds incumbent);
  void on_finals_run(Nanoseconds time);
  void check_next_seed();
  void run_incumbent(State next);
  void judge_finals();
  bool can_still_win(std::uint32_t wins) const;
  std::uint32_t wins() const;
  // `setups`: with each run's share.
  double median_pair_ratio(bool setups) const;
  void note_setup(Nanoseconds setup);
  void finish(TrialVerdict verdict);

  StepOptions options_;
  CandidateContext context_;
  State state_ = State::compile;
  TrialVerdict verdict_ = TrialVerdict::pending;
  TrialStatus status_ = TrialStatus::correct;
  std::string message_;
  bool cut_ = false;
  State after_incumbent_compile_ = State::finals;
  std::size_t seed_ = 0;     // index of the seed whose data is in use
  std::size_t checked_ = 0;  // seeds that passed
  Nanoseconds compile_time_{0};
  Nanoseconds setup_{0};
  double candidate_share_ns_ = 0;  // of a run, by CandidateContext::launches_left
  double incumbent_share_ns_ = 0;
  Nanoseconds screening_time_{0};
  double screening_ratio_ = 0;
  std::array<double, kMaxPairs> candidate_ns_{};
  std::array<double, kMaxPairs> incumbent_ns_{};
  std::size_t pairs_ = 0;
  bool half_pair_ = false;  // the first run of the current pair is in
};

// Measuring what runs now (the default, or what a model picked) before anything is compared with
// it: compile, prepare, check, a warm-up by the check, then `runs` timed runs.
class ReferenceBaseline {
 public:
  // `compiled`, `prepared`: in the runner that will make the trial (`prepared`: for seeds[0]).
  ReferenceBaseline(const Shape& shape, const Configuration& configuration, bool compiled,
                    bool prepared, const StepOptions& options = {}, std::uint32_t runs = 5);
  std::optional<TrialRequest> next() const;
  void on_outcome(const TrialOutcome& outcome);
  bool done() const { return done_; }
  // Not `correct` if a stage failed; then there is no time.
  TrialStatus status() const { return status_; }
  const std::string& message() const { return message_; }
  Nanoseconds time() const { return time_; }  // median of the runs
  Nanoseconds compile_time() const { return compile_time_; }

 private:
  TrialStage after_compilation() const {
    return prepared_ ? TrialStage::check : TrialStage::prepare;
  }
  void take_samples(const TrialOutcome& outcome);

  Shape shape_;
  Configuration configuration_;
  std::uint32_t seed_;
  bool prepared_;
  std::uint32_t runs_;
  TrialStage stage_;
  bool done_ = false;
  TrialStatus status_ = TrialStatus::correct;
  std::string message_;
  Nanoseconds time_{0};
  Nanoseconds compile_time_{0};
};

// The chance of at least `wins` heads in `n` throws of a fair coin: the one-sided sign test. n
// <= 62.
double sign_test_p_value(std::uint32_t wins, std::uint32_t n);

}  // namespace idletune
