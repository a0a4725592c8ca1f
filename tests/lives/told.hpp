// What the application is told in a life.
#pragma once

#include <map>
#include <set>
#include <utility>

#include <idletune/events.hpp>

#include "tests/lives/process.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {

class Told {
 public:
  explicit Told(const World& world);
  EventSink* sink() const { return events_.get(); }
  void begin(const Process& process);  // it has started
  void deliver();                      // as a background thread does after each round
  // `recorded` is recorded as adopted for the shape, 0: nothing. Empty: as told; else what is not.
  const char* of_shape(const Process& process, int s, int recorded) const;
  const char* of_quarantine(int c, bool quarantined) const;

 private:
  void hear(const idletune::Event& event);

  const World& world_;
  const Events events_;
  bool missed_ = false;
  std::map<int, int> adopted_;                  // last told, by shape; 0: demoted
  std::set<std::pair<int, int>> ever_adopted_;  // shape and configuration: told, or known before
  std::set<int> quarantined_;                   // likewise
};

}  // namespace idletune::lives
