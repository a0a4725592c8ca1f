// Ever smaller pieces of a sequence are left out while it still fails (delta debugging).
#pragma once

#include <string>
#include <vector>

#include "tests/lives/events.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {

bool fails(const World& world, const std::vector<Event>& events, const std::string& code);
// The shortest sequence found within `budget` runs.
std::vector<Event> shrink(const World& world, std::vector<Event> events, const std::string& code,
                          int budget);

}  // namespace idletune::lives
