#include <idletune/tuner.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "agent/search/search_learner.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

// 64 x 64 configurations.
TunerOptions large_space() {
  TunerOptions options;
  options.parameters = {{"X", {}}, {"Y", {}}};
  for (std::int64_t i = 0; i < 64; ++i) {
    options.parameters[0].values.push_back(i);
    options.parameters[1].values.push_back(i);
  }
  return options;
}

TunerOptions two_parameters() {
  TunerOptions options;
  options.name = "blocks";
  options.parameters = {{"WIDTH", {1, 2, 4, 8}}, {"DEPTH", {1, 3, 5}}};
  return options;
}

// Fastest at WIDTH=4, DEPTH=3.
Nanoseconds time_of(const Configuration& c) {
  const auto distance = (c[0] - 4) * (c[0] - 4) + (c[1] - 3) * (c[1] - 3);
  return Nanoseconds(1000 + 100 * distance);
}

// Times as they are told, in order; 0: failed.
struct Listener final : SearchLearner {
  struct Proposals final : LearnedProposals {
    explicit Proposals(std::vector<std::int64_t>& told) : told_(told) {}
    void tell(const Configuration&, const Observation& seen) override {
      told_.push_back(seen.run_time.count());
    }
    void exclude(const Configuration&) override {}
    std::optional<Configuration> propose() override { return std::nullopt; }
    std::vector<std::int64_t>& told_;
  };
  std::unique_ptr<LearnedProposals> make(const Space&, std::uint64_t,
                                         Span<const Favourite>) const override {
    return std::make_unique<Proposals>(told);
  }
  mutable std::vector<std::int64_t> told;
};

}  // namespace

TEST_CASE("every configuration is asked for once and the best is found") {
  auto tuner = required(Tuner::open(two_parameters()));
  CHECK(tuner.text(tuner.best()) == "WIDTH=1 DEPTH=1");
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  while (auto configuration = tuner.ask()) {
    CHECK(seen.insert({(*configuration)[0], (*configuration)[1]}).second);
    tuner.tell(*configuration, {TrialStatus::correct, time_of(*configuration)});
  }
  CHECK(seen.size() == 12);
  CHECK(tuner.told() == 12);
  CHECK(tuner.text(tuner.best()) == "WIDTH=4 DEPTH=3");
  CHECK(tuner.best_time() == Nanoseconds(1000));
}

TEST_CASE("a package says what may be asked for, and what is the default") {
  const test::TemporaryFolder folder;
  const std::vector<std::uint8_t> bytes = test::played_package();
  TunerOptions options;
  options.package = folder.file("play.itkernel");
  test::overwrite(options.package, std::string(bytes.begin(), bytes.end()));
  auto tuner = required(Tuner::open(options));
  CHECK(tuner.parameter_count() == 2);
  CHECK(tuner.parameter_name(1) == "B");
  CHECK(tuner.text(tuner.best()) == "A=1 B=1");
  CHECK_FALSE(tuner.tell({17, 1}, {TrialStatus::correct, Nanoseconds(1)}));
  int asked = 0;
  while (auto configuration = tuner.ask()) {
    const Nanoseconds time = test::played_time((*configuration)[0], (*configuration)[1]);
    CHECK(tuner.tell(*configuration, {TrialStatus::correct, time}));
    ++asked;
  }
  CHECK(asked == 256);
  CHECK(tuner.text(tuner.best()) == "A=8 B=8");
}

TEST_CASE("failures and times of nothing are never the best") {
  auto tuner = required(Tuner::open(two_parameters()));
  tuner.tell({8, 5}, {TrialStatus::correctness, Nanoseconds(1)});
  tuner.tell({8, 3}, {TrialStatus::correct, Nanoseconds(0)});
  CHECK(tuner.best_time() == Nanoseconds(0));
  CHECK(tuner.pays(1e9, Nanoseconds(1000)));  // nothing was right yet
  CHECK_FALSE(tuner.pays(0, Nanoseconds(1000)));
  tuner.tell({2, 3}, {TrialStatus::correct, Nanoseconds(500)});
  CHECK(tuner.text(tuner.best()) == "WIDTH=2 DEPTH=3");
  tuner.tell({8, 5}, {TrialStatus::correct, Nanoseconds(5)});  // it was wrong before
  CHECK(tuner.text(tuner.best()) == "WIDTH=2 DEPTH=3");
}

TEST_CASE("where all fails, searching on pays until all was tried") {
  auto tuner = required(Tuner::open(two_parameters()));
  int asked = 0;
  for (; tuner.pays(1e9, Nanoseconds(1000)); ++asked) {
    REQUIRE(asked < 12);
    tuner.tell(required(tuner.ask()), {TrialStatus::compile, {}});
  }
  CHECK(asked == 12);
}

TEST_CASE("what the application told unasked is not asked for") {
  auto tuner = required(Tuner::open(two_parameters()));
  tuner.tell({4, 3}, {TrialStatus::correct, Nanoseconds(1000)});
  int asked = 0;
  while (auto configuration = tuner.ask()) {
    CHECK_FALSE(*configuration == Configuration{4, 3});
    ++asked;
  }
  CHECK(asked == 11);
}

TEST_CASE("the same seed asks in the same order") {
  auto a = Tuner::open(two_parameters());
  auto b = Tuner::open(two_parameters());
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  while (auto configuration = a->ask()) CHECK(b->ask() == configuration);
}

TEST_CASE("searching on pays for many uses of a large space and not for none") {
  auto tuner = required(Tuner::open(large_space()));
  for (int i = 0; i < 4; ++i) {
    auto configuration = required(tuner.ask());
    tuner.tell(configuration, {TrialStatus::correct, Nanoseconds(1000000 + 100000 * i)});
  }
  std::string reason;
  const bool pays = tuner.pays(1e9, Nanoseconds(1000000), &reason);
  CAPTURE(reason);
  CHECK(pays);
  CHECK_FALSE(tuner.pays(0, Nanoseconds(1000000), &reason));
  CHECK(reason.size() > 10);
}

