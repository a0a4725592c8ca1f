#include <doctest/doctest.h>

#include <set>
#include <vector>

#include <idletune/learning.hpp>

#include "agent/search/searchers.hpp"
#include "agent/tuning/shape_search.hpp"
#include "tests/unit/scheduler/two_source_model.hpp"
#include "tests/unit/search/search_spaces.hpp"

using namespace idletune;

namespace {

constexpr std::int64_t kFirstPick = 3;

// Entries 0 ... 11; the first pick is 3.
std::shared_ptr<const KernelModel> model_with_first_pick(std::int64_t pick = kFirstPick) {
  const auto model = test::two_source_model(12, [&](test::ModelContent& content) {
    content.picks = {{-1, {}, {pick}, 0.6f}};
  });
  return KernelModel::of(model, &model->kernels().front());
}

// Searches x in 0 ... 99; 50 runs without tuning.
struct Case {
  explicit Case(std::shared_ptr<const KernelModel> model = nullptr)
      : search(subject(space), std::move(model)) {}
  static SearchSubject subject(const Space& space) {
    SearchSubject subject;
    subject.space = &space;
    subject.untuned = {50};
    subject.seed = 7;
    return subject;
  }
  Space space = named_line();
  ShapeSearch search;

 private:
  static Space named_line() {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 100; ++i) values.push_back(i);
    const auto space = product_space(std::vector<std::string>{"x"},
                                     std::vector<std::vector<std::int64_t>>{values});
    REQUIRE(space.ok());
    return *space;
  }
};

Admission all(const Configuration&) { return Admission::admitted; }

StepResult ran(const Proposal& proposal, std::int64_t microseconds) {
  StepResult result;
  result.proposal = proposal;
  result.verdict = TrialVerdict::reject_slow;
  result.time = std::chrono::microseconds(microseconds);
  result.checked_seeds = 1;
  return result;
}

StepResult failed(const Proposal& proposal, TrialStatus status) {
  StepResult result;
  result.proposal = proposal;
  result.status = status;
  return result;
}

KnownMeasurement known(std::int64_t x, std::int64_t microseconds) {
  return {{x}, {TrialStatus::correct, std::chrono::microseconds(microseconds), {}}, {}};
}

SearchSituation situation_of(double launches) {
  SearchSituation situation;
  situation.running = {50};
  situation.running_time = std::chrono::milliseconds(10);
  situation.expected_launches = launches;
  situation.step.charge = std::chrono::milliseconds(100);
  return situation;
}

}  // namespace

TEST_CASE("the first pick comes first, then hints, then what the searcher proposes") {
  Case with(model_with_first_pick());
  with.search.add_hint({90});
  CHECK(with.search.first_pick_left());
  const auto first = with.search.next(all);
  REQUIRE(first);
  CHECK(first->configuration == Configuration{kFirstPick});
  CHECK(first->origin == ProposalOrigin::first_pick);
  CHECK_FALSE(with.search.first_pick_left());
  CHECK(with.search.next(all)->configuration == Configuration{90});
  const auto third = with.search.next(all);
  CHECK(third->origin == ProposalOrigin::portfolio);
  CHECK(third->configuration[0] < 12);
}

TEST_CASE("without a model everything but the baseline is drawn, each once") {
  Case without;
  CHECK_FALSE(without.search.first_pick());
  CHECK_FALSE(without.search.next_first_pick(all));
  std::set<std::int64_t> seen;
  while (const auto proposal = without.search.next(all)) {
    CHECK(proposal->origin == ProposalOrigin::random);
    CHECK(seen.insert(proposal->configuration[0]).second);
    without.search.step_ended(ran(*proposal, 100 + proposal->configuration[0]));
  }
  CHECK(seen.size() == 99);
  CHECK(seen.count(50) == 0);
  CHECK(without.search.evidence().evaluated == 99);
  CHECK(without.search.evidence().draws.count() == 99);
  CHECK(without.search.evidence().best_here == std::chrono::microseconds(100));
}

TEST_CASE("proposals are those of the product's searcher alone, first pick included") {
  Case with(model_with_first_pick());
  SearchSubject subject = Case::subject(with.space);
  subject.has_baseline = false;
  subject.untuned = {};
  subject.learner = forest_learner();
  ShapeSearch search(subject, model_with_first_pick());
  SearcherOptions options;
  options.seed = subject.seed;
  options.learner = forest_learner();
  const auto model = model_with_first_pick();
  const auto alone = make_product_searcher(with.space, model->knowledge, options);
  for (int i = 0; i < 60; ++i) {
    const auto proposal = search.next(all);
    const auto expected = alone->ask();
    REQUIRE(proposal);
    CHECK(proposal->configuration == expected->configuration);
    CHECK(proposal->origin == expected->origin);
    const StepResult result = ran(*proposal, 100 + (17 * proposal->configuration[0]) % 53);
    search.step_ended(result);
    alone->tell(expected->configuration, result.observation());
  }
}

