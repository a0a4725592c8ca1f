#include "agent/scheduler/step_plan.hpp"

#include <algorithm>
#include <cmath>

#include "agent/scheduler/nanoseconds.hpp"
#include "models/core/median.hpp"
#include "models/core/order.hpp"

namespace idletune {
namespace {

// Nobody has timed the incumbent yet, so nothing bounds its run time but patience.
constexpr Nanoseconds kBaselineDeadline = std::chrono::seconds(60);

// Of the first `count` values.
template <std::size_t N>
double median_of(std::array<double, N> values, std::size_t count) {
  const Span<double> first(values.data(), count);
  sort_ascending(first);
  return median_of_ascending(first);
}

Nanoseconds fastest(const TrialOutcome& outcome) {
  Nanoseconds best{0};
  for (Nanoseconds sample : outcome.samples) {
    if (sample.count() > 0 && (best.count() == 0 || sample < best)) best = sample;
  }
  return best;
}

}  // namespace

const char* trial_verdict_name(TrialVerdict verdict) {
  switch (verdict) {
    case TrialVerdict::pending: return "pending";
    case TrialVerdict::adopt: return "adopt";
    case TrialVerdict::reject_slow: return "reject_slow";
    case TrialVerdict::reject_failed: return "reject_failed";
    case TrialVerdict::inconclusive: return "inconclusive";
  }
  return "unknown";
}

double sign_test_p_value(std::uint32_t wins, std::uint32_t n) {
  if (wins > n) return 0;
  double term = std::ldexp(1.0, -static_cast<int>(n));  // C(n, n) / 2^n
  double sum = 0;
  for (std::uint32_t k = n;; --k) {
    sum += term;
    if (k == wins) return sum;
    term = term * k / (n - k + 1);
  }
}

CandidateTrial::CandidateTrial(const StepOptions& options, const CandidateContext& context)
    : options_(options), context_(context) {
  options_.max_pairs = std::clamp<std::uint32_t>(options_.max_pairs, 1, kMaxPairs);
  options_.first_look = std::clamp<std::uint32_t>(options_.first_look, 1, options_.max_pairs);
  options_.screening_runs = std::max<std::uint32_t>(1, options_.screening_runs);
  if (context_.prepared[1] && !context_.prepared[0]) seed_ = 1;
  if (context_.candidate_compiled) {
    state_ = context_.prepared[seed_] ? State::check : State::prepare;
  }
}

TrialStage CandidateTrial::stage() const {
  switch (state_) {
    case State::compile:
    case State::incumbent_compile: return TrialStage::compile;
    case State::prepare: return TrialStage::prepare;
    case State::check: return TrialStage::check;
    default: return TrialStage::measure;
  }
}

bool CandidateTrial::next_is_incumbent() const {
  switch (state_) {
    case State::incumbent_compile:
    case State::anchor: return true;
    case State::finals: return (pairs_ % 2 == 0) == half_pair_;  // A B, B A, A B, ...
    default: return false;
  }
}

Nanoseconds CandidateTrial::times_incumbent(double factor) const {
  return from_ns(real_ns(context_.incumbent_time) * factor);
}

std::optional<TrialRequest> CandidateTrial::next() const {
  if (done()) return std::nullopt;
  TrialRequest request;
  request.stage = stage();
  request.shape = context_.shape;
  request.configuration = next_is_incumbent() ? context_.incumbent : context_.candidate;
  request.seed = options_.seeds[seed_];
  request.repeats = state_ == State::screen ? options_.screening_runs : 1;
  if (request.stage == TrialStage::check || request.stage == TrialStage::measure) {
    request.deadline =
        std::max(options_.shortest_deadline, times_incumbent(options_.deadline_factor));
  }
  if (state_ == State::screen) request.stop_above = times_incumbent(options_.screening_factor);
  return request;
}

void CandidateTrial::on_outcome(const TrialOutcome& outcome) {
  if (done()) return;
  if (outcome.status != TrialStatus::correct) {
    on_failure(outcome);
    return;
  }
  if (outcome.stage != stage()) return;
  if (outcome.setup.count() > 0) note_setup(outcome.setup);
  const Nanoseconds time = fastest(outcome);
  if (outcome.stage == TrialStage::measure && time.count() <= 0) {
    message_ = "a run was reported without a time";
    finish(TrialVerdict::inconclusive);
    return;
  }
  switch (state_) {
    case State::compile:
      compile_time_ = outcome.wall;
      state_ = context_.prepared[seed_] ? State::check : State::prepare;
      return;
    case State::prepare: return on_prepared();
    case State::check: return on_checked();
    case State::screen: return on_screened(outcome);
    case State::incumbent_compile:
      state_ = after_incumbent_compile_;
      context_.incumbent_compiled = true;
      return;
    case State::anchor: return on_anchor(time);
    case State::finals: return on_finals_run(time);
    case State::done: return;
  }
}

// A failed `prepare` or incumbent says nothing about the candidate. A check or measurement names
// the stage that failed where it had to make up for a missing one.
void CandidateTrial::on_failure(const TrialOutcome& outcome) {
  message_ = outcome.message;
  if (next_is_incumbent() || outcome.stage == TrialStage::prepare) {
    finish(TrialVerdict::inconclusive);
    return;
  }
  status_ = outcome.status;
  cut_ = outcome.cut;
  finish(TrialVerdict::reject_failed);
}

void CandidateTrial::on_prepared() {
  context_.prepared = {};
  context_.prepared[seed_] = true;
  state_ = State::check;
}

void CandidateTrial::on_checked() {
  ++checked_;
  if (checked_ == 1 && context_.incumbent_time.count() > 0) {
    state_ = State::screen;
  } else if (checked_ < 2) {
    check_next_seed();
  } else {
    run_incumbent(State::finals);
  }
}

// The fastest counts, as with runs: the first may have met cold code.
void CandidateTrial::note_setup(Nanoseconds setup) {
  const bool shared = context_.launches_left > 0;
  const double share = shared ? real_ns(setup) / context_.launches_left : 0;
  const auto less = [](double known, double now) { return known > 0 ? std::min(known, now) : now; };
  if (next_is_incumbent()) {
    if (!context_.incumbent_was_set_up) incumbent_share_ns_ = less(incumbent_share_ns_, share);
    return;
  }
  candidate_share_ns_ = less(candidate_share_ns_, share);
  setup_ = setup_.count() > 0 ? std::min(setup_, setup) : setup;
}

void CandidateTrial::check_next_seed() {
  if (context_.checked_for_class) {
    checked_ = 2;
    return run_incumbent(State::finals);
  }
  seed_ = 1 - seed_;
  state_ = context_.prepared[seed_] ? State::check : State::prepare;
}

void CandidateTrial::run_incumbent(State next) {
  if (next == State::finals && !options_.finals) return finish(TrialVerdict::adopt);
  after_incumbent_compile_ = next;
  state_ = context_.incumbent_compiled ? next : State::incumbent_compile;
}

void CandidateTrial::on_screened(const TrialOutcome& outcome) {
  screening_time_ = fastest(outcome);
  screening_ratio_ = real_ns(screening_time_) / real_ns(context_.incumbent_time);
  if (screening_ratio_ <= options_.screening_factor) {
    check_next_seed();
  } else if (screening_ratio_ > options_.hopeless_factor) {
    finish(TrialVerdict::reject_slow);
  } else {
    run_incumbent(State::anchor);
  }
}

void CandidateTrial::on_anchor(Nanoseconds incumbent) {
  screening_ratio_ = real_ns(screening_time_) / real_ns(incumbent);
  if (screening_ratio_ > options_.screening_factor) {
    finish(TrialVerdict::reject_slow);
  } else {
    check_next_seed();
  }
}

void CandidateTrial::on_finals_run(Nanoseconds time) {
  (next_is_incumbent() ? incumbent_ns_ : candidate_ns_)[pairs_] = real_ns(time);
  half_pair_ = !half_pair_;
  if (half_pair_) return;
  ++pairs_;
  judge_finals();
}

std::uint32_t CandidateTrial::wins() const {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < pairs_; ++i) {
    const double candidate = candidate_ns_[i] + candidate_share_ns_;
    count += candidate < incumbent_ns_[i] + incumbent_share_ns_ ? 1u : 0u;
  }
  return count;
}

