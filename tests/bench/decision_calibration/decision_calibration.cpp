// What the decision promises against what then happens, on recorded devices that were left out of
// the model: the tables of agent/scheduler/results.md.
// usage: decision_calibration HISTORY...
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/host/lab/held_out_model.hpp"
#include "agent/host/lab/known_kernel.hpp"
#include "agent/host/lab/regret/regret.hpp"
#include "agent/scheduler/nanoseconds.hpp"
#include "agent/tuning/shape_search.hpp"
#include "models/host/history/import.hpp"
#include "platform/os/storage.hpp"

namespace idletune::bench {
namespace {

constexpr int kSteps = 64;
constexpr std::uint64_t kSeeds = 2;
constexpr double kRatio = 0.9;

struct Share {
  double hits = 0;
  double count = 0;
  void add(bool hit) {
    hits += hit;
    count += 1;
  }
};
struct Ratio {
  double promised = 0;
  double observed = 0;
  double count = 0;
  void add(double promise, double came) {
    promised += promise;
    observed += came;
    count += 1;
  }
};
// With a model and without one.
struct Tables {
  std::map<std::string, std::array<Share, 2>> held;    // intervals and percentiles
  std::map<std::string, std::array<Ratio, 2>> means;   // promised and observed
  std::vector<std::pair<double, double>> gains[2][2];  // of the next 1 and 16 steps
};

// One search on a recorded device, and what is promised before each of its steps.
class Play {
 public:
  Play(const regret::RegretTarget& target, std::shared_ptr<const KernelModel> model,
       std::size_t start, std::uint64_t seed, Tables& tables)
      : target_(target),
        device_(target.device()),
        with_(model != nullptr ? 0 : 1),
        tables_(tables),
        running_(start),
        search_(subject_of(target, start, seed), std::move(model)) {
    best_ = real_ns(device_.run_time(device_.by_time().front()));
    for (const std::size_t row : device_.by_time()) {
      well_ += real_ns(device_.run_time(row)) <= best_ / kRatio ? 1 : 0;
    }
    well_ /= static_cast<double>(device_.rows());
    StepResult baseline;
    baseline.proposal = {target_.space().at(start), ProposalOrigin::application};
    baseline.time = device_.run_time(start);
    search_.baseline_ended(baseline);
  }

  void run() {
    std::vector<double> times{real_ns(device_.run_time(running_))};
    std::vector<std::array<double, 2>> promised;
    for (int step = 0; step < kSteps; ++step) {
      note_beliefs(step);
      promised.push_back({gain_of(1), gain_of(16)});
      if (!make_step(step)) break;
      times.push_back(real_ns(device_.run_time(running_)));
    }
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      const auto gained = [&](std::size_t k) {
        return 1 - times[std::min(i + k, times.size() - 1)] / times[i];
      };
      tables_.gains[with_][0].push_back({promised[i][0], gained(1)});
      if (i + 16 < times.size()) tables_.gains[with_][1].push_back({promised[i][1], gained(16)});
    }
  }

 private:
  static SearchSubject subject_of(const regret::RegretTarget& target, std::size_t start,
                                  std::uint64_t seed) {
    SearchSubject subject;
    subject.space = &target.space();
    subject.untuned = target.space().at(start);
    subject.shape = target.history().shape;
    subject.device = target.history().device;
    subject.seed = seed;
    return subject;
  }
  SearchSituation situation() const {
    SearchSituation now;
    now.running = target_.space().at(running_);
    now.running_time = device_.run_time(running_);
    now.expected_launches = 1e15;
    now.step.charge = Nanoseconds{1};
    return now;
  }
  // Of the best of the next k steps, as a share of a launch.
  double gain_of(std::uint64_t k) const {
    DecisionInput input =
        decision_input(search_.evidence(), search_.subject(), situation(), search_.outlook());
    input.remaining_configurations = k;
    const Decision decision = decide(input);
    return decision.gain_ns / 1e15 / real_ns(situation().running_time);
  }
  void note_beliefs(int step) {
    for (const int at : {0, 4, 16, 63}) {
      if (step != at) continue;
      const Decision now = search_.weigh(situation());
      const std::string after = " after " + std::to_string(at) + " steps";
      const bool holds = now.best_low_ns <= best_ * 1.0001 && best_ <= now.best_high_ns * 1.0001;
      tables_.held["t_best" + after][with_].add(holds);
      // Nothing can be above the fastest seen: an interval that ends there has one tail only.
      const bool one_tail = now.best_high_ns >= 0.9999 * real_ns(search_.evidence().best_here);
      tables_.means["t_best in its interval" + after][with_].add(one_tail ? 0.9 : 0.8, holds);
      tables_.held["p_b" + after][with_].add(now.fraction_low <= well_ &&
                                             well_ <= now.fraction_high);
      tables_.means["expected steps (ln)" + after][with_].add(
          std::log(now.expected_steps), std::log(std::log(0.1) / std::log1p(-well_)));
    }
  }
  void observe(const TrialRequest& request, const TrialOutcome& outcome, Nanoseconds own) {
    StageContext context;
    context.incumbent_run = device_.run_time(running_);
    context.own_run = own;
    StageEstimates& estimates = search_.estimates();
    const bool first_check = request.stage == TrialStage::check && own.count() == 0;
    const bool known = estimates.observations(request.stage) > 0;
    if (known && (first_check || request.stage == TrialStage::compile)) {
      tables_.held[first_check ? "first checks" : "compilations"][with_].add(
          outcome.wall <= estimates.predict(request, context));
    } else if (known && request.stage == TrialStage::measure && own.count() == 0) {
      tables_.held["screenings"][with_].add(outcome.wall <= estimates.predict(request, context));
    }
    estimates.observe(request, outcome, context);
  }
  bool make_step(int step) {
    const auto admission = [&](const Configuration& configuration) {
      return target_.space().index_of(configuration) == running_ ? Admission::refused
                                                                 : Admission::admitted;
    };
    StageContext context;
    context.incumbent_run = device_.run_time(running_);
    const StageEstimates::StepCost cost = search_.estimates().typical_step(context);
    const auto pick = search_.first_pick();
    const std::optional<Proposal> proposal = search_.next(admission);
    if (!proposal) return false;
    const auto row = static_cast<std::size_t>(*target_.space().index_of(proposal->configuration));
    if (proposal->origin == ProposalOrigin::first_pick && pick && device_.correct(row)) {
      tables_.means["q of the first pick"][with_].add(pick->expected_relative_performance,
                                                      best_ / real_ns(device_.run_time(row)));
    }
    CandidateContext candidate;
    candidate.incumbent_time = device_.run_time(running_);
    CandidateTrial trial(StepOptions(), candidate);
    StageEstimates::StepCost took;
    while (const std::optional<TrialRequest> request = trial.next()) {
      const std::size_t of = trial.next_is_incumbent() ? running_ : row;
      const TrialOutcome outcome = device_.outcome(*request, of);
      observe(*request, outcome, trial.next_run());
      (request->stage == TrialStage::compile ? took.cpu : took.device) += outcome.wall;
      trial.on_outcome(outcome);
    }
    if (step >= 5) {
      tables_.means["cost of a step: compiling"][with_].add(
          1, real_ns(took.cpu) / std::max(1.0, real_ns(cost.cpu)));
      tables_.means["cost of a step: device"][with_].add(
          1, real_ns(took.device) / std::max(1.0, real_ns(cost.device)));
    }
    search_.step_ended(StepResult::of(*proposal, trial));
    if (trial.verdict() == TrialVerdict::adopt) running_ = row;
    return true;
  }

