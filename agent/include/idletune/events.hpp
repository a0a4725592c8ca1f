// What an agent does, told to the application as it happens: for AgentOptions::events. A program
// contains this only if it names it.
//
//   auto events = idletune::tell_events([](const idletune::Event& event) {
//     syslog(LOG_INFO, "idletune: %s", event.text.c_str());
//   });
//   options.events = events.get();  // outlives the agent
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <idletune/configuration.hpp>

namespace idletune {

class EventSink;

enum class EventKind : std::uint8_t {
  trial_begun = 0,  // a configuration is about to be compiled and run; again after a gap between
  trial_ended = 1,  // it ran, or failed in a way that everybody survived
  adopted = 2,      // launches use it from now on
  demoted = 3,      // they did, and use the default again
  suspected = 4,    // a process or the board died while it was under way
  quarantined = 5,  // it is never tried again
  wrong = 6,        // its results were wrong: never again at this shape
  model = 7,        // a pushed model is on trial, stays, or was gone back from
  storage = 8,      // the state folder cannot be written, or can again
  missed = 9        // more came between two deliveries than may wait: the last are but counted
};
const char* event_kind_name(EventKind kind);  // "trial_begun", ...; never null

struct Event {
  EventKind kind = EventKind::missed;
  std::string kernel;           // by name; empty: it is of none
  std::string device;           // likewise
  Shape shape;                  // may be empty though there is a kernel: only its digest was kept
  Configuration configuration;  // likewise
  // Trials that were right, and adoptions: of a launch, and of the default beside it. 0: unknown.
  std::chrono::nanoseconds time{0};
  std::chrono::nanoseconds default_time{0};
  std::uint64_t count = 0;  // missed: how many
  std::string text;         // all of it in one line
};

struct CloseEvents {
  void operator()(EventSink* events) const;
};
using Events = std::unique_ptr<EventSink, CloseEvents>;

// `callback` is called for one event at a time, in the order in which things happened, by a thread
// that is in idle(), tune_now(), prepare() or flush(), or closes the agent, and by the background
// thread between two steps: what it takes is taken from their time. Launches never call it. It must
// not call the agent. What is told was decided; whether it is on the medium already, flush() says.
// At most 256 events wait. For one agent at a time.
Events tell_events(std::function<void(const Event&)> callback);

}  // namespace idletune
