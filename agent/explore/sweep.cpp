#include "agent/explore/sweep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "agent/explore/common_identity.hpp"
#include "agent/explore/pace.hpp"
#include "models/core/digest.hpp"
#include "models/core/random.hpp"

namespace idletune::explore {
namespace {

constexpr std::size_t kLeastSmallShapes = 8;  // where all are large, the smallest count as small
// The problems most like another one: so many, and all of them so near (two dimensions twice as
// large, or one four times).
constexpr std::size_t kNearby = 4;
constexpr double kNear = 2;

std::string digest_of_shapes(const std::vector<Shape>& shapes) {
  std::string bytes;
  for (const Shape& shape : shapes) {
    for (const std::int64_t word : shape.words()) bytes += std::to_string(word) + ',';
    bytes += ';';
  }
  return hexadecimal(digest_of(bytes));
}

}  // namespace

Identity sweep_identity(const KernelPackage& package, const DeviceInfo& device,
                        const SweepSettings& settings) {
  Identity identity = common_identity(package, device, settings);
  identity["shapes"] = settings.shapes.size();
  identity["shapes_digest"] = digest_of_shapes(settings.shapes);
  if (!settings.chosen.empty()) identity["chosen"] = settings.chosen;
  return identity;
}

Sweep::Sweep(std::shared_ptr<const KernelPackage> package, const DeviceInfo& device,
             const std::vector<Configuration>& configurations, const SweepSettings& settings,
             TrialRunner& runner, journal::Journal& journal, Log& log)
    : package_(std::move(package)),
      device_key_(device.device_key()),
      driver_key_(device.driver_key()),
      configurations_(configurations),
      settings_(settings),
      runner_(runner),
      journal_(journal),
      log_(log),
      pairs_(configurations.size() * settings.shapes.size()),
      best_ns_(settings.shapes.size(), 0.0),
      by_extent_(settings.shapes.size()) {
  std::iota(by_extent_.begin(), by_extent_.end(), std::size_t{0});
  std::stable_sort(by_extent_.begin(), by_extent_.end(), [this](std::size_t a, std::size_t b) {
    return extent(settings_.shapes[a]) < extent(settings_.shapes[b]);
  });
  for (const Shape& shape : settings_.shapes) {
    logs_.emplace_back();
    for (const std::int64_t value : shape.values()) {
      logs_.back().push_back(std::log2(1.0 + std::abs(static_cast<double>(value))));
    }
  }
  for (const ExploredConfiguration& result : log.results()) note(result);
}

Sweep::Progress Sweep::progress() const { return {done_, pairs_.size(), left_out_, again_}; }

bool Sweep::stopped() {
  stopped_ = stopped_ || (*stop_)(progress());
  return stopped_;
}

Status Sweep::run(const std::function<bool(const Progress&)>& stop) {
  stop_ = &stop;
  stopped_ = false;
  Status status = sweep_all();
  again_ = true;
  stopped_ = false;
  if (status.ok() && !stopped()) status = time_finalists();
  const Status synced = log_.sync();
  return status.ok() ? synced : status;
}

// --- what is known ---

bool Sweep::all_done(std::size_t configuration) const {
  const auto first = pairs_.begin() + static_cast<std::ptrdiff_t>(number(configuration, 0));
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(settings_.shapes.size()),
                     [](const Pair& pair) { return pair.done; });
}

double Sweep::distance(std::size_t a, std::size_t b) const {
  double sum = 0;
  for (std::size_t i = 0; i < logs_[a].size(); ++i) sum += std::abs(logs_[a][i] - logs_[b][i]);
  return sum;
}

