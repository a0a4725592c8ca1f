#include "agent/host/lab/regret/regret.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/host/lab/known_kernel.hpp"
#include "agent/host/lab/regret/course.hpp"
#include "agent/host/lab/regret/tuning_run.hpp"
#include "models/core/random.hpp"

namespace idletune::regret {
namespace {

constexpr double kOverheadLimit = 0.02;  // as in AgentOptions
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
// Streams of random numbers that must not be those of the searcher.
constexpr std::uint64_t kStartStream = 0x7374617274;
constexpr std::uint64_t kKttStream = 0x6b7474;

double in_ms(double ns) { return ns * 1e-6; }

// What the application launches at first, and what it had to compile for that.
struct Beginning {
  std::size_t row = 0;
  double compile_ns = 0;
};

std::optional<std::size_t> row_of(const RegretTarget& target,
                                  const std::optional<FirstPick>& pick) {
  if (!pick) return std::nullopt;
  const std::optional<std::uint64_t> number = target.space().index_of(pick->configuration);
  if (!number) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

Beginning begin(const RegretTarget& target, std::optional<std::size_t> first_pick, Start start,
                std::uint64_t seed) {
  const RecordedDevice& device = target.device();
  const std::vector<std::size_t>& correct = device.by_time();
  Beginning beginning;
  if (start == Start::first_pick && first_pick) {
    beginning.compile_ns = real_ns(device.compile_time(*first_pick));
    if (device.correct(*first_pick)) {
      beginning.row = *first_pick;
      return beginning;
    }
  }
  beginning.row =
      start == Start::median
          ? correct[(correct.size() - 1) / 2]
          : correct[static_cast<std::size_t>(Random(seed ^ kStartStream).below(correct.size()))];
  beginning.compile_ns += real_ns(device.compile_time(beginning.row));
  return beginning;
}

// --- policies without decisions ---

double limit_ns(const RecordedDevice& device, double launches) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t row : device.by_time()) {
    least = std::min(least,
                     real_ns(device.compile_time(row)) + launches * real_ns(device.run_time(row)));
  }
  return least;
}

double first_pick_ns(const RecordedDevice& device, std::optional<std::size_t> pick,
                     const Beginning& beginning, double launches) {
  if (!pick) return kNotANumber;
  const double compile = real_ns(device.compile_time(*pick));
  if (device.correct(*pick)) return compile + launches * real_ns(device.run_time(*pick));
  // With Start::first_pick its compilation is in the beginning already.
  const double start = real_ns(device.compile_time(beginning.row));
  return compile + start + launches * real_ns(device.run_time(beginning.row));
}

// KTT's dynamic tuning, as far as it came: of use for any number of launches.
class KttRun {
 public:
  KttRun(const RecordedDevice& device, std::uint64_t seed)
      : device_(device), order_(device.rows(), seed ^ kKttStream) {
    double spent = 0;
    for (std::uint64_t i = 0; i < device.rows(); ++i) {
      const auto row = static_cast<std::size_t>(order_(i));
      if (device.status(row) == TrialStatus::constraints) continue;
      spent += real_ns(device.compile_time(row));
      if (!device.correct(row)) continue;  // the launch is made again with the next one
      spent += real_ns(device.run_time(row));
      after_.push_back(spent);
    }
    all_ = spent;
  }
  double total_ns(double launches) const {
    const auto tried = static_cast<double>(after_.size());
    if (launches <= tried) return after_[static_cast<std::size_t>(launches) - 1];
    return all_ + (launches - tried) * real_ns(device_.run_time(device_.by_time().front()));
  }

 private:
  const RecordedDevice& device_;
  Permutation order_;
  std::vector<double> after_;  // [i]: when launch i + 1 has ended
  double all_ = 0;             // when the last configuration has been tried, failed ones included
};

// Random search to the end, before the first launch.
class AlwaysRun {
 public:
  AlwaysRun(const RegretTarget& target, const Beginning& beginning, RegretOptions options,
            std::uint64_t seed)
      : spent_(beginning.compile_ns) {
    options.learner = nullptr;
    TuningRun run(target, nullptr, beginning.row, options, seed);
    while (const std::optional<Nanoseconds> cost = run.advance()) spent_ += real_ns(*cost);
    launch_ = real_ns(target.device().run_time(run.running()));
  }
  double total_ns(double launches) const { return spent_ + launches * launch_; }

 private:
  double spent_;
  double launch_ = 0;
};

// The applications of all lengths on one course: each follows the decision until that ends it; the
// clairvoyant looks back at the end.
class Applications {
 public:
  Applications(const RegretOptions& options, const RecordedDevice& device, const TuningRun& run,
               Course& course)
      : device_(device), run_(run), course_(course) {
    for (const double count : options.launches) each_.push_back({count});
    score_moment();
  }

