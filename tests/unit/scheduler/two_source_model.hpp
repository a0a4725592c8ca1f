// A model of two historical devices that like different configurations.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <memory>

#include "tests/unit/predict/model_builder.hpp"

namespace idletune::test {

// Entries 0 ... count - 1 of one parameter, x. Source A likes the even ones, B the odd ones, each
// the lower the better: q falls from 1 by 2 % per entry where liked, is about 0.3 elsewhere.
inline std::shared_ptr<const Model> two_source_model(
    std::size_t count, const std::function<void(ModelContent&)>& edit = {}) {
  ModelContent content;
  content.parameters = {"x"};
  content.sources.emplace_back();
  content.sources[0].device = "A";
  content.sources[1].device = "B";
  for (SourceContent& source : content.sources) {
    for (std::size_t i = 0; i < kQuantileCount; ++i) {
      const double level = quantile_levels()[i];
      source.quantiles[i] = static_cast<float>(0.1 + 0.9 * level * level * level);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const float good = 1.0f - 0.02f * static_cast<float>(i);
    const float bad = 0.3f - 0.005f * static_cast<float>(i);
    content.portfolio_values.push_back(static_cast<std::int64_t>(i));
    content.portfolio_relative.push_back(i % 2 == 0 ? good : bad);
    content.portfolio_relative.push_back(i % 2 == 0 ? bad : good);
    content.portfolio_score.push_back((good + bad) / 2);
  }
  if (edit) edit(content);
  auto model = Model::open(build_model(content), "two sources");
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  return *model;
}

}  // namespace idletune::test