double CandidateTrial::median_pair_ratio(bool setups) const {
  const double candidate = setups ? candidate_share_ns_ : 0;
  const double incumbent = setups ? incumbent_share_ns_ : 0;
  std::array<double, kMaxPairs> ratios{};
  for (std::size_t i = 0; i < pairs_; ++i) {
    ratios[i] = (candidate_ns_[i] + candidate) / (incumbent_ns_[i] + incumbent);
  }
  return median_of(ratios, pairs_);
}

bool CandidateTrial::can_still_win(std::uint32_t won) const {
  const auto played = static_cast<std::uint32_t>(pairs_);
  for (std::uint32_t n = std::max(played + 1, options_.first_look); n <= options_.max_pairs; ++n) {
    if (sign_test_p_value(won + n - played, n) <= options_.significance) return true;
  }
  return false;
}

void CandidateTrial::judge_finals() {
  const std::uint32_t won = wins();
  const double median = median_pair_ratio(true);
  if (pairs_ >= options_.first_look) {
    const double p = sign_test_p_value(won, static_cast<std::uint32_t>(pairs_));
    if (median <= 1.0 - options_.margin && p <= options_.significance) {
      finish(TrialVerdict::adopt);
      return;
    }
    // Nearer to the incumbent than to the margin: more pairs will hardly make it win.
    if (median >= 1.0 - options_.margin / 2) {
      finish(TrialVerdict::reject_slow);
      return;
    }
  }
  if (!can_still_win(won)) finish(TrialVerdict::reject_slow);
}

