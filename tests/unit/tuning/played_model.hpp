// A model of the kernel that boards play.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

#include "tests/unit/predict/model_builder.hpp"

namespace idletune::test {

// The board's kernel as another device knows it: {a, b} is the first pick at every shape.
inline std::shared_ptr<const Model> model_saying(std::int64_t a, std::int64_t b) {
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
  auto model = Model::open(build_model(content), "test");
  REQUIRE_MESSAGE(model.ok(), model.status().to_string());
  return *model;
}

}  // namespace idletune::test
