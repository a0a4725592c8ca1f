// What may happen to an application, its board, its helper and its disk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace idletune::lives {

struct World;

enum class Kind : std::uint8_t {
  launch,      // shape, times
  gap,         // microseconds
  tune,        // microseconds granted
  background,  // milliseconds of the background loop
  thread,      // shape, times: launched by another thread from now on
  prepare,     // shape
  expect,      // shape, launches
  explain,
  flush,
  model,  // first pick, second of the portfolio; 0: none. With slots: pushed; 0: the application
          // confirms (1: or rejects)
  board_speed,    // in tenths
  sensors,        // 1: the board is busy, 0: it rests
  storage_fails,  // at the n-th change, for m changes
  slow_medium,    // milliseconds per sync, for n syncs
  slow_compiler,  // milliseconds per build, for n builds
  memory_short,   // n preparations fail
  bad_launch,     // shape: the application's own error
  helper_killed,  // at the n-th stage
  helper_reaped,  // nobody learns how helpers end, for n ends
  starved,        // n stages take ten times as long
  noise,          // n runs of candidates take a fifth longer
  frozen,         // all processes, at the n-th stage, for m seconds
  clean_end,
  kill,
  kill_at_stage,  // the n-th stage or build
  kill_at_write,  // the n-th change of the disk
  power_cut,
  cut_at_stage,
  cut_at_write,
  pause,        // seconds
  wall_clock,   // seconds, back or forth
  next_driver,  // or package, from the next start on
  quirk,        // the configuration that the quirk table names from the next start on; 0: none
  in_place,     // 1: allowed from now on
  constants,    // 0: other contents, 1 and 2: that buffer from now on
  queue,        // n: launches go to that queue, and m times it cannot be put in order
  device_lost,  // at the n-th stage: whatever a helper runs dies, until the process ends
  untimed,      // the next n launches tell no times
  frames,       // shape, times: ten launches, and a millisecond of idle time
  capture,      // shape, which data: lent from now on
  solve,        // solver, times: linear systems
  multiply,     // solver, times: products
  new_solver,   // solver: the next one begins anew
  bad_product,  // the n-th product from now on ends with an error
  count
};
const char* name_of(Kind kind);

struct Event {
  Kind kind = Kind::gap;
  int a = 0, b = 0;
};

struct EventChoice {
  std::string without;  // kinds, with commas between them
  std::size_t count = 120;
};

std::vector<Event> draw_events(const World& world, const EventChoice& choice);
// "launch(0,300) gap(200)": what --play reads.
std::string to_text(const std::vector<Event>& events);
bool from_text(const std::string& text, std::vector<Event>& events);

}  // namespace idletune::lives
