#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/forest/dataset.hpp"

using namespace idletune;
using namespace idletune::learners;

namespace {

struct Data {
  std::vector<float> values{1, 0, 2, 1, 3, 0};
  std::vector<FeatureKind> kinds{FeatureKind::numeric, FeatureKind::categorical};
  std::vector<float> targets{0, 1, 1};
  std::size_t columns = 2;
  std::uint32_t classes = 2;
  Status checked() const { return check(Dataset{values, columns, kinds, targets, classes}); }
  bool refused_with(const std::string& text) const {
    const Status status = checked();
    CAPTURE(status.message());
    return status.code() == StatusCode::invalid_argument &&
           status.message().find(text) != std::string::npos;
  }
};

}  // namespace

TEST_CASE("data of numbers, categories and classes are accepted") {
  Data data;
  CHECK(data.checked().ok());
  data.classes = 0;
  data.targets = {0.5f, -1e30f, 3};
  CHECK(data.checked().ok());
  data.kinds.clear();
  CHECK(data.checked().ok());
}

TEST_CASE("data whose sizes disagree are refused") {
  Data data;
  data.columns = 4;
  CHECK(data.refused_with("6 values for 3 rows of 4 columns"));
  data = {};
  data.values.pop_back();
  CHECK(data.refused_with("5 values"));
  data = {};
  data.kinds.pop_back();
  CHECK(data.refused_with("1 kinds for 2 columns"));
  data = {};
  data.columns = 0;
  CHECK(data.refused_with("0 columns"));
  data = {};
  data.columns = kMaxFeatures + 1;
  CHECK(data.refused_with("1025 columns"));
  data = {};
  data.targets.clear();
  CHECK(data.refused_with("0 rows"));
  data = {};
  data.classes = kMaxClasses;
  CHECK_FALSE(data.refused_with("classes"));
  data.classes = kMaxClasses + 1;
  CHECK(data.refused_with("4097 classes"));
}

TEST_CASE("the place of a bad value is named") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Data data;
  data.values[2] = nan;
  CHECK(data.refused_with("row 1, column 0: not a finite number"));
  for (const float category : {-1.0f, 0.5f, 32.0f}) {
    data = {};
    data.values[5] = category;
    CHECK(data.refused_with("row 2, column 1: expected a category"));
  }
  data = {};
  data.targets[2] = 2;
  CHECK(data.refused_with("target of row 2"));
  data.targets[2] = std::numeric_limits<float>::infinity();
  CHECK(data.refused_with("target of row 2"));
}
