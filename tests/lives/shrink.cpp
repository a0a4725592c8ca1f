#include "tests/lives/shrink.hpp"

#include <algorithm>
#include <cstddef>

#include "tests/lives/batch.hpp"

namespace idletune::lives {

bool fails(const World& world, const std::vector<Event>& events, const std::string& code) {
  for (const Violation& violation : play_apart(world, events))
    if (violation.code == code) return true;
  return false;
}

std::vector<Event> shrink(const World& world, std::vector<Event> events, const std::string& code,
                          int budget) {
  std::size_t piece = std::max<std::size_t>(1, events.size() / 2);
  for (;;) {
    bool any = false;
    for (std::size_t from = 0; from < events.size() && budget > 0; --budget) {
      std::vector<Event> fewer = events;
      const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(from);
      fewer.erase(begin,
                  begin + static_cast<std::ptrdiff_t>(std::min(piece, events.size() - from)));
      if (fails(world, fewer, code)) {
        events = std::move(fewer);
        any = true;
      } else {
        from += piece;
      }
    }
    if (budget <= 0 || (piece == 1 && !any)) return events;
    piece = std::max<std::size_t>(1, piece / 2);
  }
}

}  // namespace idletune::lives
