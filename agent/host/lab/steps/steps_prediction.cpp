#include "agent/host/lab/steps/steps_prediction.hpp"

#include <algorithm>
#include <cmath>

#include "agent/host/lab/steps/family_distance.hpp"
#include "agent/host/lab/steps/published_fractions.hpp"
#include "models/host/insight/steps.hpp"

namespace idletune {

namespace {

constexpr double kEightyPercent = 1.2815515655446004;  // 90 % point of the normal distribution
// As many devices as the published spread between devices is worth.
constexpr double kPriorDevices = 2;

double fraction_of(const SpaceOnDevice& space) {
  return space.configurations == 0 ? 0
                                   : static_cast<double>(space.well_performing) /
                                         static_cast<double>(space.configurations);
}

std::uint64_t steps_without_repetition(std::uint64_t configurations, double log_fraction,
                                       double probability) {
  const double good = std::exp(std::min(log_fraction, 0.0)) * static_cast<double>(configurations);
  const auto whole = static_cast<std::uint64_t>(std::max(1.0, std::round(good)));
  return random_search_steps_without_repetition(configurations, whole, probability).value_or(0);
}

}  // namespace

std::optional<StepsPrediction> predict_steps_by_mean(Span<const SpaceOnDevice> others,
                                                     double probability) {
  double sum = 0;
  for (const SpaceOnDevice& other : others) sum += fraction_of(other);
  if (!(sum > 0)) return std::nullopt;
  StepsPrediction prediction;
  prediction.fraction = sum / static_cast<double>(others.size());
  prediction.steps = random_search_steps(prediction.fraction, probability).value_or(0);
  return prediction;
}

std::optional<StepsPrediction> predict_steps_by_kinship(std::string_view device,
                                                        std::uint64_t configurations,
                                                        Span<const SpaceOnDevice> others,
                                                        double probability) {
  const DeviceFamily family = device_family(device);
  const auto weight_of = [&](const SpaceOnDevice& other) {
    return fraction_of(other) > 0 ? std::exp(-family_distance(family, device_family(other.device)))
                                  : 0.0;
  };
  double weights = 0;
  double squared_weights = 0;
  double sum = 0;
  for (const SpaceOnDevice& other : others) {
    const double weight = weight_of(other);
    if (!(weight > 0)) continue;
    weights += weight;
    squared_weights += weight * weight;
    sum += weight * std::log(fraction_of(other));
  }
  if (!(weights > 0)) return std::nullopt;
  const double mean = sum / weights;
  double spread = 0;
  for (const SpaceOnDevice& other : others) {
    const double weight = weight_of(other);
    if (weight > 0) spread += weight / weights * std::pow(std::log(fraction_of(other)) - mean, 2);
  }
  const double devices =
      weights * weights / squared_weights;  // as many as equal weights would be worth
  const double prior = published_spread_between_devices(Processor::gpu);
  const double variance =
      (devices * spread + kPriorDevices * prior * prior) / (devices + kPriorDevices - 1);
  const double half = kEightyPercent * std::sqrt(variance * (1 + 1 / devices));
  StepsPrediction prediction;
  prediction.fraction = std::exp(mean);
  prediction.steps = steps_without_repetition(configurations, mean, probability);
  prediction.fewest = steps_without_repetition(configurations, mean + half, probability);
  prediction.most = steps_without_repetition(configurations, mean - half, probability);
  return prediction;
}

}  // namespace idletune
