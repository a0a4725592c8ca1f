#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "agent/host/lab/compared_searchers.hpp"
#include "agent/host/lab/learners/learners.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/search/search_spaces.hpp"

using namespace idletune;
using idletune::test::line;

namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names{"random",    "product", "portfolio",          "forest",
                                 "annealing", "iterml",  "iterml:dropped=last"};
  for (const std::string_view learner : learners::learner_names())
    names.push_back("iterml:" + std::string(learner) + ":pick=0.1:cut=0.3");
  return names;
}

std::vector<std::int64_t> order_of(std::string_view name, const Space& space, std::uint64_t seed) {
  SearcherOptions options;
  options.seed = seed;
  auto searcher = required(make_compared_searcher(name, space, nullptr, options));
  std::vector<std::int64_t> order;
  while (const auto proposal = searcher->ask()) {
    order.push_back(proposal->configuration[0]);
    Observation seen;
    seen.run_time = Nanoseconds(1000 + order.back());
    searcher->tell(proposal->configuration, seen);
  }
  return order;
}

}  // namespace

TEST_CASE("every name that is offered makes a searcher of its own that covers the space") {
  const Space space = line(40);
  std::set<std::vector<std::int64_t>> different;
  for (const std::string& name : all_names()) {
    CAPTURE(name);
    CHECK(wrong_with_searcher(name) == "");
    const std::vector<std::int64_t> order = order_of(name, space, 5);
    CHECK(order.size() == 40);
    CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 40);
    CHECK(order == order_of(name, space, 5));
    CHECK(order != order_of(name, space, 6));
    different.insert(order);
  }
  // Without a model product and portfolio are one, and iterml drops last by default.
  CHECK(different.size() >= all_names().size() - 4);
}

TEST_CASE("a searcher that ends as published does not cover the space") {
  const std::vector<std::int64_t> order =
      order_of("iterml:knn:pick=0.1:dropped=never", line(40), 5);
  CHECK(order.size() < 30);
  CHECK(order.size() >= 8);
}

TEST_CASE("what is wrong with a name is said with the part that is wrong") {
  const auto says = [](std::string_view name, std::string_view what) {
    CAPTURE(std::string(name));
    const std::string answer = wrong_with_searcher(name);
    CAPTURE(answer);
    CHECK(answer.find(what) != std::string::npos);
  };
  says("psychic", "'psychic': expected random, ");
  says("Random", "'Random'");
  says("", "expected random, ");
  says("iterml:trees", "'trees': expected a learner (cart, forest, knn, svm, mlp)");
  says("iterml:cut=0.5:knn", "'knn': expected a learner");
  says("iterml:knn:pick=2", "'pick=2': expected pick=RATIO (above 0, at most 1)");
  says("iterml:knn:pick=nan", "'pick=nan'");
  says("iterml:knn:pick=0.1x", "'pick=0.1x'");
  says("iterml:knn:cut=0.5:", "''");
}

TEST_CASE("names of IterML searchers carry their options") {
  const auto plain = required(iterml_options("iterml"));
  CHECK(plain.learner == "forest");
  CHECK(plain.cut_ratio == 0.5);
  CHECK(plain.iterations == 0);
  CHECK_FALSE(plain.all_samples);
  const auto full =
      required(iterml_options("iterml:knn:pick=0.02:cut=0.25:iterations=3:samples=all"));
  CHECK(full.learner == "knn");
  CHECK(full.pick_ratio == 0.02);
  CHECK(full.cut_ratio == 0.25);
  CHECK(full.iterations == 3);
  CHECK(full.all_samples);
  CHECK(full.search_dropped);
  const auto published = required(iterml_options("iterml:pick=1:dropped=never"));
  CHECK_FALSE(published.search_dropped);
  for (const char* name : {"iter", "iterml2", "iterml:", "iterml:trees", "iterml:pick=0",
                           "iterml:pick=1.5", "iterml:pick=x", "iterml:cut=1",
                           "iterml:iterations=0", "iterml:iterations=2.5", "iterml:samples=some",
                           "iterml:dropped=maybe", "iterml:pick=0.1:knn", "iterml:knn:speed=2"}) {
    CAPTURE(name);
    CHECK_FALSE(iterml_options(name).ok());
    CHECK_FALSE(wrong_with_searcher(name).empty());
  }
}
