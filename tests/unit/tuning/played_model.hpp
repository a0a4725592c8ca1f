// A model of the kernel that boards play.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/unit/agent/played_times.hpp"
#include "tests/unit/predict/model_builder.hpp"

namespace idletune::test {

// The board's kernel as another device knows it: {a, b} is the first pick at every shape.
inline ModelContent content_saying(std::int64_t a, std::int64_t b) {
  ModelContent content;
  content.kernel = "play";
  content.parameters = {"A", "B"};
  content.sources[0].device = "Board Nine";
  content.sources[0].shape = {64};
  content.sources[0].valid = content.sources[0].measured = 256;
  content.portfolio_values = {a, b, 9, 9};
  content.portfolio_relative = {1.0f, 0.8f};
  content.portfolio_score = {0.9f, 0.7f};
  content.picks = {{-1, {}, {a, b}, 0.9f}};
  return content;
}

inline std::shared_ptr<const Model> model_saying(std::int64_t a, std::int64_t b) {
  auto model = Model::open(build_model(content_saying(a, b)), "test");
  REQUIRE_MESSAGE(model.ok(), model.status().to_string());
  return *model;
}

// A model of the kernel from two devices: "twin" is like the played board, "stranger" likes the
// opposite. The first pick is the best on the board.
inline void write_played_model(const std::string& path) {
  ModelContent content;
  content.kernel = "play";
  content.parameters = {"A", "B"};
  content.sources.emplace_back();
  content.sources[0].device = "twin";
  content.sources[1].device = "stranger";
  for (SourceContent& source : content.sources) {
    source.shape = {64};
    source.valid = source.measured = 256;
    for (std::size_t i = 0; i < kQuantileCount; ++i) {
      source.quantiles[i] = static_cast<float>(0.25 + 0.75 * std::pow(quantile_levels()[i], 8));
    }
  }
  const auto q = [](std::int64_t a, std::int64_t b) {
    return static_cast<float>(1e6 / static_cast<double>(played_time(a, b).count()));
  };
  for (std::int64_t a = 2; a <= 14; a += 2) {
    for (std::int64_t b = 2; b <= 14; b += 3) {
      content.portfolio_values.insert(content.portfolio_values.end(), {a, b});
      content.portfolio_relative.push_back(q(a, b));
      content.portfolio_relative.push_back(q(17 - a, 3));
      content.portfolio_score.push_back((q(a, b) + q(17 - a, 3)) / 2);
    }
  }
  content.picks = {{-1, {}, {8, 8}, 0.9f}};
  REQUIRE(write_model(content, path));
}

}  // namespace idletune::test
