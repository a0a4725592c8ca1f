// What an application is told.
#include <idletune/idletune.h>
#include <idletune/events.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "agent/events/event_queue.hpp"
#include "agent/journal/journal.hpp"
#include "agent/slots/slot_record.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/journal/small_journal.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using journal::Where;
using namespace std::chrono_literals;

namespace {

// A journal in memory, and what is told of it.
struct Told {
  explicit Told(EventSink* sink = nullptr) {
    journal::JournalOptions options;
    options.events = sink != nullptr ? sink : &queue;
    journal = journal::Journal::open(std::unique_ptr<Storage>(), options);
    journal->named({journal::NameKind::kernel, 1, "gemm\n12\nM N\nMWG VEC\nmean"});
    journal->named({journal::NameKind::device, 2, "opencl\nplatform\nMali\nArm\n4"});
  }
  // In a line each, with their kinds.
  std::string lines() {
    queue.deliver();
    std::string all;
    for (const Event& event : std::exchange(events, {}))
      all += std::string(event_kind_name(event.kind)) + ": " + event.text + "\n";
    return all;
  }

  std::vector<Event> events;
  EventQueue queue{[this](const Event& event) { events.push_back(event); }};
  std::unique_ptr<journal::Journal> journal;
};

journal::Trial who() {
  journal::Trial trial;
  trial.kernel = 1;
  trial.device = 2;
  trial.driver = 3;
  trial.shape = Shape({64, 32}, {12.5});
  trial.configuration = {16, 4};
  return trial;
}

const std::string kWho = "gemm M=64 N=32:12.5 on Mali: MWG=16 VEC=4";

}  // namespace

TEST_CASE("what the journal keeps of a trial is told, its second stage is not") {
  Told told;
  (void)told.journal->intent({who(), journal::IntentStage::compile, true});
  (void)told.journal->intent({who(), journal::IntentStage::run, true});
  journal::Measurement measurement;
  measurement.trial = who();
  measurement.median = 1500us;
  measurement.default_time = 3ms;
  told.journal->measured(measurement);
  measurement.status = TrialStatus::runtime;
  told.journal->measured(measurement);
  told.journal->closed(who(), Where::helper);
  CHECK(told.lines() == "trial_begun: " + kWho + " is tried\n" +  //
                            "trial_ended: " + kWho + " takes 1.5 ms, the default 3 ms beside it\n" +
                            "trial_ended: " + kWho + " failed: runtime\n");
}

TEST_CASE("what becomes of a configuration is told, with what machines want to know") {
  Told told;
  told.journal->adopted({who(), 1500us, 3ms, 2});
  told.queue.deliver();
  REQUIRE(told.events.size() == 1);
  const Event event = told.events.front();
  CHECK(event.kernel == "gemm");
  CHECK(event.device == "Mali");
  CHECK(event.shape == who().shape);
  CHECK(event.configuration == who().configuration);
  CHECK(event.time == 1500us);
  CHECK(event.default_time == 3ms);
  CHECK(told.lines() ==
        "adopted: " + kWho + " runs from now on: 1.5 ms instead of the default's 3 ms\n");
  journal::Demotion demotion;
  demotion.key = who().shape_key();
  demotion.configuration = who().configuration;
  demotion.why = journal::DemotionReason::slower_in_launches;
  told.journal->demoted(demotion);
  told.journal->wrong(who(), 0);
  journal::test::suspected(*told.journal, who(), Where::helper,
                           journal::SuspicionCause::helper_killed, "9");
  told.journal->quarantine(who(), journal::QuarantineReason::crash, "signal 11");
  CHECK(told.lines() == "demoted: " + kWho +
                            " runs no more: slower than the default in launches\n" +  //
                            "wrong: " + kWho + " gave wrong results\n" +              //
                            "suspected: " + kWho + " is suspected: helper_killed, 9\n" +
                            "quarantined: " + kWho + " is never tried again: crash, signal 11\n");
}

TEST_CASE("what nobody has a name for is told by its digest") {
  Told told;
  journal::Trial nameless = who();
  nameless.kernel = 0xabc;
  nameless.device = 0xdef;
  told.journal->wrong(nameless, 0);
  CHECK(told.lines() ==
        "wrong: 0000000000000abc 64,32:12.5 on 0000000000000def: 16,4 gave wrong results\n");
}

TEST_CASE("what becomes of pushed models is told") {
  Told told;
  slots::SlotRecord record;
  record.confirmed = {1, 1, slots::Place::image};
  told.journal->models(record.encode());
  record.begin_trial({2, 7, slots::Place::a}, {});
  told.journal->models(record.encode());
  record.young_starts = 2;  // of no interest
  told.journal->models(record.encode());
  record.refute_trial("its picks are slower");
  told.journal->models(record.encode());
  record.begin_trial({3, 8, slots::Place::a}, {});
  told.journal->models(record.encode());
  record.confirm();
  told.journal->models(record.encode());
  CHECK(told.lines() ==
        "model: model 0000000000000001 (generation 1) stays\n"
        "model: model 0000000000000002 (generation 7) is on trial\n"
        "model: model 0000000000000002 is refused for good: its picks are slower\n"
        "model: model 0000000000000003 (generation 8) is on trial\n"
        "model: model 0000000000000003 (generation 8) stays\n");
}

