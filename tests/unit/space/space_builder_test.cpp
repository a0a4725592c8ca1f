#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "models/host/pack/pack.hpp"
#include "models/space/space_data.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/space/clblast_gemm.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

using Constraint = std::function<bool(const std::vector<std::int64_t>&)>;

// The valid configurations by looking at every combination, in lexicographic order.
std::vector<Configuration> brute_force(const std::vector<DescribedParameter>& parameters,
                                       const Constraint& valid) {
  std::vector<Configuration> found;
  std::vector<std::size_t> position(parameters.size(), 0);
  std::vector<std::int64_t> values(parameters.size());
  for (;;) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      values[i] = parameters[i].values[position[i]];
    }
    if (valid(values)) found.emplace_back(Span<const std::int64_t>(values));
    std::size_t i = parameters.size();
    while (i > 0 && ++position[i - 1] == parameters[i - 1].values.size()) position[--i] = 0;
    if (i == 0) return found;
  }
}

// A random constraint in both forms.
struct RandomConstraint {
  std::string text;
  Constraint valid;
};

RandomConstraint random_constraint(const std::vector<DescribedParameter>& parameters,
                                   Random& random) {
  const auto pick = [&] { return static_cast<std::size_t>(random.below(parameters.size())); };
  const std::size_t a = pick(), b = pick(), c = pick();
  const std::string &x = parameters[a].name, &y = parameters[b].name, &z = parameters[c].name;
  const std::int64_t k = static_cast<std::int64_t>(random.below(40)) + 1;
  using Values = std::vector<std::int64_t>;
  switch (random.below(5)) {
    case 0:
      return {x + " * " + y + " <= " + std::to_string(k * 4),
              [=](const Values& v) { return v[a] * v[b] <= k * 4; }};
    case 1:
      // Without a value where the divisor is 0: such configurations are not valid.
      return {x + " % " + y + " == 0",
              [=](const Values& v) { return v[b] != 0 && v[a] % v[b] == 0; }};
    case 2:
      return {x + " + " + y + " > " + z + " || " + z + " == " + std::to_string(k % 5),
              [=](const Values& v) { return v[a] + v[b] > v[c] || v[c] == k % 5; }};
    case 3:
      return {"(" + x + " - " + y + ") * " + z + " != " + std::to_string(k),
              [=](const Values& v) { return (v[a] - v[b]) * v[c] != k; }};
    default:
      return {"max(" + x + ", " + y + ") >= min(" + y + ", " + z + ", " + std::to_string(k) + ")",
              [=](const Values& v) {
                return std::max(v[a], v[b]) >= std::min({v[b], v[c], k});
              }};
  }
}

std::vector<DescribedParameter> random_parameters(Random& random) {
  std::vector<DescribedParameter> parameters(3 + static_cast<std::size_t>(random.below(4)));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::set<std::int64_t> distinct;
    const std::size_t count = 1 + static_cast<std::size_t>(random.below(6));
    while (distinct.size() < count) {
      distinct.insert(static_cast<std::int64_t>(random.below(24)) - 4);
    }
    std::vector<std::int64_t> values(distinct.begin(), distinct.end());
    for (std::size_t j = values.size(); j > 1; --j) {  // any order
      std::swap(values[j - 1], values[static_cast<std::size_t>(random.below(j))]);
    }
    parameters[i] = parameter("P" + std::to_string(i), values);
  }
  return parameters;
}

void check_against(const Space& space, const std::vector<Configuration>& expected) {
  std::vector<Configuration> walked;
  Configuration configuration;
  for (Space::Cursor cursor = space.cursor(); cursor.next(configuration);) {
    walked.push_back(configuration);
  }
  REQUIRE(walked.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(walked[i] == expected[i]);
    REQUIRE(space.contains(expected[i]));
    if (!space.indexed()) continue;
    REQUIRE(space.at(i) == expected[i]);
    REQUIRE(space.index_of(expected[i]) == i);
  }
}

PackOptions no_diagram() {
  PackOptions options;
  options.max_edges = 0;
  return options;
}