TEST_CASE("a space that makes no sense is refused by name") {
  TunerOptions options = two_parameters();
  options.parameters.push_back({"WIDTH", {1}});
  auto tuner = Tuner::open(options);
  CHECK(tuner.status().message().find("WIDTH") != std::string::npos);
  options = two_parameters();
  options.package = "also.itkernel";
  CHECK_FALSE(Tuner::open(options).ok());
  options = TunerOptions();
  options.package = "not-there.itkernel";
  CHECK(Tuner::open(options).code() == StatusCode::not_found);
}

TEST_CASE("a configuration that is told again is no further one, and a failure takes it back") {
  TunerOptions options;
  options.name = "nine";
  options.parameters = {{"X", {1, 2, 3}}, {"Y", {1, 2, 3}}};
  auto tuner = required(Tuner::open(options));
  for (int i = 0; i < 9; ++i)
    CHECK(tuner.tell({1, 1}, {TrialStatus::correct, Nanoseconds(1000000)}));
  CHECK(tuner.told() == 1);
  CHECK(tuner.pays(1e9, Nanoseconds(1000)));
  tuner.tell({1, 1}, {TrialStatus::correct, Nanoseconds(800000)});
  tuner.tell({2, 1}, {TrialStatus::correct, Nanoseconds(500000)});
  tuner.tell({3, 1}, {TrialStatus::correct, Nanoseconds(600000)});
  CHECK(tuner.best() == Configuration{2, 1});
  tuner.tell({2, 1}, {TrialStatus::correctness, {}});
  CHECK(tuner.best() == Configuration{3, 1});
  CHECK(tuner.best_time() == Nanoseconds(600000));
  tuner.tell({3, 1}, {TrialStatus::crash, {}});
  CHECK(tuner.best_time() == Nanoseconds(800000));
  CHECK(tuner.told() == 3);
  int asked = 0;
  while (tuner.ask()) ++asked;
  CHECK(asked == 6);
}

TEST_CASE("a time that was taken back promises no more than a failure at once") {
  for (const bool asked : {false, true}) {
    std::vector<std::string> reasons;
    for (const bool taken_back : {false, true}) {
      auto tuner = required(Tuner::open(large_space()));
      for (int i = 0; i < 20; ++i)
        tuner.tell(required(tuner.ask()), {TrialStatus::correct, Nanoseconds(10000000 + i)});
      const Configuration found = asked ? required(tuner.ask()) : Configuration{63, 63};
      if (taken_back) tuner.tell(found, {TrialStatus::correct, Nanoseconds(100000)});
      tuner.tell(found, {TrialStatus::correctness, {}});
      tuner.tell(found, {TrialStatus::correctness, {}});
      CHECK_FALSE(tuner.pays(1000, Nanoseconds(100000000)));
      for (const double launches : {10.0, 1e3, 1e5, 1e7})
        (void)tuner.pays(launches, Nanoseconds(1000000), &reasons.emplace_back());
    }
    for (std::size_t i = 0; i < 4; ++i) CHECK(reasons[i] == reasons[4 + i]);
  }
}

TEST_CASE("what is best is what is left, however many fail that were better") {
  TunerOptions options;
  options.name = "many";
  options.parameters = {{"X", {}}};
  for (std::int64_t x = 0; x < 40; ++x) options.parameters[0].values.push_back(x);
  auto tuner = required(Tuner::open(options));
  for (std::int64_t x = 1; x < 40; ++x)
    tuner.tell({x}, {TrialStatus::correct, Nanoseconds(100 + x)});
  for (std::int64_t x = 1; x < 39; ++x) {
    tuner.tell({x}, {TrialStatus::runtime, {}});
    CHECK(tuner.best() == Configuration{x + 1});
    CHECK(tuner.best_time() == Nanoseconds(101 + x));
  }
}

TEST_CASE("what is told again better is learned, and nothing else that is told again") {
  const Listener listener;
  TunerOptions options = two_parameters();
  options.learner = &listener;
  auto tuner = required(Tuner::open(options));
  for (const std::int64_t ns : {900, 900, 950, 700, 800, 0, 600})
    tuner.tell({1, 1}, {TrialStatus::correct, Nanoseconds(ns)});
  tuner.tell({2, 1}, {TrialStatus::crash, {}});
  tuner.tell({2, 1}, {TrialStatus::correct, Nanoseconds(500)});
  CHECK(listener.told == std::vector<std::int64_t>{900, 700, 0});
  CHECK(tuner.told() == 2);
}

TEST_CASE("what is no configuration of the space is refused, and so are shares that are none") {
  auto tuner = required(Tuner::open(two_parameters()));
  const Measurement fast{TrialStatus::correct, Nanoseconds(5)};
  for (const Configuration& none :
       {Configuration{}, Configuration{1}, Configuration{1, 1, 1}, Configuration{3, 1}}) {
    CHECK_FALSE(tuner.tell(none, fast));
  }
  CHECK(tuner.told() == 0);
  CHECK(tuner.best() == Configuration{1, 1});
  CHECK(tuner.parameter_name(2).empty());
  for (const double wrong : {0.0, -5.0, 2.0, HUGE_VAL, std::nan("")}) {
    TunerOptions options = two_parameters();
    options.wanted_ratio = wrong;
    CHECK(Tuner::open(options).code() == StatusCode::invalid_argument);
    options = two_parameters();
    options.wanted_probability = wrong;
    CHECK(Tuner::open(options).code() == StatusCode::invalid_argument);
  }
}