// Where nothing else is known to run, it does.
bool Sweep::far_too_slow_nearby(std::size_t configuration, std::size_t shape) const {
  if (settings_.far_too_slow <= 0 || best_ns_[shape] == 0) return false;
  std::array<std::pair<double, bool>, kNearby>
      nearest;  // how far, and whether it is too slow there
  nearest.fill({kNear, false});
  for (std::size_t s = 0; s < settings_.shapes.size(); ++s) {
    const double time = pairs_[static_cast<std::size_t>(number(configuration, s))].first_ns;
    const double away = time > 0 ? distance(s, shape) : kNear;
    if (away >= nearest.back().first) continue;
    nearest.back() = {away, time > settings_.far_too_slow * best_ns_[s]};
    std::sort(nearest.begin(), nearest.end());
  }
  return std::all_of(nearest.begin(), nearest.end(), [](const auto& near) { return near.second; });
}

bool Sweep::leave_out(std::size_t configuration, std::size_t shape) {
  Pair& pair = pairs_[static_cast<std::size_t>(number(configuration, shape))];
  if (pair.done || !far_too_slow_nearby(configuration, shape)) return pair.done;
  pair.done = pair.left_out = true;
  ++done_;
  ++left_out_;
  return true;
}

void Sweep::note(const ExploredConfiguration& result) {
  // Of a longer list, or of one of an earlier version, which had another configuration there.
  if (result.number >= pairs_.size() ||
      result.configuration !=
          configurations_[static_cast<std::size_t>(result.number) / settings_.shapes.size()])
    return;
  Pair& pair = pairs_[static_cast<std::size_t>(result.number)];
  if (pair.done) {
    ++pair.rounds;
    return;
  }
  pair.done = true;
  ++done_;
  if (result.samples.empty()) return;
  pair.first_ns = static_cast<double>(fastest(result.samples).count());
  double& best = best_ns_[static_cast<std::size_t>(result.number) % settings_.shapes.size()];
  if (best == 0 || pair.first_ns < best) best = pair.first_ns;
}

Status Sweep::record(ExploredConfiguration result) {
  result.unix_seconds = unix_seconds();
  if (Status status = log_.append(result); !status.ok()) return status;
  note(result);
  return log_.sync_if_due();
}

// What stands in the way of a configuration stands in the way of its problems that are left.
Status Sweep::record_rest(const ExploredConfiguration& why) {
  const std::size_t shapes = settings_.shapes.size();
  const std::size_t configuration = static_cast<std::size_t>(why.number) / shapes;
  for (std::size_t s = 0; s < shapes; ++s) {
    if (pairs_[static_cast<std::size_t>(number(configuration, s))].done) continue;
    ExploredConfiguration result = result_of(configuration, s);
    const auto plan = package_->plan(settings_.shapes[s], result.configuration);
    result.status = plan.ok() ? why.status : TrialStatus::constraints;
    result.message = plan.ok() ? why.message : plan.status().message();
    if (Status status = record(result); !status.ok()) return status;
  }
  return {};
}

journal::Trial Sweep::trial_of(std::size_t configuration) const {
  journal::Trial trial;
  trial.kernel = package_->digest();
  trial.device = device_key_;
  trial.driver = driver_key_;
  trial.shape = settings_.shapes[by_extent_.front()];
  trial.configuration = configurations_[configuration];
  return trial;
}

ExploredConfiguration Sweep::result_of(std::size_t configuration, std::size_t shape) const {
  ExploredConfiguration result;
  result.number = number(configuration, shape);
  result.configuration = configurations_[configuration];
  return result;
}

TrialRequest Sweep::request_of(TrialStage stage, std::size_t configuration,
                               std::size_t shape) const {
  TrialRequest request;
  request.stage = stage;
  request.shape = settings_.shapes[shape];
  request.configuration = configurations_[configuration];
  request.deadline = settings_.run_deadline;
  return request;
}

bool Sweep::exists(std::size_t configuration, std::size_t shape) const {
  return package_->plan(settings_.shapes[shape], configurations_[configuration]).ok();
}

// --- one configuration ---