void CandidateTrial::finish(TrialVerdict verdict) {
  verdict_ = verdict;
  state_ = State::done;
}

// Of two pairs the better one: the clock may have changed within the other.
double CandidateTrial::ratio() const {
  if (pairs_ == 0) return screening_ratio_;
  if (pairs_ != 2) return median_pair_ratio(false);
  return std::min(candidate_ns_[0] / incumbent_ns_[0], candidate_ns_[1] / incumbent_ns_[1]);
}

Nanoseconds CandidateTrial::candidate_time() const {
  if (context_.incumbent_time.count() > 0) return times_incumbent(ratio());
  return raw_candidate_median();
}

Nanoseconds CandidateTrial::raw_candidate_median() const {
  return from_ns(median_of(candidate_ns_, pairs_));
}

Nanoseconds CandidateTrial::raw_incumbent_median() const {
  return from_ns(median_of(incumbent_ns_, pairs_));
}

Nanoseconds CandidateTrial::least_gain() const {
  std::array<Nanoseconds, kMaxPairs> gains{};
  for (std::size_t i = 0; i < pairs_; ++i) gains[i] = from_ns(incumbent_ns_[i] - candidate_ns_[i]);
  sort_ascending(Span<Nanoseconds>(gains.data(), pairs_));
  return gains[pairs_ / 4];
}

ReferenceBaseline::ReferenceBaseline(const Shape& shape, const Configuration& configuration,
                                     bool compiled, bool prepared, const StepOptions& options,
                                     std::uint32_t runs)
    : shape_(shape),
      configuration_(configuration),
      seed_(options.seeds[0]),
      prepared_(prepared),
      runs_(std::max<std::uint32_t>(1, runs)),
      stage_(compiled ? after_compilation() : TrialStage::compile) {}

std::optional<TrialRequest> ReferenceBaseline::next() const {
  if (done()) return std::nullopt;
  TrialRequest request;
  request.stage = stage_;
  request.shape = shape_;
  request.configuration = configuration_;
  request.seed = seed_;
  if (stage_ == TrialStage::measure) request.repeats = runs_;
  if (runs_configuration(stage_)) request.deadline = kBaselineDeadline;
  return request;
}

void ReferenceBaseline::on_outcome(const TrialOutcome& outcome) {
  if (done()) return;
  if (outcome.status != TrialStatus::correct) {
    // Where somebody killed the helper, that says nothing of the configuration.
    status_ = outcome.ambiguous ? TrialStatus::runtime : outcome.status;
    message_ = outcome.message;
    done_ = true;
    return;
  }
  if (outcome.stage != stage_) return;
  switch (stage_) {
    case TrialStage::compile:
      compile_time_ = outcome.wall;
      stage_ = after_compilation();
      return;
    case TrialStage::prepare: stage_ = TrialStage::check; return;
    case TrialStage::check: stage_ = TrialStage::measure; return;
    case TrialStage::measure: take_samples(outcome); return;
  }
}

void ReferenceBaseline::take_samples(const TrialOutcome& outcome) {
  done_ = true;
  std::vector<Nanoseconds> samples = outcome.samples;
  samples.erase(std::remove_if(samples.begin(), samples.end(),
                               [](Nanoseconds sample) { return sample.count() <= 0; }),
                samples.end());
  if (samples.empty()) {
    status_ = TrialStatus::runtime;
    message_ = "no run of the baseline was reported with a time";
    return;
  }
  sort_ascending(samples);
  time_ = median_of_ascending(samples);
}

}  // namespace idletune