// 20 parameters of 4 values: 4^20 = 1.1e12 combinations, pairs and triples constrained.
std::vector<DescribedParameter> large_parameters() {
  std::vector<DescribedParameter> parameters;
  for (int i = 0; i < 20; ++i) {
    parameters.push_back(parameter("P" + std::to_string(i), {1, 2, 4, 8}));
  }
  return parameters;
}
std::vector<DescribedExpression> large_constraints() {
  std::vector<DescribedExpression> constraints;
  for (int i = 0; i + 2 < 20; ++i) {
    const auto name = [i](int offset) { return "P" + std::to_string(i + offset); };
    constraints.emplace_back(name(0) + " * " + name(1) + " <= 32");
    constraints.emplace_back(name(2) + " % " + name(0) + " == 0 || " + name(1) + " > 2");
  }
  return constraints;
}

// The number of valid configurations of the large space by a transfer matrix over pairs of
// neighbours: another algorithm than the diagram's.
std::uint64_t large_count() {
  const std::array<std::int64_t, 4> values{1, 2, 4, 8};
  std::uint64_t ways[4][4] = {};
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) ways[a][b] = values[a] * values[b] <= 32 ? 1 : 0;
  }
  for (int third = 2; third < 20; ++third) {
    std::uint64_t next[4][4] = {};
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        for (std::size_t c = 0; c < 4; ++c) {
          const bool triple = values[c] % values[a] == 0 || values[b] > 2;
          const bool pair = third == 19 || values[b] * values[c] <= 32;
          if (triple && pair) next[b][c] += ways[a][b];
        }
      }
    }
    std::copy(&next[0][0], &next[0][0] + 16, &ways[0][0]);
  }
  std::uint64_t sum = 0;
  for (const auto& row : ways) {
    for (std::uint64_t n : row) sum += n;
  }
  return sum;
}

}  // namespace

TEST_CASE("the diagram of random constraints agrees with looking at every combination") {
  Random random(20240601);
  int empty = 0, partial = 0;
  for (int round = 0; round < 300; ++round) {
    const auto parameters = random_parameters(random);
    std::vector<DescribedExpression> texts;
    std::vector<Constraint> conditions;
    for (std::uint64_t i = random.below(5); i > 0; --i) {
      RandomConstraint constraint = random_constraint(parameters, random);
      texts.emplace_back(constraint.text);
      conditions.push_back(constraint.valid);
    }
    const auto all_hold = [&](const std::vector<std::int64_t>& values) {
      return std::all_of(conditions.begin(), conditions.end(),
                         [&](const Constraint& condition) { return condition(values); });
    };
    const auto expected = brute_force(parameters, all_hold);
    const auto space = required(build_space(parameters, texts));
    REQUIRE(space.backing() == SpaceBacking::diagram);
    REQUIRE(space.valid_count() == expected.size());
    check_against(space, expected);
    const auto fallback = required(build_space(parameters, texts, {}, no_diagram()));
    // The empty diagram needs no edges and is never too large.
    REQUIRE((fallback.backing() == SpaceBacking::constraints) != expected.empty());
    REQUIRE(fallback.count_valid(1u << 20) == expected.size());
    check_against(fallback, expected);
    empty += expected.empty();
    partial += !expected.empty() && expected.size() < space.combinations();
  }
  CHECK(empty > 5);  // the cases that matter have occurred
  CHECK(partial > 100);
}

TEST_CASE("a space of 10^12 combinations is counted exactly") {
  const auto space = required(build_space(large_parameters(), large_constraints()));
  CHECK(space.combinations() == 1099511627776ull);
  REQUIRE(space.indexed());
  CHECK(space.valid_count() == large_count());
  CHECK(space.valid_count() > 1000000000ull);
}

TEST_CASE("numbering is a bijection onto the valid configurations of a large space") {
  const auto space = required(build_space(large_parameters(), large_constraints()));
  Random random(5);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t index = random.below(space.valid_count());
    const Configuration configuration = space.at(index);
    REQUIRE(space.index_of(configuration) == index);
    REQUIRE(space.contains(configuration));
  }
  CHECK(space.at(space.valid_count()).empty());
  CHECK(space.at(UINT64_MAX).empty());
  CHECK_FALSE(space.index_of(Configuration{1, 2}).has_value());
}

TEST_CASE("a cursor may start anywhere and walks on in order") {
  const auto space = required(build_space(large_parameters(), large_constraints()));
  Random random(6);
  for (int round = 0; round < 50; ++round) {
    std::uint64_t index = random.below(space.valid_count());
    Space::Cursor cursor = space.cursor(index);
    Configuration configuration;
    for (int i = 0; i < 200 && index < space.valid_count(); ++i, ++index) {
      REQUIRE(cursor.next(configuration));
      REQUIRE(configuration == space.at(index));
    }
  }
  Configuration configuration;
  Space::Cursor last = space.cursor(space.valid_count() - 1);
  CHECK(last.next(configuration));
  CHECK_FALSE(last.next(configuration));
  CHECK_FALSE(last.next(configuration));
  CHECK_FALSE(space.cursor(space.valid_count()).next(configuration));
}

