#include <idletune/tuner.hpp>

#include <algorithm>
#include <unordered_set>

#include "agent/api/model_file.hpp"
#include "agent/api/parameter_space.hpp"
#include "agent/signing/pushed_file.hpp"
#include "agent/tuning/shape_search.hpp"
#include "models/package/kernel_package.hpp"
#include "models/predict/model.hpp"
#include "models/space/product_space.hpp"
#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"

namespace idletune {

Result<Space> space_of(Span<const TunerParameter> parameters, Configuration& untuned) {
  std::vector<std::string> names;
  std::vector<std::vector<std::int64_t>> values;
  for (const TunerParameter& parameter : parameters) {
    names.push_back(parameter.name);
    values.push_back(parameter.values);
  }
  Result<Space> made = product_space(names, values);
  if (!made.ok()) return made;
  for (const std::vector<std::int64_t>& all : values) untuned.push_back(all.front());
  return made;
}

class Tuner::State {
 public:
  static Result<std::unique_ptr<State>> open(const TunerOptions& options);

  std::optional<Configuration> ask();
  bool tell(const Configuration& configuration, const Measurement& measurement);
  bool pays(double launches, Nanoseconds step_cost, std::string* reason) const;
  std::size_t told() const { return static_cast<std::size_t>(search_->evidence().evaluated); }

  Space space;
  std::vector<std::string> names;
  Configuration best() const { return best_.empty() ? default_ : best_.front().configuration; }
  Nanoseconds best_time() const { return best_.empty() ? Nanoseconds(0) : best_.front().time; }

 private:
  struct Timed {
    Configuration configuration;
    Nanoseconds time;
    Nanoseconds drawn;  // its time as a uniform draw; 0: it was none
  };
  static constexpr std::size_t kBest = 16;  // whose better times are told the search
  bool rank(const Proposal& proposal, Nanoseconds time);

  Status open_space(const TunerOptions& options);
  Status open_search(const TunerOptions& options);

