#include "models/host/learn/held_out.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "models/devices/device_names.hpp"

namespace idletune {
namespace {

constexpr double kReached = 0.95;  // of the best: where held-out evaluations are counted to

// Nothing where the model proposes nothing: then the kernel's default runs.
std::optional<HeldOutResult> evaluate(const PerformanceTable& table,
                                      const PerformanceTable::Source& source, const Model& model) {
  HeldOutResult result;
  result.device = source.device;
  result.shape = source.shape;
  // What was not measured on the target could not be tried there either.
  std::vector<std::int64_t> rows;
  std::vector<double> relative;
  for (std::size_t c = 0; c < source.relative.size(); ++c) {
    if (source.relative[c] < 0) continue;
    const auto values = table.configurations()[c].values();
    rows.insert(rows.end(), values.begin(), values.end());
    relative.push_back(static_cast<double>(source.relative[c]));
  }
  const Result<Space> space = Space::from_rows(table.parameters(), {}, {}, rows);
  const auto* kernel = space.ok() ? model.kernel(table.kernel(), *space) : nullptr;
  if (kernel == nullptr) return std::nullopt;
  const auto performance = [&](const Configuration& configuration) {
    return relative[*space->index_of(configuration)];
  };
  const auto pick = first_pick(*kernel, *space, source.shape, source.device);
  if (!pick) return std::nullopt;
  result.first_pick = performance(pick->configuration);
  const SpaceMapping mapping(*kernel, *space);
  std::size_t tried = 0;
  for (std::size_t i = 0; i < kernel->portfolio_size() && result.evaluations == 0; ++i) {
    const auto configuration = mapping.map(kernel->portfolio_values(i));
    if (!configuration) continue;
    ++tried;
    if (performance(*configuration) >= kReached) result.evaluations = tried;
  }
  return result;
}

}  // namespace

std::vector<ModelWithout> learn_without_each(const std::vector<const History*>& histories,
                                             const LearnOptions& options) {
  LearnOptions silent = options;
  silent.cross_validate = false;
  silent.emulated = true;  // who asks has looked
  std::vector<ModelWithout> models;
  for (const History* history : histories) {
    const auto same = [&](const std::string& device) {
      return same_device_model(device, history->device);
    };
    if (std::any_of(models.begin(), models.end(), [&](const auto& m) { return same(m.device); }))
      continue;
    std::vector<const History*> others;
    std::copy_if(histories.begin(), histories.end(), std::back_inserter(others),
                 [&](const History* other) { return !same(other->device); });
    models.push_back({history->device, nullptr});
    auto learned = learn(others, silent);
    if (!learned.ok()) continue;
    auto model = Model::open(std::move(learned->bytes), "without " + history->device);
    if (model.ok()) models.back().model = std::move(*model);
  }
  return models;
}

std::vector<HeldOutResult> cross_validate(const PerformanceTable& table,
                                          const std::vector<ModelWithout>& models) {
  std::vector<HeldOutResult> results;
  for (const PerformanceTable::Source& source : table.sources()) {
    const auto without = std::find_if(models.begin(), models.end(), [&](const auto& m) {
      return same_device_model(m.device, source.device);
    });
    if (without == models.end() || without->model == nullptr) continue;
    if (const auto result = evaluate(table, source, *without->model)) results.push_back(*result);
  }
  return results;
}

}  // namespace idletune