namespace {

// Chi-square of `draws` samples over the numbered configurations of `space`.
double chi_square_of_samples(const Space& sampled, const Space& numbered, int draws) {
  Random random(12345);
  const std::size_t bins = static_cast<std::size_t>(numbered.valid_count());
  std::vector<int> count(bins, 0);
  for (int i = 0; i < draws; ++i) {
    const auto index = required(numbered.index_of(sampled.sample(random)));
    ++count[static_cast<std::size_t>(index)];
  }
  const double expected = static_cast<double>(draws) / static_cast<double>(bins);
  double sum = 0;
  for (int n : count) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("sampling is uniform over the valid configurations, with and without a diagram") {
  // Few completions under P0 = 1, many under P0 = 64: sampling value by value would be far off.
  const std::vector<DescribedParameter> parameters{parameter("P0", {1, 8, 64}),
                                                   parameter("P1", {1, 2, 4, 8, 16, 32, 64}),
                                                   parameter("P2", {1, 2, 4, 8, 16, 32, 64})};
  const std::vector<DescribedExpression> constraints{"P1 * P2 <= P0", "P0 % P1 == 0"};
  const auto space = required(build_space(parameters, constraints));
  REQUIRE(space.valid_count() == 39);  // 1 + 10 + 28 pairs
  // 38 degrees of freedom: above 80.0 once in 10^4.
  CHECK(chi_square_of_samples(space, space, 39000) < 80.0);
  const auto fallback = required(build_space(parameters, constraints, {}, no_diagram()));
  CHECK(chi_square_of_samples(fallback, space, 39000) < 80.0);
}

TEST_CASE("without a diagram what is not known is not invented") {
  const auto space = required(
      build_space(clblast_gemm_parameters(), clblast_gemm_constraints(), {}, no_diagram()));
  CHECK_FALSE(space.indexed());
  CHECK(space.valid_count() == 0);
  CHECK(space.at(0).empty());
  CHECK(space.count_valid(17956) == 17956);
  CHECK_FALSE(space.count_valid(17955).has_value());
  Configuration configuration, first;
  Space::Cursor cursor = space.cursor();
  REQUIRE(cursor.next(first));
  CHECK(space.contains(first));
  CHECK_FALSE(space.index_of(first).has_value());
  const auto indexed = required(build_space(clblast_gemm_parameters(), clblast_gemm_constraints()));
  CHECK(indexed.digest() == space.digest());  // the same space, stored differently
  CHECK(indexed.key(first) == space.key(first));
  CHECK(indexed.at(0) == first);
  Space::Cursor tenth = space.cursor(10);
  REQUIRE(tenth.next(configuration));
  CHECK(configuration == indexed.at(10));
}

TEST_CASE("rejection gives way to searching where valid configurations are rare") {
  // One of 2^30 combinations is valid.
  std::vector<DescribedParameter> parameters;
  for (int i = 0; i < 10; ++i) {
    parameters.push_back(parameter("P" + std::to_string(i), {0, 1, 2, 3, 4, 5, 6, 7}));
  }
  std::vector<DescribedExpression> constraints;
  for (int i = 0; i < 10; ++i) constraints.emplace_back("P" + std::to_string(i) + " == 5");
  const auto space = required(build_space(parameters, constraints, {}, no_diagram()));
  Random random(1);
  const Configuration sample = space.sample(random);
  REQUIRE(sample.size() == 10);
  CHECK(sample == Configuration{5, 5, 5, 5, 5, 5, 5, 5, 5, 5});
}

TEST_CASE("a space without a valid configuration is empty everywhere") {
  const std::vector<DescribedParameter> parameters{parameter("A", {1, 2}), parameter("B", {1, 2})};
  for (const PackOptions& options : {PackOptions(), no_diagram()}) {
    const auto space = required(build_space(parameters, {"A > 5"}, {}, options));
    CHECK(space.valid_count() == 0);
    CHECK(space.count_valid(10) == 0);
    CHECK(space.combinations() == 4);
    Random random(1);
    CHECK(space.sample(random).empty());
    CHECK(space.at(0).empty());
    CHECK_FALSE(space.contains(Configuration{1, 1}));
    Configuration configuration;
    CHECK_FALSE(space.cursor().next(configuration));
  }
}

TEST_CASE("products beyond 64 bits are said to be saturated, and have no diagram") {
  std::vector<DescribedParameter> parameters;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 16; ++i) values.push_back(i);
  for (int i = 0; i < 32; ++i) parameters.push_back(parameter("P" + std::to_string(i), values));
  const auto space = required(build_space(parameters, {}));
  CHECK(space.combinations_saturated());
  CHECK(space.combinations() == UINT64_MAX);
  CHECK_FALSE(space.indexed());
  Random random(3);
  CHECK(space.contains(space.sample(random)));
  const auto small = required(build_space({parameter("A", values)}, {}));
  CHECK_FALSE(small.combinations_saturated());
}

TEST_CASE("identical parts of the diagram are stored once") {
  const auto space = build_space(large_parameters(), large_constraints());
  REQUIRE(space.ok());
  const space::Diagram& diagram = space->data().diagram;
  CHECK(diagram.level_nodes.size() == 20);
  CHECK(diagram.edge_value.size() < 20 * 16 * 4);  // at most one node per pair of values and level
  // An unconstrained space is a chain of one node per level.
  const auto chain = required(build_space(large_parameters(), {}));
  CHECK(chain.data().diagram.edge_value.size() == 80);
  CHECK(chain.valid_count() == chain.combinations());
}

TEST_CASE("parameters may have 65535 values in any order") {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 65535; ++i) values.push_back((i * 40503) % 65537 - 30000);
  const auto space = required(
      build_space({parameter("A", values), parameter("B", {0, 1})}, {"A % 2 == B", "A > 0"}));
  std::uint64_t expected = 0;
  for (std::int64_t v : values) expected += v > 0;
  CHECK(space.valid_count() == expected);
  for (std::uint64_t i = 0; i < expected; i += 1000) {
    REQUIRE(space.index_of(space.at(i)) == i);
  }
  values.push_back(1000000);
  CHECK_FALSE(build_space({parameter("A", values)}, {}).ok());
}