Status Sweep::sweep_all() {
  std::vector<std::size_t> postponed;
  for (std::size_t c = 0; c < configurations_.size(); ++c) {
    if (all_done(c)) continue;
    if (stopped()) return {};
    Fate fate = Fate::done;
    if (Status status = sweep_one(c, false, fate); !status.ok()) return status;
    if (fate == Fate::postponed) postponed.push_back(c);
  }
  for (const std::size_t c : postponed) {
    if (stopped()) return {};
    Fate fate = Fate::done;
    if (Status status = sweep_one(c, true, fate); !status.ok()) return status;
  }
  return {};
}

Status Sweep::sweep_one(std::size_t configuration, bool last_chance, Fate& fate) {
  for (const std::size_t s : by_extent_) leave_out(configuration, s);
  if (all_done(configuration)) return {};
  ExploredConfiguration worst = result_of(configuration, 0);
  JournaledTrial trial(journal_, trial_of(configuration));
  if (const auto known = journal_.state().quarantine(trial.identity().key()); known) {
    worst.status = known->reason == journal::QuarantineReason::hang ? TrialStatus::timeout
                                                                    : TrialStatus::crash;
    worst.message = std::string("quarantined earlier (") +
                    journal::quarantine_reason_name(known->reason) + "): " + known->detail;
    return record_rest(worst);
  }
  fate = Fate::postponed;
  if (!last_chance && journal_.state().is_suspect(trial.identity().key())) return {};
  if (Status status = try_everywhere(configuration, trial, worst); !status.ok()) return status;
  // Somebody else may have killed the helper.
  if (trial.death_is_ambiguous() && !last_chance) return {};
  fate = Fate::done;
  trial.conclude(worst.status, worst.message);
  return worst.status == TrialStatus::correct ? Status() : record_rest(worst);
}

// `worst` says what ended it before its last problem, if anything did.
Status Sweep::try_everywhere(std::size_t configuration, JournaledTrial& trial,
                             ExploredConfiguration& worst) {
  if (Status status = compile(configuration, trial, worst); !status.ok()) return status;
  if (worst.status == TrialStatus::correct) {
    if (Status status = check(configuration, trial, worst); !status.ok()) return status;
  }
  const Nanoseconds compiled = worst.compile;
  bool first = true;
  for (const std::size_t s : by_extent_) {
    if (worst.status != TrialStatus::correct || stopped()) return {};
    if (leave_out(configuration, s)) continue;
    ExploredConfiguration result = result_of(configuration, s);
    if (first) result.compile = compiled;
    if (const auto plan = package_->plan(settings_.shapes[s], result.configuration); !plan.ok()) {
      result.status = TrialStatus::constraints;
      result.message = plan.status().message();
    } else if (Status status = time_runs(s, trial, result); !status.ok()) {
      return status;
    }
    first = false;
    switch (result.status) {
      case TrialStatus::correct:
      case TrialStatus::constraints:
      case TrialStatus::runtime: break;
      default: worst = result; continue;
    }
    if (Status status = record(result); !status.ok()) return status;
  }
  return {};
}

Status Sweep::run_stage(const TrialRequest& request, JournaledTrial& trial, TrialOutcome& outcome) {
  (void)trial.begin(request.stage, runner_.isolated());
  trial.handed_over();
  if (Status status = runner_.start(request); !status.ok()) {
    trial.ended();
    return status;
  }
  while (!runner_.poll(kPollSlice, outcome)) {
    if (settings_.give_up == nullptr || !settings_.give_up()) continue;
    trial.ended();
    return given_up();
  }
  trial.ended(outcome);
  return {};
}