TEST_CASE("only the first pick is given where nothing else is asked for") {
  Case with(model_with_first_pick());
  with.search.add_hint({90});
  CHECK(with.search.next_first_pick(all)->configuration == Configuration{kFirstPick});
  CHECK_FALSE(with.search.next_first_pick(all));
  CHECK(with.search.next(all)->configuration == Configuration{90});
}

TEST_CASE("the first pick comes first where the turn is a draw's, too") {
  Case with(model_with_first_pick());
  std::vector<KnownMeasurement> measured;
  for (std::int64_t x = 60; x < 65; ++x) measured.push_back(known(x, 100 + x));
  for (const KnownMeasurement& each : measured) with.search.recall(each);
  CHECK(with.search.next_first_pick(all)->configuration == Configuration{kFirstPick});
  with.search.renew(model_with_first_pick(70), {measured.data(), measured.size()});
  CHECK(with.search.next(all)->configuration == Configuration{70});
}

TEST_CASE("a first pick that is refused counts as tried, and nothing comes in its place") {
  Case with(model_with_first_pick());
  const auto none = [](const Configuration&) { return Admission::refused; };
  CHECK_FALSE(with.search.next_first_pick(none));
  CHECK_FALSE(with.search.first_pick_left());
  CHECK_FALSE(with.search.next_first_pick(all));
}

TEST_CASE("what is refused is skipped, and what cannot be launched is a draw that found nothing") {
  Case refused;
  Case impossible;
  const auto admission = [](Admission odd) {
    return [odd](const Configuration& c) { return c[0] % 2 == 1 ? odd : Admission::admitted; };
  };
  std::size_t count = 0;
  while (const auto proposal = refused.search.next(admission(Admission::refused))) {
    CHECK(proposal->configuration[0] % 2 == 0);
    ++count;
  }
  CHECK(count == 49);
  CHECK(refused.search.evidence().draws.count() == 0);
  while (impossible.search.next(admission(Admission::impossible))) {
  }
  CHECK(impossible.search.evidence().draws.failed() == 50);
  CHECK(impossible.search.evidence().evaluated == 0);
}

TEST_CASE("where hardly anything is admitted one call does not walk the space") {
  const Space space = test::cube(100, 3);
  ShapeSearch search(Case::subject(space), make_random_searcher(space, {}));
  int asked = 0;
  const auto none = [&](const Configuration&) {
    ++asked;
    return Admission::impossible;
  };
  CHECK_FALSE(search.next(none));
  CHECK(asked == ShapeSearch::kMostInARow);
}

TEST_CASE("the baseline is told to searcher and evidence and is no step") {
  Case with(model_with_first_pick());
  StepResult baseline = ran({{50}, ProposalOrigin::application}, 800);
  with.search.baseline_ended(baseline);
  CHECK(with.search.evidence().best_here == std::chrono::microseconds(800));
  CHECK(with.search.evidence().evaluated == 0);
  CHECK(with.search.evidence().draws.count() == 0);
  CHECK(with.search.first_pick_left());
}

TEST_CASE("a first pick that runs without tuning is tried with the baseline") {
  Case with(model_with_first_pick(50));
  REQUIRE(with.search.first_pick());
  CHECK(with.search.is_first_pick({50}));
  CHECK_FALSE(with.search.first_pick_left());
  CHECK(with.search.first_pick_time().count() == 0);
  with.search.baseline_ended(ran({{50}, ProposalOrigin::application}, 800));
  CHECK(with.search.first_pick_time() == std::chrono::microseconds(800));
  CHECK(with.search.next(all)->origin == ProposalOrigin::portfolio);
}

TEST_CASE("steps count, failures apart; only uniform draws are draws") {
  Case with(model_with_first_pick());
  with.search.step_ended(failed(*with.search.next(all), TrialStatus::correctness));
  CHECK(with.search.first_pick_time().count() == 0);
  with.search.step_ended(ran(*with.search.next(all), 300));
  const ShapeEvidence& evidence = with.search.evidence();
  CHECK(evidence.evaluated == 2);
  CHECK(evidence.rejected == 1);
  CHECK(evidence.draws.count() == 0);
  with.search.step_ended(ran({{80}, ProposalOrigin::random}, 500));
  with.search.step_ended(failed({{81}, ProposalOrigin::random}, TrialStatus::timeout));
  CHECK(evidence.draws.count() == 2);
  CHECK(evidence.draws.failed() == 1);
  CHECK(evidence.best_here == std::chrono::microseconds(300));
}

