// The files of tests/data/learners: a data set, and what scikit-learn predicts for its test rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/host/learners/learner.hpp"

namespace idletune::test {

struct GoldenRows {
  std::vector<float> values;
  std::vector<float> targets;
};

// One "result" of a file: options, range of scores, and predictions unless the line has none.
struct GoldenResult {
  std::string file;
  std::string learner;
  std::map<std::string, double> numbers;
  std::vector<double> predictions;
  double number(const std::string& name, double otherwise) const {
    const auto at = numbers.find(name);
    return at == numbers.end() ? otherwise : at->second;
  }
  std::string description() const;
};

struct GoldenFile {
  std::size_t columns = 0;
  std::uint32_t classes = 0;
  std::vector<learners::FeatureKind> kinds;
  GoldenRows train;
  GoldenRows test;
  std::vector<GoldenResult> results;

  learners::Dataset training_data() const { return data_of(train); }
  learners::Dataset test_data() const { return data_of(test); }

 private:
  learners::Dataset data_of(const GoldenRows& rows) const {
    return {rows.values, columns, kinds, rows.targets, classes};
  }
};

// Reads tests/data/learners/<name>.txt; requires that it is there and well-formed.
GoldenFile read_golden(const std::string& name);

// The learner's prediction for every test row.
std::vector<double> predictions_of(const learners::Learner& learner, const GoldenFile& golden);
// R^2, or the share of right classes, as scikit-learn's score().
double score_of(const std::vector<double>& predictions, const GoldenFile& golden);

}  // namespace idletune::test