  std::string name_;
  std::shared_ptr<const KernelPackage> package_;
  std::optional<ShapeSearch> search_;
  Configuration default_;
  std::vector<Timed> best_;                 // ascending
  std::unordered_set<std::uint64_t> told_;  // keys
  std::unordered_set<std::uint64_t> failed_;
  std::optional<Proposal> asked_;  // the last one, so that uniform draws are known as such
};

Result<std::unique_ptr<Tuner::State>> Tuner::State::open(const TunerOptions& options) {
  auto state = std::make_unique<State>();
  if (Status status = state->open_space(options); !status.ok()) return status;
  if (Status status = state->open_search(options); !status.ok()) return status;
  return state;
}

Status Tuner::State::open_space(const TunerOptions& options) {
  name_ = options.name;
  for (const double wanted : {options.wanted_ratio, options.wanted_probability}) {
    if (wanted > 0 && wanted <= 1) continue;
    return Status(StatusCode::invalid_argument,
                  "tuner '%': wanted_ratio and wanted_probability are shares, expected more than 0 "
                  "and at most 1",
                  name_);
  }
  if (!options.package.empty()) {
    if (!options.parameters.empty()) {
      return Status(StatusCode::invalid_argument,
                    "tuner '%': give a package or parameters, not both", name_);
    }
    Result<std::vector<std::uint8_t>> file =
        read_pushed_file(options.package, KernelPackage::kMaxBytes, nullptr);
    if (!file.ok()) return file.status();
    Result<std::shared_ptr<const KernelPackage>> package =
        KernelPackage::open(std::move(*file), options.package);
    if (!package.ok()) return package.status();
    package_ = *package;
    name_ = std::string(package_->name());
    space = package_->space();
    default_ = package_->default_configuration();
  } else {
    Result<Space> made = space_of(options.parameters, default_);
    if (!made.ok()) {
      return Status(made.code(), "tuner '%': %", name_, made.status().message());
    }
    space = *made;
  }
  for (std::size_t i = 0; i < space.parameter_count(); ++i) {
    names.emplace_back(space.parameter_name(i));
  }
  return {};
}

Status Tuner::State::open_search(const TunerOptions& options) {
  std::shared_ptr<const KernelModel> kernel;
  if (!options.model.empty()) {
    Result<std::shared_ptr<const Model>> model = read_model(options.model);
    if (!model.ok()) return model.status();
    kernel = KernelModel::of(*model, name_, space);
  }
  SearchSubject subject;
  subject.space = &space;
  subject.untuned = default_;
  subject.has_baseline = false;  // the application may want to be told to measure its default
  subject.seed = options.seed == 0 ? 1 : options.seed;
  subject.random_start = options.seed == 0 ? board_identity() : 0;
  subject.learner = options.learner;
  subject.target_ratio = options.wanted_ratio;
  subject.wanted_probability = options.wanted_probability;
  search_.emplace(std::move(subject), std::move(kernel));
  return {};
}

std::optional<Configuration> Tuner::State::ask() {
  asked_ = search_->next([](const Configuration&) { return Admission::admitted; });
  if (!asked_) return std::nullopt;
  return asked_->configuration;
}

bool Tuner::State::tell(const Configuration& configuration, const Measurement& measurement) {
  if (!space.contains(configuration)) return false;
  const bool timed = measurement.status == TrialStatus::correct && measurement.run_time.count() > 0;
  const std::uint64_t key = space.key(configuration);
  if (!timed) failed_.insert(key);
  const bool counts = failed_.count(key) == 0;
  const bool is_first = told_.insert(key).second;
  StepResult result;
  result.proposal = is_first && asked_ && asked_->configuration == configuration
                        ? *asked_
                        : Proposal{configuration, ProposalOrigin::application};
  const bool is_better = rank(result.proposal, counts ? measurement.run_time : Nanoseconds(0));
  if (is_first || is_better) {
    result.status = measurement.status == TrialStatus::correct && !timed
                        ? TrialStatus::runtime  // a correct run takes some time
                        : measurement.status;
    if (timed) result.time = measurement.run_time;
    search_->step_ended(result, is_first);
  }
  return true;
}

// 0: it failed. Whether that is the best time of one of the best configurations so far.
bool Tuner::State::rank(const Proposal& proposal, Nanoseconds time) {
  const auto known = std::find_if(best_.begin(), best_.end(), [&](const Timed& each) {
    return each.configuration == proposal.configuration;
  });
  Nanoseconds drawn = proposal.origin == ProposalOrigin::random ? time : Nanoseconds(0);
  if (known != best_.end()) {
    if (time >= known->time) return false;
    drawn = known->drawn;
    best_.erase(known);
    if (time.count() == 0) search_->took_back(drawn);
  }
  if (time.count() == 0) return false;
  const auto place =
      std::find_if(best_.begin(), best_.end(), [&](const Timed& each) { return each.time > time; });
  const bool is_told = static_cast<std::size_t>(place - best_.begin()) < kBest;
  best_.insert(place, {proposal.configuration, time, drawn});  // all: who is ahead may fail later
  return is_told;
}

bool Tuner::State::pays(double launches, Nanoseconds step_cost, std::string* reason) const {
  SearchSituation situation;
  situation.running = best();
  situation.running_time = best_time();
  situation.expected_launches = launches;
  situation.step.charge = step_cost;
  const Decision decision = search_->weigh(situation);
  if (reason != nullptr) *reason = std::string(decision.reason());
  // Before anything was right there is nothing to decide on: that one has to be found.
  const bool some_left = !space.indexed() || told() < space.valid_count();
  if (best_.empty()) return launches > 0 && some_left;
  return search_->asks_for_step(decision);
}

Tuner::Tuner(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tuner::Tuner(Tuner&&) noexcept = default;
Tuner& Tuner::operator=(Tuner&&) noexcept = default;
Tuner::~Tuner() = default;

Result<Tuner> Tuner::open(const TunerOptions& options) {
  Result<std::unique_ptr<State>> state = State::open(options);
  if (!state.ok()) return state.status();
  return Tuner(std::move(*state));
}

std::optional<Configuration> Tuner::ask() { return state_->ask(); }
bool Tuner::tell(const Configuration& configuration, const Measurement& measurement) {
  return state_->tell(configuration, measurement);
}
Configuration Tuner::best() const { return state_->best(); }
Nanoseconds Tuner::best_time() const { return state_->best_time(); }
bool Tuner::pays(double launches, Nanoseconds step_cost, std::string* reason) const {
  return state_->pays(launches, step_cost, reason);
}
std::size_t Tuner::told() const { return state_->told(); }
std::string Tuner::text(const Configuration& configuration) const {
  return to_text(state_->space, configuration);
}
std::size_t Tuner::parameter_count() const { return state_->names.size(); }
const std::string& Tuner::parameter_name(std::size_t index) const {
  static const std::string kNone;
  return index < state_->names.size() ? state_->names[index] : kNone;
}

}  // namespace idletune