  // Asks each application that is still tuning whether the next step shall be made; true if any
  // wants it, or the clairvoyant could gain by it.
  bool wants_step() {
    // A ledger that will never allow one step allows none after it.
    if (!std::isinf(next_launch_)) next_launch_ = course_.next_launch(run_.charge());
    bool wanted = false;
    for (One& one : each_) {
      if (!one.ended) ask(one);
      wanted = wanted || !one.ended || could_gain(one);
    }
    return wanted;
  }
  void made_step(Nanoseconds cost) {
    if (std::isinf(next_launch_)) return;
    for (One& one : each_) {
      if (!one.ended) cut(one);
      if (course_.total_ns(one.launches) + real_ns(cost) >
          course_.promised_ns(one.launches, kOverheadLimit)) {
        one.promise_kept = false;
      }
    }
    course_.make_step(next_launch_, cost, device_.run_time(run_.running()));
    score_moment();
  }
  // Nothing is left to try.
  void exhaust() {
    for (One& one : each_) {
      if (!one.ended) end(one, Verdict::stop, "Every configuration has been tried.");
    }
  }

  double total_ns(std::size_t i) const { return each_[i].total; }
  double clairvoyant_ns(std::size_t i) const { return each_[i].best; }
  double promised_clairvoyant_ns(std::size_t i) const { return each_[i].best_promised; }
  std::uint64_t clairvoyant_steps(std::size_t i) const { return each_[i].best_steps; }
  const TuningCourse& outcome(std::size_t i) const { return each_[i].outcome; }

 private:
  struct One {
    double launches = 0;
    bool ended = false;
    double total = 0;
    TuningCourse outcome{};
    double best = std::numeric_limits<double>::infinity();
    std::uint64_t best_steps = 0;
    bool promise_kept = true;  // by every step so far, had it been in vain
    double best_promised = std::numeric_limits<double>::infinity();
  };

  void ask(One& one) {
    // It may be over before the ledger allows anything.
    const bool over = next_launch_ >= one.launches;
    if (!run_.has_baseline()) {
      if (over) end(one, Verdict::wait, "The default has not been timed yet.");
      return;
    }
    const Decision decision = decide_at(over ? course_.launches() : next_launch_, one.launches);
    if (over || !run_.asks_for_step(decision)) {
      end(one, decision.verdict, std::string(decision.reason()));
    }
  }
  Decision decide_at(double launch, double launches) const {
    return run_.decide({launches - launch, course_.allowance_after(launch),
                        course_.promise_after(launch, kOverheadLimit)});
  }
  void end(One& one, Verdict verdict, std::string reason) {
    one.ended = true;
    one.outcome.verdict = verdict;
    one.total = course_.total_ns(one.launches);
    one.outcome.reason = std::move(reason);
    one.outcome.steps = run_.steps();
    one.outcome.tuning_ms = in_ms(course_.tuning_ns());
    one.outcome.overdrawn_ms = in_ms(course_.overdrawn_ns());
    one.outcome.final_relative =
        real_ns(device_.run_time(device_.by_time().front())) / real_ns(course_.launch());
  }
  // As the agent does it: a compilation ends where the promise would be broken. Nothing is left
  // then.
  void cut(One& one) {
    const Nanoseconds limit = left_of(course_.promise_after(next_launch_, kOverheadLimit),
                                      course_.launch(), one.launches - next_launch_);
    if (run_.compiled() <= limit) return;
    end(one, Verdict::stop, "A compilation took all that tuning may cost.");
    one.total += real_ns(limit);
    one.outcome.tuning_ms += in_ms(real_ns(limit));
  }
  void score_moment() {
    for (One& one : each_) {
      if (course_.launches() > one.launches) continue;
      const double total = course_.total_ns(one.launches);
      if (one.promise_kept) one.best_promised = std::min(one.best_promised, total);
      if (total >= one.best) continue;
      one.best = total;
      one.best_steps = run_.steps();
    }
  }
  // Whether any further step, however cheap and lucky, could beat the best moment so far.
  bool could_gain(const One& one) const {
    if (next_launch_ >= one.launches) return false;
    const double fastest = real_ns(device_.run_time(device_.by_time().front()));
    return course_.total_ns(next_launch_) + (one.launches - next_launch_) * fastest < one.best;
  }

  const RecordedDevice& device_;
  const TuningRun& run_;
  Course& course_;
  std::vector<One> each_;
  double next_launch_ = 0;
};

Status check(const RegretOptions& options) {
  for (const double launches : options.launches) {
    if (launches >= 1 && launches <= kMostLaunches && launches == std::floor(launches)) continue;
    return Status(StatusCode::invalid_argument,
                  "number of launches: expected whole numbers from 1 to 10^12");
  }
  return Status();
}

}  // namespace

const char* start_name(Start start) {
  switch (start) {
    case Start::first_pick: return "first_pick";
    case Start::random: return "random";
    case Start::median: return "median";
  }
  return "unknown";
}

const char* policy_name(Policy policy) {
  switch (policy) {
    case Policy::never: return "default";
    case Policy::first_pick: return "first_pick";
    case Policy::always: return "always";
    case Policy::ktt: return "ktt";
    case Policy::idletune: return "idletune";
    case Policy::idletune_no_ledger: return "idletune_no_ledger";
    case Policy::clairvoyant: return "clairvoyant";
    case Policy::clairvoyant_promise: return "clairvoyant_promise";
    case Policy::clairvoyant_ledger: return "clairvoyant_ledger";
    case Policy::limit: return "limit";
  }
  return "unknown";
}

