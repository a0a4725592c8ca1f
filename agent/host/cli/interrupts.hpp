// Ctrl-C and SIGTERM: heard within a second, whatever the verb does.
//
// A verb has nothing to say before it is done, and then ends by itself as soon as somebody asks; or
// it keeps what is finished (KeepsPart), looks at interrupted() and comes to its end. A second
// signal ends the program at once.
#pragma once

#include "agent/host/report/common.hpp"

namespace idletune::cli {

// From now on. `give_up` says on another thread that the verb ends with nothing; the program then
// exits with 1. Called once.
void catch_interrupts(std::function<void()> give_up);

// Whether somebody asked. Any thread. Who sees true answers, with what it has, and soon.
bool interrupted();

// Whether the cursor of the terminal stands behind a line that is drawn anew: says so from now on,
// and returns what was so until now. Any thread.
bool draws_line(bool drawn);

// While one lives the verb is not ended by itself; or only if it does not look within a second.
class KeepsPart {
 public:
  enum class Patience : std::uint8_t { endless, a_second };
  explicit KeepsPart(Patience patience = Patience::endless);
  ~KeepsPart();
  KeepsPart(const KeepsPart&) = delete;
  KeepsPart& operator=(const KeepsPart&) = delete;

 private:
  Patience patience_;
};

// Nor while one of these does, which is short: what is being written is written to its end.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

}  // namespace idletune::cli