TEST_CASE("storage that fails is told once, and that it works again") {
  Told told;
  told.queue.looked({});
  told.queue.looked(Status(StatusCode::no_space, "'/data' is full"));
  told.queue.looked(Status(StatusCode::no_space, "'/data' is full"));
  told.queue.looked({});
  CHECK(told.lines() ==
        "storage: nothing is kept: '/data' is full\n"
        "storage: the state folder can be written again\n");
}

TEST_CASE("of events that nobody fetches the last are counted") {
  Told told;
  for (int i = 0; i < 300; ++i) told.journal->wrong(who(), 0);
  told.queue.deliver();
  REQUIRE(told.events.size() == EventQueue::kMost);
  CHECK(told.events.front().kind == EventKind::wrong);
  CHECK(told.events.back().kind == EventKind::missed);
  CHECK(told.events.back().count == 300 - EventQueue::kMost + 1);
}

TEST_CASE("events that come while one is told are told after it, by the same thread") {
  std::vector<std::string> seen;
  EventQueue* queue = nullptr;
  EventQueue own([&](const Event& event) {
    if (seen.empty()) queue->looked(Status());
    queue->deliver();
    seen.push_back(event.text);
  });
  queue = &own;
  own.looked(Status(StatusCode::io_error, "gone"));
  own.deliver();
  CHECK(seen ==
        std::vector<std::string>{"nothing is kept: gone", "the state folder can be written again"});
}

TEST_CASE("an event has the same fields in C") {
  struct Seen {
    std::vector<std::string> texts;
    std::vector<std::int64_t> dimensions, configuration, numbers;
  } seen;
  const auto callback = [](void* context, const idletune_event* event) {
    *static_cast<Seen*>(context) = {
        {event->kernel, event->device, event->text},
        {event->dimensions, event->dimensions + event->dimension_count},
        {event->configuration, event->configuration + event->parameter_count},
        {event->kind, event->time_ns, event->default_time_ns,
         static_cast<std::int64_t>(event->count)}};
  };
  idletune_events* events = nullptr;
  REQUIRE(idletune_tell_events(callback, &seen, &events) == IDLETUNE_OK);
  auto* sink = reinterpret_cast<EventSink*>(events);
  Told told(sink);
  told.journal->adopted({who(), 1500us, 3ms, 2});
  sink->deliver();
  CHECK(seen.texts ==
        std::vector<std::string>{"gemm", "Mali",
                                 kWho + " runs from now on: 1.5 ms instead of the default's 3 ms"});
  CHECK(seen.dimensions == std::vector<std::int64_t>{64, 32});
  CHECK(seen.configuration == std::vector<std::int64_t>{16, 4});
  CHECK(seen.numbers == std::vector<std::int64_t>{IDLETUNE_ADOPTED, 1500000, 3000000, 0});
  told.journal.reset();
  idletune_events_close(events);
  CHECK(idletune_tell_events(nullptr, nullptr, &events) == IDLETUNE_INVALID_ARGUMENT);
}

TEST_CASE("an application is told what its agent does, while nobody holds the agent") {
  const auto board = test::board_that();
  std::vector<Event> events;
  detail::AgentState* state = nullptr;
  bool closing = false;
  bool held = false;
  const Events told = tell_events([&](const Event& event) {
    events.push_back(event);
    held = held || (!closing && state->tunes());
  });
  AgentOptions options;
  options.events = told.get();
  auto opened = required(detail::AgentState::open(options, board->surroundings()));
  state = opened.get();
  auto kernel = required(state->kernel(board->device, test::played_package(), "play"));
  const auto x = required(board->device.allocate(64 * sizeof(float)));
  const Argument arguments[] = {x->argument()};
  for (int frame = 0; frame < 600; ++frame) {
    for (int i = 0; i < 20; ++i) REQUIRE(kernel->launch({}, Shape{64}, arguments).ok());
    board->clock.advance(1s - state->idle(1s, detail::TimeSource::idle).used);
  }
  CHECK_FALSE(held);
  closing = true;
  opened.reset();
  const auto count = [&](EventKind kind) {
    return std::count_if(events.begin(), events.end(),
                         [&](const Event& event) { return event.kind == kind; });
  };
  CHECK(count(EventKind::trial_ended) > 5);
  CHECK(count(EventKind::trial_begun) >= count(EventKind::adopted));
  CHECK(count(EventKind::adopted) > 0);
  CHECK(count(EventKind::storage) == 1);  // there is no folder
  CHECK(count(EventKind::missed) == 0);
  for (const Event& event : events) {
    if (event.kind == EventKind::storage) continue;
    CHECK(event.text.find("play N=64 on board: A=") == 0);
    CHECK(event.shape == Shape{64});
  }
}