std::vector<double> default_launches() {
  std::vector<double> launches;
  for (double power = 1; power <= 1e6; power *= 10) {
    launches.push_back(power);
    launches.push_back(3 * power);
  }
  launches.push_back(1e7);
  return launches;
}

Result<RegretTarget> RegretTarget::of(const History& history) {
  Result<Space> space = space_of(history);
  if (!space.ok()) return space.status();
  Result<RecordedDevice> device = RecordedDevice::of(history);
  if (!device.ok()) return device.status();
  return RegretTarget(history, std::move(*space), std::move(*device));
}

Result<std::vector<Application>> play_applications(const RegretTarget& target,
                                                   const std::shared_ptr<const KernelModel>& model,
                                                   const RegretOptions& options,
                                                   std::uint64_t seed) {
  if (Status status = check(options); !status.ok()) return status;
  const RecordedDevice& device = target.device();
  const Beginning beginning =
      begin(target, row_of(target, first_pick_on(model.get(), target.history(), target.space())),
            options.start, seed);
  const Nanoseconds launch = device.run_time(beginning.row);

  TuningRun run(target, model, beginning.row, options, seed);
  const std::optional<std::size_t> pick_row = run.first_pick();
  LedgerOptions account;
  account.share = kOverheadLimit;
  Course at_once(beginning.compile_ns, launch, std::nullopt);
  Course allowed(beginning.compile_ns, launch, account);
  Applications free(options, device, run, at_once);
  Applications bound(options, device, run, allowed);
  for (;;) {
    const bool wanted = free.wants_step();
    if (!bound.wants_step() && !wanted) break;
    const std::optional<Nanoseconds> cost = run.advance();
    if (!cost) break;
    free.made_step(*cost);
    bound.made_step(*cost);
  }
  free.exhaust();
  bound.exhaust();

  const KttRun ktt(device, seed);
  const AlwaysRun always(target, beginning, options, seed);
  std::vector<Application> results;
  for (std::size_t i = 0; i < options.launches.size(); ++i) {
    const double n = options.launches[i];
    Application one;
    one.launches = n;
    one.ledger = options.ledger;
    PerPolicy<double>& total = one.total_ms;
    total[Policy::never] = in_ms(beginning.compile_ns + n * real_ns(launch));
    total[Policy::first_pick] = in_ms(first_pick_ns(device, pick_row, beginning, n));
    total[Policy::always] = in_ms(always.total_ns(n));
    total[Policy::ktt] = in_ms(ktt.total_ns(n));
    total[Policy::idletune_no_ledger] = in_ms(free.total_ns(i));
    total[Policy::idletune] = in_ms(options.ledger ? bound.total_ns(i) : free.total_ns(i));
    total[Policy::clairvoyant] = in_ms(free.clairvoyant_ns(i));
    total[Policy::clairvoyant_promise] = in_ms(free.promised_clairvoyant_ns(i));
    total[Policy::clairvoyant_ledger] = in_ms(bound.clairvoyant_ns(i));
    total[Policy::limit] = in_ms(limit_ns(device, n));
    one.idletune = options.ledger ? bound.outcome(i) : free.outcome(i);
    one.idletune_no_ledger = free.outcome(i);
    one.clairvoyant_steps = free.clairvoyant_steps(i);
    one.clairvoyant_ledger_steps = bound.clairvoyant_steps(i);
    results.push_back(std::move(one));
  }
  return results;
}

History shuffled_results(const History& history, std::uint64_t seed) {
  History result = history;
  result.sample_count.assign(history.rows(), 0);
  result.samples.clear();
  result.extras.clear();
  const std::vector<std::size_t> rows = history.valid_rows();
  const Permutation dealt(std::max<std::size_t>(rows.size(), 1), seed);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t from = rows[static_cast<std::size_t>(dealt(i))];
    result.status[rows[i]] = history.status[from];
    result.run_time[rows[i]] = history.run_time[from];
    result.compile_time[rows[i]] = history.compile_time[from];
  }
  return result;
}

History sampled_rows(const History& history, std::size_t rows, std::uint64_t seed) {
  const std::vector<std::size_t> valid = history.valid_rows();
  if (rows >= valid.size()) return history;
  History sample = history;
  if (sample.valid_count == 0) sample.valid_count = valid.size();
  for (auto* column : {&sample.run_time, &sample.compile_time, &sample.samples}) column->clear();
  sample.status.clear();
  sample.extras.clear();
  for (CellColumn& column : sample.parameters) column = CellColumn(column.name());
  sample.sample_count.assign(rows, 0);
  const Permutation drawn(valid.size(), seed);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t from = valid[static_cast<std::size_t>(drawn(i))];
    sample.status.push_back(history.status[from]);
    sample.run_time.push_back(history.run_time[from]);
    sample.compile_time.push_back(history.compile_time[from]);
    for (std::size_t p = 0; p < history.parameters.size(); ++p) {
      sample.parameters[p].push_from(history.parameters[p], from);
    }
  }
  return sample;
}

}  // namespace idletune::regret