// At the smallest problem where the configuration exists; nothing where it exists nowhere.
Status Sweep::compile(std::size_t configuration, JournaledTrial& trial,
                      ExploredConfiguration& result) {
  const auto somewhere = std::find_if(by_extent_.begin(), by_extent_.end(), [&](std::size_t shape) {
    return exists(configuration, shape);
  });
  if (somewhere == by_extent_.end()) return {};
  TrialOutcome outcome;
  const TrialRequest request = request_of(TrialStage::compile, configuration, *somewhere);
  if (Status status = run_stage(request, trial, outcome); !status.ok()) return status;
  result.compile = outcome.wall;
  if (outcome.status == TrialStatus::correct) return {};
  // A limit of the device is no constraint of the space.
  result.status =
      outcome.status == TrialStatus::constraints ? TrialStatus::runtime : outcome.status;
  result.message = "compile: " + outcome.message;
  return {};
}

// A problem at which the reference cannot run is passed over, but there must be one where it can:
// for the first configuration, that is, or it is the reference's fault.
Status Sweep::check(std::size_t configuration, JournaledTrial& trial,
                    ExploredConfiguration& result) {
  std::string refused;
  bool checked = false;
  const std::vector<std::size_t> shapes = checked_shapes(configuration);
  for (const std::size_t s : shapes) {
    TrialRequest request = request_of(TrialStage::check, configuration, s);
    request.seed = 1 + static_cast<std::uint32_t>(s % 2);
    TrialOutcome outcome;
    if (Status status = run_stage(request, trial, outcome); !status.ok()) return status;
    result.check += outcome.wall;
    result.max_error = std::max(result.max_error, outcome.max_error);
    checked = checked || outcome.status == TrialStatus::correct;
    if (outcome.status == TrialStatus::correct) continue;
    if (outcome.stage == TrialStage::prepare) {
      refused = outcome.message;
      continue;
    }
    result.status =
        outcome.status == TrialStatus::constraints ? TrialStatus::runtime : outcome.status;
    result.message = "check at " + package_->problem_text(request.shape) + ": " + outcome.message;
    return {};
  }
  if (checked || shapes.empty()) return {};
  result.status = TrialStatus::runtime;
  result.message = "no output can be checked at any problem: " + refused;
  return done_ > 0 ? Status() : Status(StatusCode::device_error, result.message);
}

// Drawn from the configuration, so that all problems get their turn.
std::vector<std::size_t> Sweep::checked_shapes(std::size_t configuration) const {
  std::vector<std::size_t> small;
  std::vector<std::size_t> large;
  for (const std::size_t s : by_extent_) {
    if (!exists(configuration, s)) continue;
    const double size = extent(settings_.shapes[s]);
    if (size <= settings_.small_extent || small.size() < kLeastSmallShapes) {
      small.push_back(s);
    } else if (size <= settings_.largest_extent) {
      large.push_back(s);
    }
  }
  std::vector<std::size_t> chosen;
  if (small.empty() || settings_.checks == 0) return chosen;
  chosen.push_back(small.front());
  Random random(settings_.seed ^ package_->space().key(configurations_[configuration]));
  small.erase(small.begin());
  while (chosen.size() < settings_.checks && !small.empty()) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(small.size()));
    chosen.push_back(small[static_cast<std::size_t>(at)]);
    small.erase(small.begin() + at);
  }
  if (!large.empty()) chosen.push_back(large[random.below(large.size())]);
  return chosen;
}

// --- times ---

// One run first: it tells whether the configuration is hopeless here, and how many more there is
// time for.
Status Sweep::time_runs(std::size_t shape, JournaledTrial& trial, ExploredConfiguration& result) {
  const auto configuration = static_cast<std::size_t>(result.number) / settings_.shapes.size();
  const double best = best_ns_[shape];
  TrialRequest request = request_of(TrialStage::measure, configuration, shape);
  // Caches are cold for a small part of a long run only.
  request.cold = best > 0.1 * static_cast<double>(settings_.measure_at_most.count());
  if (Status status = take_samples(request, trial, result); !status.ok()) return status;
  if (result.samples.empty()) return {};
  const double first = static_cast<double>(std::max<std::int64_t>(1, result.samples[0].count()));
  if (best > 0 && first > settings_.hopeless * best) return {};
  const double left = static_cast<double>(settings_.measure_at_most.count()) - first;
  const double more = std::min(left / first, static_cast<double>(settings_.repeats) - 1);
  if (more < 1) return {};
  request.repeats = static_cast<std::uint32_t>(more);
  return take_samples(request, trial, result);
}

