#include "tests/lives/events.hpp"

#include <cstdio>
#include <sstream>

#include "tests/lives/draw.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {
namespace {

struct KindTraits {
  const char* name;
  int weight;
};
constexpr KindTraits kKinds[] = {
    {"launch", 30},       {"gap", 22},          {"tune", 10},         {"background", 4},
    {"thread", 2},        {"prepare", 4},       {"expect", 3},        {"explain", 1},
    {"flush", 2},         {"model", 2},         {"board_speed", 3},   {"sensors", 1},
    {"storage_fails", 1}, {"slow_medium", 2},   {"slow_compiler", 2}, {"memory_short", 1},
    {"bad_launch", 1},    {"helper_killed", 2}, {"helper_reaped", 1}, {"starved", 1},
    {"noise", 2},         {"frozen", 1},        {"clean_end", 3},     {"kill", 2},
    {"kill_at_stage", 2}, {"kill_at_write", 1}, {"power_cut", 1},     {"cut_at_stage", 2},
    {"cut_at_write", 2},  {"pause", 3},         {"wall_clock", 1},    {"next_driver", 1},
    {"quirk", 1},         {"in_place", 1},      {"constants", 2},     {"queue", 2},
    {"device_lost", 1},   {"untimed", 2},       {"frames", 4},        {"capture", 8},
    {"solve", 6},         {"multiply", 4},      {"new_solver", 2},    {"bad_product", 1}};
static_assert(sizeof kKinds / sizeof kKinds[0] == static_cast<std::size_t>(Kind::count));

// A number below `bound`.
int below(std::uint64_t draw, int bound) {
  return static_cast<int>(draw % static_cast<std::uint64_t>(bound));
}

template <std::size_t n>
int one_of(std::uint64_t draw, const int (&values)[n]) {
  return values[draw % n];
}

Event drawn(Kind kind, std::uint64_t h, int shapes, int configurations) {
  const std::uint64_t x = mix(h, 1), y = mix(h, 2);
  const int shape = below(x, shapes);
  switch (kind) {
    case Kind::launch: return {kind, shape, one_of(y, {1, 3, 30, 300, 2000})};
    case Kind::gap: return {kind, one_of(y, {1000, 5000, 30000, 200000, 2000000}), 0};
    case Kind::tune: return {kind, one_of(y, {10000, 50000, 300000, 2000000}), 0};
    case Kind::background: return {kind, one_of(y, {20, 300, 3000}), 0};
    case Kind::frames: return {kind, shape, one_of(y, {3, 20, 60})};
    case Kind::thread: return {kind, shape, one_of(y, {3, 50, 500})};
    case Kind::prepare:
    case Kind::bad_launch: return {kind, shape, 0};
    case Kind::expect: return {kind, shape, below(y, 100000)};
    case Kind::capture: return {kind, shape, below(y, 3)};
    case Kind::solve: return {kind, below(x, 6), one_of(y, {1, 3, 20})};
    case Kind::multiply: return {kind, below(x, 6), one_of(y, {1, 30, 1000})};
    case Kind::new_solver: return {kind, below(x, 6), 0};
    case Kind::bad_product: return {kind, 1 + below(y, 400), 0};
    case Kind::model:
      return {kind, x % 5 == 0 ? 0 : 1 + below(x / 5, configurations - 1),
              below(y, configurations)};
    case Kind::board_speed: return {kind, x % 2 == 0 ? 10 : 12 + below(y, 16), 0};
    case Kind::untimed: return {kind, one_of(x, {1, 70, 2000}), 0};
    case Kind::sensors:
    case Kind::in_place: return {kind, below(x, 2), 0};
    case Kind::storage_fails: return {kind, below(x, 4), x % 3 == 0 ? 1 : 1 + below(y, 40)};
    case Kind::slow_medium:
    case Kind::slow_compiler: return {kind, one_of(x, {30, 300, 3000}), 1 + below(y, 6)};
    case Kind::frozen: return {kind, 1 + below(x, 6), one_of(y, {1, 30, 4000})};
    case Kind::wall_clock: return {kind, one_of(x, {-100000, -60, 3600, 100000000}), 0};
    case Kind::memory_short:
    case Kind::helper_reaped:
    case Kind::starved: return {kind, 1 + below(x, 3), 0};
    case Kind::noise: return {kind, 1 + below(x, 30), 0};
    case Kind::helper_killed:
    case Kind::device_lost:
    case Kind::kill_at_stage:
    case Kind::cut_at_stage: return {kind, 1 + below(x, 12), 0};
    case Kind::kill_at_write:
    case Kind::cut_at_write: return {kind, below(x, 10), 0};
    case Kind::pause: return {kind, x % 4 == 0 ? 400 : 1 + below(y, 100), 0};
    case Kind::constants: return {kind, below(x, 3), 0};
    case Kind::queue: return {kind, below(x, 2), below(y, 3)};
    case Kind::quirk: return {kind, x % 3 == 0 ? 0 : 1 + below(y, configurations - 1), 0};
    case Kind::next_driver: return {kind, below(x, World::kDrivers), 0};
    default: return {kind, 0, 0};
  }
}

}  // namespace

const char* name_of(Kind kind) { return kKinds[static_cast<int>(kind)].name; }

// Swarm testing: each run leaves a third of the kinds out, so that the others get deep.
std::vector<Event> draw_events(const World& world, const EventChoice& choice) {
  const std::uint64_t seed = world.seed;
  std::vector<Kind> bag;
  for (int k = 0; k < static_cast<int>(Kind::count); ++k) {
    const std::string name = std::string(",") + kKinds[k].name + ",";
    if (("," + choice.without + ",").find(name) != std::string::npos) continue;
    if (k >= static_cast<int>(Kind::solve) && !world.solves) continue;
    if (k >= 3 && mix(seed, 77, static_cast<std::uint64_t>(k)) % 3 == 0) continue;
    bag.insert(bag.end(), static_cast<std::size_t>(kKinds[k].weight), static_cast<Kind>(k));
  }
  std::vector<Event> events;
  for (std::size_t i = 0; i < choice.count; ++i) {
    const std::uint64_t h = mix(seed, 78, i);
    events.push_back(drawn(bag[h % bag.size()], h, world.shapes(), world.count()));
  }
  return events;
}

std::string to_text(const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) {
    if (!text.empty()) text += ' ';
    text += name_of(event.kind);
    if (event.a != 0 || event.b != 0) text += "(" + std::to_string(event.a);
    if (event.b != 0) text += "," + std::to_string(event.b);
    if (event.a != 0 || event.b != 0) text += ")";
  }
  return text;
}

bool from_text(const std::string& text, std::vector<Event>& events) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    Event event;
    const std::size_t bar = word.find('(');
    const std::string name = word.substr(0, bar);
    int kind = 0;
    while (kind < static_cast<int>(Kind::count) && name != kKinds[kind].name) ++kind;
    if (kind == static_cast<int>(Kind::count)) return false;
    event.kind = static_cast<Kind>(kind);
    if (bar != std::string::npos &&
        std::sscanf(word.c_str() + bar, "(%d,%d)", &event.a, &event.b) < 1) {
      return false;
    }
    events.push_back(event);
  }
  return true;
}

}  // namespace idletune::lives