TEST_CASE("what the application chose by itself is neither a draw nor proposed again") {
  Case without;
  without.search.step_ended(ran({{33}, ProposalOrigin::application}, 300));
  CHECK(without.search.evidence().evaluated == 1);
  CHECK(without.search.evidence().draws.count() == 0);
  while (const auto proposal = without.search.next(all))
    CHECK(proposal->configuration != Configuration{33});
}

TEST_CASE("what is recalled counts as what it was proposed as and is not proposed again") {
  Case before(model_with_first_pick());
  std::vector<KnownMeasurement> measured;
  for (int i = 0; i < 20; ++i) {
    const Proposal proposal = *before.search.next(all);
    measured.push_back(known(proposal.configuration[0], 100 + i));
    before.search.step_ended(ran(proposal, 100 + i));
  }
  Case after(model_with_first_pick());
  for (const KnownMeasurement& each : measured) after.search.recall(each);
  CHECK(after.search.evidence().evaluated == 20);
  CHECK(after.search.evidence().draws.count() == before.search.evidence().draws.count());
  CHECK(after.search.evidence().draws.count() > 0);
  CHECK_FALSE(after.search.first_pick_left());
  CHECK(after.search.first_pick_time() == std::chrono::microseconds(100));
  while (const auto proposal = after.search.next(all)) {
    for (const KnownMeasurement& each : measured)
      CHECK(proposal->configuration != each.configuration);
  }
}

TEST_CASE("after a restart as many draws are known as were made") {
  const Case whole;
  SearchSubject subject = Case::subject(whole.space);
  subject.learner = forest_learner();
  const std::shared_ptr<const KernelModel> none;
  ShapeSearch first(subject, none);
  ShapeSearch second(subject, none);
  for (int i = 0; i < 60; ++i) {
    const Proposal proposal = *first.next(all);
    first.step_ended(ran(proposal, 100 + proposal.configuration[0]));
    KnownMeasurement each = known(proposal.configuration[0], 100 + proposal.configuration[0]);
    each.drawn = proposal.origin == ProposalOrigin::random;
    CHECK(second.recall(each) == proposal.origin);
  }
  CHECK(second.evidence().draws.count() == first.evidence().draws.count());
}

TEST_CASE("a recalled baseline is no step") {
  Case without;
  CHECK(without.search.recall(known(50, 400)) == ProposalOrigin::application);
  CHECK(without.search.evidence().best_here == std::chrono::microseconds(400));
  CHECK(without.search.evidence().evaluated == 0);
}

TEST_CASE("of an explored space all but the model's entries are uniform draws") {
  Case with(model_with_first_pick());
  std::uint32_t drawn = 0;
  for (std::int64_t x = 0; x < 50; ++x) {
    drawn += with.search.recall(known(x, 100 + x), true) == ProposalOrigin::random ? 1 : 0;
  }
  CHECK(drawn == 38);
  CHECK(with.search.evidence().draws.count() == 38);
  CHECK(with.search.evidence().evaluated == 50);
}

TEST_CASE("a hint that has been measured since is not tried again") {
  Case without;
  without.search.add_hint({20});
  without.search.add_hint({21});
  without.search.recall(known(21, 100));
  CHECK(without.search.next(all)->configuration == Configuration{20});
  while (const auto proposal = without.search.next(all))
    CHECK(proposal->configuration != Configuration{21});
}

TEST_CASE("another model changes what comes next and keeps what was found") {
  Case with(model_with_first_pick());
  std::vector<KnownMeasurement> measured;
  for (int i = 0; i < 8; ++i) {
    const Proposal proposal = *with.search.next(all);
    measured.push_back(known(proposal.configuration[0], 200 + i));
    with.search.step_ended(ran(proposal, 200 + i));
  }
  const auto next = model_with_first_pick(60);
  with.search.renew(next, {measured.data(), measured.size()});
  CHECK(with.search.model().get() == next.get());
  CHECK(with.search.evidence().evaluated == 8);
  CHECK(with.search.evidence().best_here == std::chrono::microseconds(200));
  CHECK(with.search.first_pick_time().count() == 0);
  CHECK(with.search.next(all)->configuration == Configuration{60});
  while (const auto proposal = with.search.next(all)) {
    for (const KnownMeasurement& each : measured)
      CHECK(proposal->configuration != each.configuration);
  }
  // One whose first pick is known already.
  with.search.renew(model_with_first_pick(), {measured.data(), measured.size()});
  CHECK_FALSE(with.search.first_pick_left());
  CHECK(with.search.first_pick_time() == std::chrono::microseconds(200));
}

