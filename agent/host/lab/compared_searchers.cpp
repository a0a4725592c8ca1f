#include "agent/host/lab/compared_searchers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <idletune/learning.hpp>

#include "agent/host/lab/annealing_searcher.hpp"
#include "agent/host/lab/learners/learners.hpp"

namespace idletune {

namespace {

constexpr std::string_view kIterMl = "iterml";

bool is_iterml(std::string_view name) {
  return name == kIterMl || name.substr(0, kIterMl.size() + 1) == "iterml:";
}

Status wrong(std::string_view name, std::string_view part, const std::string& expected) {
  return Status(StatusCode::invalid_argument, "searcher '" + std::string(name) + "', '" +
                                                  std::string(part) + "': expected " + expected);
}

// The number that `text` is as a whole; NaN if it is none.
double number_in(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  return !copy.empty() && *end == '\0' ? value : std::strtod("nan", nullptr);
}

bool set_option(std::string_view key, std::string_view value, IterMlOptions& options) {
  const double number = number_in(value);
  if (key == "pick" && number > 0 && number <= 1) {
    options.pick_ratio = number;
  } else if (key == "cut" && number >= 0 && number < 1) {
    options.cut_ratio = number;
  } else if (key == "iterations" && number >= 1 && number <= 1000 && number == std::floor(number)) {
    options.iterations = static_cast<std::size_t>(number);
  } else if (key == "samples" && (value == "own" || value == "all")) {
    options.all_samples = value == "all";
  } else if (key == "dropped" && (value == "last" || value == "never")) {
    options.search_dropped = value == "last";
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<IterMlOptions> iterml_options(std::string_view name) {
  if (!is_iterml(name)) return wrong(name, name, "iterml, or iterml: and options");
  IterMlOptions options;
  bool first = true;
  for (std::size_t at = kIterMl.size(); at < name.size(); first = false) {
    const std::size_t begin = at + 1;
    at = std::min(name.find(':', begin), name.size());
    const std::string_view part = name.substr(begin, at - begin);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      const auto& known = learners::learner_names();
      if (!first || std::find(known.begin(), known.end(), part) == known.end())
        return wrong(name, part, "a learner (cart, forest, knn, svm, mlp) right after iterml:");
      options.learner = std::string(part);
    } else if (!set_option(part.substr(0, equals), part.substr(equals + 1), options)) {
      return wrong(name, part,
                   "pick=RATIO (above 0, at most 1), cut=RATIO (0 to below 1), iterations=N (1 to "
                   "1000), samples=own or all, or dropped=last or never");
    }
  }
  return options;
}

Result<std::unique_ptr<Searcher>> make_compared_searcher(std::string_view name, const Space& space,
                                                         const KernelKnowledge* kernel,
                                                         const SearcherOptions& given) {
  SearcherOptions options = given;
  if (options.learner == nullptr) options.learner = forest_learner();
  if (name == "random") return make_random_searcher(space, options);
  if (name == "product") return make_product_searcher(space, kernel, options);
  if (name == "portfolio") {
    options.random_every = 0;
    return make_product_searcher(space, kernel, options);
  }
  if (name == "forest") return make_learning_searcher(space, options);
  if (name == "annealing") return std::unique_ptr<Searcher>(new AnnealingSearcher(space, options));
  if (!is_iterml(name)) {
    return Status(StatusCode::invalid_argument,
                  "searcher '%': expected random, product, portfolio, forest, annealing or iterml",
                  name);
  }
  const Result<IterMlOptions> iterml = iterml_options(name);
  if (!iterml.ok()) return iterml.status();
  return IterMlSearcher::make(space, options, *iterml);
}

std::string wrong_with_searcher(std::string_view name) {
  const Space empty;
  const auto made = make_compared_searcher(name, empty, nullptr, {});
  return made.ok() ? std::string() : made.status().message();
}

}  // namespace idletune
