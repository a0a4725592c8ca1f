// Runs in a process of their own, so that a crash of the agent is a violation like others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/lives/events.hpp"
#include "tests/lives/promises.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {

struct Played {
  std::uint64_t seed = 0, lives = 0, events = 0;
  std::vector<Violation> found;
};

// Plays `count` seeds from `first` on, each at most a minute. A crash or a hang is I8 of its seed.
std::vector<Played> play_batch(std::uint64_t first, std::uint64_t count, const WorldLimits& limits,
                               const EventChoice& choice);
// One sequence likewise.
std::vector<Violation> play_apart(const World& world, const std::vector<Event>& events);

}  // namespace idletune::lives