TEST_CASE("a decision is weighed without being kept, and decided by what was found") {
  Case without;
  const ShapeSearch& constant = without.search;
  CHECK(constant.weigh(situation_of(0)).verdict == Verdict::stop);
  const Decision before = constant.weigh(situation_of(1e9));
  CHECK_FALSE(without.search.decision());
  for (int i = 0; i < 6; ++i)
    without.search.step_ended(ran(*without.search.next(all), 5000 + 100 * i));
  CHECK(without.search.decide(situation_of(1e9)).verdict == Verdict::tune);
  REQUIRE(without.search.decision());
  CHECK(without.search.asks_for_step(*without.search.decision()));
  CHECK(without.search.decision()->best_estimate_ns != before.best_estimate_ns);
  CHECK_FALSE(without.search.asks_for_step(without.search.decide(situation_of(1))));
}

TEST_CASE("a first pick is asked for until it was tried") {
  Case with(model_with_first_pick());
  Decision decision;
  decision.verdict = Verdict::use_history;
  CHECK(with.search.asks_for_step(decision));
  with.search.step_ended(ran(*with.search.next(all), 100));
  CHECK_FALSE(with.search.asks_for_step(decision));
  decision.verdict = Verdict::tune;
  CHECK(with.search.asks_for_step(decision));
}

TEST_CASE("what the first pick took here makes the estimate of the best one of its own") {
  Case with(model_with_first_pick());
  SearchSituation situation = situation_of(1000);
  const double before = with.search.weigh(situation).best_estimate_ns;
  with.search.step_ended(ran(*with.search.next(all), 1000));
  CHECK(with.search.weigh(situation).best_estimate_ns < 1e6);
  CHECK(with.search.weigh(situation).best_estimate_ns != before);
}

TEST_CASE("a change of clock changes absolute times and nothing else") {
  // Two searches of one device, of which one gets slower by 1.6 half-way, and fast again.
  for (const bool model : {true, false}) {
    Case steady(model ? model_with_first_pick() : nullptr);
    Case throttled(model ? model_with_first_pick() : nullptr);
    double clock = 1;
    const auto run = [&](ShapeSearch& search, double factor) {
      const auto proposal = search.next(all);
      REQUIRE(proposal);
      const std::int64_t time = 1000 + 37 * ((proposal->configuration[0] * 71) % 97);
      search.step_ended(ran(*proposal, static_cast<std::int64_t>(factor * 10) * time / 10));
      return proposal->configuration;
    };
    for (int i = 0; i < 40; ++i) {
      if (i == 15 || i == 30) {
        const auto before = std::chrono::microseconds(static_cast<std::int64_t>(10000 * clock));
        clock = i == 15 ? 1.6 : 1.0;
        const auto now = std::chrono::microseconds(static_cast<std::int64_t>(10000 * clock));
        throttled.search.clock_changed(before, now);
      }
      CHECK(run(steady.search, 1) == run(throttled.search, clock));
      SearchSituation situation = situation_of(1000);
      const Decision expected = steady.search.weigh(situation);
      situation.running_time = std::chrono::microseconds(static_cast<std::int64_t>(10000 * clock));
      situation.step.charge = std::chrono::microseconds(static_cast<std::int64_t>(100000 * clock));
      const Decision decision = throttled.search.weigh(situation);
      CHECK(decision.verdict == expected.verdict);
      CHECK(decision.break_even_launches ==
            doctest::Approx(expected.break_even_launches).epsilon(1e-3));
      CHECK(decision.best_estimate_ns ==
            doctest::Approx(clock * expected.best_estimate_ns).epsilon(1e-3));
    }
    CHECK(throttled.search.evidence().as_at_first(std::chrono::microseconds(500)) ==
          std::chrono::microseconds(500));
  }
}

TEST_CASE("a step is priced by the ledger's weights") {
  Case without;
  LedgerOptions options;
  options.kappa_idle = 0.5;
  options.kappa_cpu = 0.25;
  StageContext context;
  context.incumbent_run = std::chrono::milliseconds(1);
  const StageEstimates::StepCost time = without.search.estimates().typical_step(context);
  const StepPrice price = without.search.step_price(context, Ledger(options));
  CHECK(price.time.cpu == time.cpu);
  CHECK(std::abs((price.charge - time.cpu / 4 - time.device / 2).count()) <= 2);
  CHECK(price.charge_high > price.charge);
}

TEST_CASE("a searcher to compare with is asked and told in the product's place") {
  Case with;
  SearchSubject subject = Case::subject(with.space);
  subject.has_baseline = false;
  ShapeSearch search(subject, make_random_searcher(with.space, {}));
  std::set<std::int64_t> seen;
  while (const auto proposal = search.next(all)) {
    seen.insert(proposal->configuration[0]);
    search.step_ended(ran(*proposal, 10));
  }
  CHECK(seen.size() == 100);
}
