#include "tests/unit/forest/golden_file.hpp"

#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/paths.hpp"

namespace idletune::test {
namespace {

GoldenRows read_rows(std::istream& in, std::size_t rows, std::size_t columns) {
  GoldenRows result;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c <= columns; ++c) {
      double x = 0;
      REQUIRE(static_cast<bool>(in >> x));
      (c < columns ? result.values : result.targets).push_back(static_cast<float>(x));
    }
  }
  return result;
}

GoldenResult read_result(const std::string& file, std::istringstream line) {
  GoldenResult result;
  result.file = file;
  REQUIRE(static_cast<bool>(line >> result.learner));
  for (std::string option; line >> option;) {
    const std::size_t at = option.find('=');
    REQUIRE(at != std::string::npos);
    result.numbers[option.substr(0, at)] = std::stod(option.substr(at + 1));
  }
  return result;
}

}  // namespace

std::string GoldenResult::description() const {
  std::string text = file + ": " + learner;
  for (const auto& [name, value] : numbers) text += " " + name + "=" + std::to_string(value);
  return text;
}

GoldenFile read_golden(const std::string& name) {
  std::ifstream in(std::string(IDLETUNE_TEST_DATA_FOLDER) + "/learners/" + name + ".txt");
  REQUIRE_MESSAGE(in.is_open(), name);
  GoldenFile file;
  for (std::string word; in >> word;) {
    std::string rest;
    std::size_t rows = 0;
    if (word == "columns") {
      REQUIRE(static_cast<bool>(in >> file.columns));
    } else if (word == "classes") {
      REQUIRE(static_cast<bool>(in >> file.classes));
    } else if (word == "train" || word == "test") {
      REQUIRE(static_cast<bool>(in >> rows));
      (word == "train" ? file.train : file.test) = read_rows(in, rows, file.columns);
    } else {
      std::getline(in, rest);
      std::istringstream line(rest);
      if (word == "kinds") {
        for (std::string kind; line >> kind;) {
          file.kinds.push_back(kind == "c" ? learners::FeatureKind::categorical
                                           : learners::FeatureKind::numeric);
        }
      } else if (word == "result") {
        file.results.push_back(read_result(name, std::move(line)));
      } else if (word == "predictions") {
        for (double x = 0; line >> x;) file.results.back().predictions.push_back(x);
        REQUIRE(file.results.back().predictions.size() == file.test.targets.size());
      } else {
        REQUIRE(word == "#");
      }
    }
  }
  REQUIRE(file.kinds.size() == file.columns);
  REQUIRE(!file.results.empty());
  return file;
}

std::vector<double> predictions_of(const learners::Learner& learner, const GoldenFile& golden) {
  std::vector<double> result;
  const learners::Dataset data = golden.test_data();
  for (std::size_t r = 0; r < data.rows(); ++r) {
    result.push_back(static_cast<double>(learner.predict(data.row(r)).value));
  }
  return result;
}

double score_of(const std::vector<double>& predictions, const GoldenFile& golden) {
  const std::vector<float>& targets = golden.test.targets;
  const double count = static_cast<double>(targets.size());
  double mean = 0, errors = 0, squares = 0, right = 0;
  for (const float target : targets) mean += static_cast<double>(target) / count;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double target = static_cast<double>(targets[i]);
    errors += (predictions[i] - target) * (predictions[i] - target);
    squares += (target - mean) * (target - mean);
    right += predictions[i] == target ? 1 : 0;
  }
  return golden.classes != 0 ? right / count : 1 - errors / squares;
}

}  // namespace idletune::test
