// What the facts say of suspects that are tried again.
#include "tests/unit/tuning/played_engine.hpp"

using namespace idletune;
using detail::Where;
using idletune::test::board_that;
using idletune::test::PlayedEngine;

TEST_CASE("what dies in a retry is not tried again at the shapes where it still waits") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  detail::Facts facts(*engine.journal, nullptr);
  const detail::FactSubject subject = engine.kernel->facts();
  const Configuration suspect{3, 3}, other{4, 4};
  const Shape here{64}, elsewhere{128};
  const auto dies = [&](const Configuration& configuration) {
    journal::Open open;
    open.trial = subject.trial(configuration, here);
    open.place = Where::helper;
    open.stage = journal::IntentStage::run;
    facts.died(open, journal::Ending::helper_killed, "killed by somebody");
  };
  const auto may = [&](const Configuration& configuration, const Shape& shape) {
    return facts.may(subject, configuration, shape, Where::helper);
  };
  for (const Configuration& configuration : {suspect, other}) {
    dies(configuration);
    REQUIRE_FALSE(may(configuration, here));
    for (const Shape& shape : {here, elsewhere})
      facts.begin_retry(subject.trial(configuration, shape), Where::helper);
    REQUIRE(may(configuration, here));
    REQUIRE(may(configuration, elsewhere));
  }
  dies(suspect);
  CHECK_FALSE(may(suspect, here));
  CHECK_FALSE(may(suspect, elsewhere));
  CHECK(may(other, elsewhere));
}

TEST_CASE("a death on one device does not end a retry on another one") {
  const auto board = board_that();
  PlayedEngine engine(*board);
  detail::Facts facts(*engine.journal, nullptr);
  const detail::FactSubject one = engine.kernel->facts();
  DeviceInfo info = one.device;
  info.name = "another";
  const detail::FactSubject other{one.package, info};
  const Configuration suspect{3, 3};
  const auto dies_on = [&](const detail::FactSubject& subject) {
    facts.died({subject.trial(suspect, {64}), Where::helper}, journal::Ending::helper_killed, "");
  };
  for (const detail::FactSubject* subject : {&one, &other}) {
    dies_on(*subject);
    facts.begin_retry(subject->trial(suspect, {64}), Where::helper);
  }
  dies_on(one);
  CHECK_FALSE(facts.may(one, suspect, {64}, Where::helper));
  CHECK(facts.may(other, suspect, {64}, Where::helper));
}