Status Sweep::take_samples(const TrialRequest& request, JournaledTrial& trial,
                           ExploredConfiguration& result) {
  TrialOutcome outcome;
  if (Status status = run_stage(request, trial, outcome); !status.ok()) return status;
  result.measure += outcome.wall;
  result.setup = outcome.setup;
  if (outcome.status == TrialStatus::correct) {
    if (outcome.samples.empty()) {
      return Status(StatusCode::internal, "a measurement came back without a time");
    }
    result.samples.insert(result.samples.end(), outcome.samples.begin(), outcome.samples.end());
    return {};
  }
  // A device that has no room for one problem, or for the configuration there, has for others.
  const bool refused =
      outcome.status == TrialStatus::constraints || outcome.stage == TrialStage::prepare;
  result.status = refused && !outcome.ambiguous ? TrialStatus::runtime : outcome.status;
  result.message = "measure at " + package_->problem_text(request.shape) + ": " + outcome.message;
  result.samples.clear();
  return {};
}

// By configuration, the problems where it is among the best few.
std::vector<std::vector<std::size_t>> Sweep::finalists() const {
  std::vector<std::vector<std::size_t>> shapes_of(configurations_.size());
  for (const std::size_t s : by_extent_) {
    std::vector<std::pair<double, std::size_t>> timed;
    for (std::size_t c = 0; c < configurations_.size(); ++c) {
      const Pair& pair = pairs_[static_cast<std::size_t>(number(c, s))];
      if (pair.first_ns > 0) timed.emplace_back(pair.first_ns, c);
    }
    std::sort(timed.begin(), timed.end());
    if (timed.size() > settings_.finalists) timed.resize(settings_.finalists);
    for (const auto& [time, c] : timed) shapes_of[c].push_back(s);
  }
  return shapes_of;
}

Status Sweep::time_finalists() {
  const std::vector<std::vector<std::size_t>> shapes_of = finalists();
  for (std::uint32_t round = 1; round <= settings_.rounds; ++round) {
    for (std::size_t c = 0; c < shapes_of.size(); ++c) {
      if (shapes_of[c].empty()) continue;
      if (stopped()) return {};
      if (Status status = time_again(c, shapes_of[c], round); !status.ok()) return status;
    }
  }
  return {};
}

Status Sweep::time_again(std::size_t configuration, const std::vector<std::size_t>& shapes,
                         std::uint32_t round) {
  JournaledTrial trial(journal_, trial_of(configuration));
  ExploredConfiguration worst = result_of(configuration, 0);
  for (const std::size_t s : shapes) {
    if (pairs_[static_cast<std::size_t>(number(configuration, s))].rounds >= round) continue;
    if (stopped()) return {};
    ExploredConfiguration result = result_of(configuration, s);
    if (Status status = time_runs(s, trial, result); !status.ok()) return status;
    if (result.status != TrialStatus::correct) worst = result;
    if (Status status = record(result); !status.ok()) return status;
  }
  trial.conclude(worst.status, worst.message);
  return {};
}

bool Sweep::complete() const {
  if (done_ < pairs_.size()) return false;
  const std::vector<std::vector<std::size_t>> shapes_of = finalists();
  for (std::size_t c = 0; c < shapes_of.size(); ++c) {
    for (const std::size_t s : shapes_of[c]) {
      if (pairs_[static_cast<std::size_t>(number(c, s))].rounds < settings_.rounds) return false;
    }
  }
  return true;
}

}  // namespace idletune::explore
