#include "tests/lives/told.hpp"

#include "agent/journal/event_sink.hpp"

namespace idletune::lives {

Told::Told(const World& world)
    : world_(world), events_(tell_events([this](const idletune::Event& event) { hear(event); })) {}

void Told::begin(const Process& process) {
  for (int c = 1; c < world_.count(); ++c) {
    if (process.is_quarantined(c)) quarantined_.insert(c);
    for (int s = 0; s < world_.shapes(); ++s)
      if (process.is_recorded(c, s)) ever_adopted_.insert({s, c});
  }
}

void Told::deliver() { events_->deliver(); }

void Told::hear(const idletune::Event& event) {
  if (event.kind == EventKind::missed) missed_ = true;
  const int c = event.configuration.empty() ? 0 : world_.index_of(event.configuration);
  const int s = event.shape.size() == 0 ? -1 : world_.index_of(event.shape);
  if (event.kind == EventKind::quarantined) quarantined_.insert(c);
  if (event.kind == EventKind::adopted) {
    ever_adopted_.insert({s, c});
    adopted_[s] = c;
  }
  if (event.kind == EventKind::demoted) adopted_[s] = 0;
}

const char* Told::of_shape(const Process& process, int s, int recorded) const {
  if (missed_) return "";
  if (recorded > 0 && ever_adopted_.count({s, recorded}) == 0) return "adopted-untold";
  const auto told = adopted_.find(s);
  if (told == adopted_.end() || told->second == 0) return "";
  return process.is_recorded(told->second, s) ? "" : "told-adopted-and-is-not";
}

const char* Told::of_quarantine(int c, bool quarantined) const {
  return quarantined && !missed_ && quarantined_.count(c) == 0 ? "quarantined-untold" : "";
}

}  // namespace idletune::lives
