#include "agent/retraining/tree_retraining.hpp"

#include <algorithm>
#include <utility>

#include "agent/retraining/retrained_model.hpp"
#include "models/core/digest.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

constexpr std::size_t kLeastRows = Comparison::kLeastRows;
constexpr std::size_t kLeastNews = 16;  // measurements after which it is tried again, and
constexpr std::size_t kNewsShare = 4;   // one for so many that there were
constexpr Nanoseconds kStageLimit = std::chrono::milliseconds(50);
constexpr unsigned kMostPatience = 1u << 20;
constexpr Nanoseconds kFirstGuess = std::chrono::milliseconds(2);  // of a stage never seen

}  // namespace

bool TreeRetraining::is_due() const {
  const KernelModel* model = kernel_.model.get();
  if (model == nullptr || model->knowledge->source_count() == 0) return false;
  const std::uint64_t now = journal_.measurements_applied();
  return now >= measurements_ + kLeastNews + measurements_ / kNewsShare;
}

bool TreeRetraining::step(Nanoseconds left, std::shared_ptr<const KernelModel>& model) {
  if (phase_ != Phase::rests && judged_against_ != kernel_.model) end();  // another one was pushed
  if (phase_ == Phase::rests) {
    if (judged_against_ != kernel_.model) measurements_ = 0;
    if (!is_due()) return false;
  }
  Nanoseconds& stage = stages_[static_cast<std::size_t>(phase_)];
  const Nanoseconds expected = stage.count() > 0 ? stage + stage / 2 : kFirstGuess;
  if (expected > left) {
    if (++misses_ % patience_ == 0) stage = expected / 2;
    return false;
  }
  misses_ = 0;
  const Nanoseconds start = clock_.now();
  switch (phase_) {
    case Phase::rests: begin(); break;
    case Phase::reads: read_next(); break;
    case Phase::prepares: prepare(); break;
    case Phase::judges: judge_next(); break;
    case Phase::grows: take_over(model); break;
  }
  const Nanoseconds took = clock_.now() - start;
  longest_ = std::max(longest_, took);
  stage = std::max(stage, took);
  if (took > expected && patience_ < kMostPatience) patience_ *= 2;
  // The tree that is grown is one more of those judged, of all rows.
  if (phase_ == Phase::grows) stages_.back() = std::max(stages_.back(), stage);
  if (took > kStageLimit) most_rows_ = std::max(most_rows_ / 2, 2 * kLeastRows);
  return true;
}

// The problems at which the default was measured.
void TreeRetraining::begin() {
  const DeviceInfo& device = kernel_.state->device().info();
  const KernelPackage& package = kernel_.state->package();
  measurements_ = journal_.measurements_applied();
  judged_against_ = kernel_.model;
  identity_.kernel = package.digest();
  identity_.device = device.device_key();
  identity_.driver = device.driver_key();
  journal::TrialKey key = identity_.key();
  key.configuration = digest_of(package.default_configuration());
  rows_.clear();
  journal_.for_each_shape_of(key, [this](const journal::Measurement& measurement) {
    if (measurement.status != TrialStatus::correct || rows_.size() >= most_rows_) return;
    rows_.emplace_back();
    rows_.back().shape = measurement.trial.shape;
    rows_.back().untuned = measurement.median;
  });
  next_ = 0;
  phase_ = Phase::reads;
  if (rows_.size() < kLeastRows) end();
}

void TreeRetraining::read_next() {
  const KernelPackage& package = kernel_.state->package();
  const Shape shape = rows_[next_].shape;
  const Shape inputs = package.inputs().with_features(shape);
  const auto pick =
      first_pick(*kernel_.model->knowledge, package.space(), inputs,
                 kernel_.state->device().info().name, package.default_configuration());
  const Configuration& old = pick ? pick->configuration : package.default_configuration();
  journal::ShapeKey key = identity_.shape_key();
  key.shape = digest_of(shape);
  rows_[next_] = read_row(journal_, key, digest_of(old), rows_[next_].untuned);
  rows_[next_].shape = shape;
  rows_[next_].inputs = inputs;
  if (++next_ == rows_.size()) phase_ = Phase::prepares;
}

void TreeRetraining::prepare() {
  measured_ = lesson_of(journal_, identity_, rows_);
  for (MeasuredRow& row : rows_) row.cells = {};
  contest_ = Contest(rows_.size());
  next_ = 0;
  phase_ = Phase::judges;
  if (measured_.configurations.size() < 2) end();
}

void TreeRetraining::judge_next() {
  if (contest_.next(measured_, rows_)) return;
  phase_ = Phase::grows;
  if (!contest_.comparison().better()) end();
}

void TreeRetraining::take_over(std::shared_ptr<const KernelModel>& model) {
  auto grown =
      with_tree(*kernel_.model, kernel_.state->package(), kernel_.state->device().info().name,
                measured_, contest_.winner(measured_));
  if (grown != nullptr) {
    model = judged_against_ = std::move(grown);
    ++replaced_;
  }
  end();
}

void TreeRetraining::end() {
  phase_ = Phase::rests;
  ++trainings_;
  rows_ = {};
  measured_ = {};
}

}  // namespace idletune::detail
