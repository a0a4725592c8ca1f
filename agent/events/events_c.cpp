// <idletune/events.hpp> in C.
#include <idletune/idletune.h>
#include <idletune/events.hpp>

#include <idletune/c_handles.hpp>

namespace {

using idletune::Event;
using idletune::EventKind;

static_assert(static_cast<int>(EventKind::missed) == IDLETUNE_MISSED, "the same order");

idletune_event told(const Event& event) {
  idletune_event told = {};
  told.kind = static_cast<idletune_event_kind>(event.kind);
  told.kernel = event.kernel.c_str();
  told.device = event.device.c_str();
  told.dimensions = event.shape.data();
  told.dimension_count = event.shape.size();
  told.configuration = event.configuration.values().begin();
  told.parameter_count = event.configuration.size();
  told.time_ns = event.time.count();
  told.default_time_ns = event.default_time.count();
  told.count = event.count;
  told.text = event.text.c_str();
  return told;
}

}  // namespace

extern "C" idletune_status idletune_tell_events(void (*callback)(void*, const idletune_event*),
                                                void* context, idletune_events** events) {
  if (callback == nullptr || events == nullptr) {
    return idletune::reported({idletune::StatusCode::invalid_argument, "tell events: NULL"});
  }
  idletune::Events made = idletune::tell_events([=](const Event& event) {
    const idletune_event given = told(event);
    callback(context, &given);
  });
  *events = reinterpret_cast<idletune_events*>(made.release());
  return IDLETUNE_OK;
}

extern "C" void idletune_events_close(idletune_events* events) {
  idletune::CloseEvents()(reinterpret_cast<idletune::EventSink*>(events));
}