TEST_CASE("digests of spaces name what matters and nothing else") {
  const std::vector<DescribedParameter> parameters{parameter("A", {1, 2}), parameter("B", {3, 4})};
  const auto digest = [](const std::vector<DescribedParameter>& p,
                         const std::vector<DescribedExpression>& c) {
    const auto space = required(build_space(p, c));
    return space.digest();
  };
  const std::uint64_t original = digest(parameters, {"A < B", "A != 7"});
  CHECK(original == digest(parameters, {"(A)<B", "A != 7"}));
  CHECK(original == digest(parameters, {"A != 7", "A < B"}));
  CHECK(original != digest(parameters, {"A < B"}));
  CHECK(original != digest({parameter("A", {2, 1}), parameter("B", {3, 4})}, {"A < B", "A != 7"}));
  CHECK(original != digest({parameter("X", {1, 2}), parameter("B", {3, 4})}, {"X < B", "X != 7"}));
  CHECK(original ==
        digest({parameter("A", {1, 2}, ParameterKind::tile), parameters[1]}, {"A < B", "A != 7"}));
  const auto gemm = required(build_space(clblast_gemm_parameters(), clblast_gemm_constraints()));
  CHECK(gemm.digest() == 17844364327534888576ull);
  CHECK(gemm.key(gemm.at(0)) == 14887873446528580559ull);
}

TEST_CASE("what cannot be a space is refused with a reason") {
  const auto message = [](const std::vector<DescribedParameter>& p,
                          const std::vector<DescribedExpression>& c) {
    return build_space(p, c).status().message();
  };
  CHECK(message({}, {}).find("1 to 32 parameters") != std::string::npos);
  CHECK(message({parameter("A", {})}, {}).find("'A': expected 1 to 65535 values") !=
        std::string::npos);
  CHECK(message({parameter("A", {1, 2, 1})}, {}).find("the value 1 occurs twice") !=
        std::string::npos);
  CHECK(message({parameter("A", {1}), parameter("A", {2})}, {}).find("'A' occurs twice") !=
        std::string::npos);
  CHECK(message({parameter("A", {1})}, {{"A < ", "k.xml:7: <constraint>"}})
            .find("k.xml:7: <constraint>: column 5: expected a number") == 0);
  CHECK(message({parameter("A", {1})}, {"A < C"}).find("unknown name 'C'") != std::string::npos);
}
