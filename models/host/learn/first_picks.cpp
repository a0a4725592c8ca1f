#include "models/host/learn/first_picks.hpp"

#include <algorithm>

#include "models/host/learn/device_weights.hpp"
#include "models/host/learn/rank.hpp"

namespace idletune {

std::vector<LearnedPick> choose_first_picks(const PerformanceTable& table) {
  std::vector<LearnedPick> picks;
  const std::vector<double> weights = device_weights(table);
  const auto add = [&](const Shape& shape, const std::vector<double>& chosen) {
    const std::size_t best = index_of_largest(desirability(table, chosen));
    picks.push_back({-1, shape, best, expected_relative_performance(table, chosen)[best]});
  };
  add(Shape(), weights);
  std::vector<Shape> shapes;
  for (const auto& source : table.sources()) {
    const bool known = std::find(shapes.begin(), shapes.end(), source.shape) != shapes.end();
    if (source.shape.size() > 0 && !known) shapes.push_back(source.shape);
  }
  for (const Shape& shape : shapes) {
    std::vector<double> of_shape = weights;
    for (std::size_t s = 0; s < of_shape.size(); ++s) {
      if (table.sources()[s].shape != shape) of_shape[s] = 0;
    }
    add(shape, of_shape);
  }
  for (std::size_t s = 0; s < table.sources().size(); ++s) {
    const std::vector<float>& q = table.sources()[s].relative;
    const auto best = std::max_element(q.begin(), q.end());
    picks.push_back({static_cast<std::int32_t>(s), table.sources()[s].shape,
                     static_cast<std::size_t>(best - q.begin()), static_cast<double>(*best)});
  }
  return picks;
}

}  // namespace idletune