  const regret::RegretTarget& target_;
  const regret::RecordedDevice& device_;
  std::size_t with_;
  Tables& tables_;
  std::size_t running_;
  ShapeSearch search_;
  double best_ = 0;
  double well_ = 0;
};

void print_gains(std::vector<std::pair<double, double>> gains, const char* what) {
  std::sort(gains.begin(), gains.end());
  std::printf("%s, %zu promises, tenths of promised / observed in %% of a launch:", what,
              gains.size());
  for (std::size_t tenth = 0; tenth < 10 && !gains.empty(); ++tenth) {
    Ratio part;
    for (std::size_t i = tenth * gains.size() / 10; i < (tenth + 1) * gains.size() / 10; ++i) {
      part.add(gains[i].first, gains[i].second);
    }
    const double count = std::max(1.0, part.count);
    std::printf(" %.2g/%.2g", 100 * part.promised / count, 100 * part.observed / count);
  }
  Ratio all;
  for (const auto& each : gains) all.add(each.first, each.second);
  std::printf("; ratio %.2f\n", all.promised / all.observed);
}

void print(const Tables& tables) {
  std::printf("| held, of so many | with a model | without |\n|---|---|---|\n");
  for (const auto& [name, both] : tables.held) {
    std::printf("| %s |", name.c_str());
    for (const Share& share : both) {
      std::printf(" %.0f %% of %.0f |", 100 * share.hits / share.count, share.count);
    }
    std::printf("\n");
  }
  std::printf("| mean promised / observed | with a model | without |\n|---|---|---|\n");
  for (const auto& [name, both] : tables.means) {
    std::printf("| %s |", name.c_str());
    for (const Ratio& ratio : both) {
      std::printf(" %.3g / %.3g |", ratio.promised / ratio.count, ratio.observed / ratio.count);
    }
    std::printf("\n");
  }
  for (std::size_t with = 0; with < 2; ++with) {
    const std::string model = with == 0 ? "with a model" : "without";
    print_gains(tables.gains[with][0], ("next step, " + model).c_str());
    print_gains(tables.gains[with][1], ("next 16, " + model).c_str());
  }
}

int run(const std::vector<std::string>& paths) {
  std::vector<History> histories;
  for (const std::string& path : paths) {
    const auto bytes = read_file(path, std::size_t{1} << 30);
    if (!bytes.ok()) return std::fprintf(stderr, "%s\n", bytes.status().message().c_str()), 1;
    auto read = import_histories(*bytes, path);
    if (!read.ok()) return std::fprintf(stderr, "%s\n", read.status().message().c_str()), 1;
    for (History& history : *read) histories.push_back(std::move(history));
  }
  std::vector<const History*> all;
  for (const History& history : histories) all.push_back(&history);
  Tables tables;
  for (const History& history : histories) {
    const auto target = regret::RegretTarget::of(history);
    if (!target.ok()) continue;
    const std::vector<const History*> others = without_device_of(history, all);
    const auto learned = learn_held_out(history, others);
    const std::shared_ptr<const KernelModel> model =
        learned.ok() ? known_kernel(*learned, history, target->space()).model : nullptr;
    const std::vector<std::size_t>& rows = target->device().by_time();
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      for (const std::size_t start : {rows.size() / 4, rows.size() / 2}) {
        if (model != nullptr) Play(*target, model, rows[start], seed, tables).run();
        Play(*target, nullptr, rows[start], seed, tables).run();
      }
    }
  }
  print(tables);
  return 0;
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: decision_calibration HISTORY...\n");
    return 2;
  }
  return idletune::bench::run(std::vector<std::string>(argv + 1, argv + argc));
}
