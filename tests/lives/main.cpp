// idletune_lives: plays lives of the agent until something breaks a promise. README.md.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/lives/batch.hpp"
#include "tests/lives/shrink.hpp"
#include "tests/lives/simulation.hpp"

namespace {

using namespace idletune::lives;

struct Options {
  std::uint64_t seed = 1, runs = 1;
  EventChoice events;
  WorldLimits world;
  std::string only, except, open_findings, play, resume, sequence, commit;
  int shrinks = 1, budget = 300;
  double seconds = 0;  // 0: no limit
  bool print = false, list = false;
};

bool starts_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

// Codes begin with one of the comma-separated words.
bool matches(const std::string& code, const std::string& words) {
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t comma = std::min(words.find(',', at), words.size());
    if (comma > at && starts_with(code, words.substr(at, comma - at))) return true;
    at = comma + 1;
  }
  return false;
}

bool read_options(int argc, char** argv, Options& options) {
  std::map<std::string, std::string*> texts = {{"--only", &options.only},
                                               {"--except", &options.except},
                                               {"--open", &options.open_findings},
                                               {"--play", &options.play},
                                               {"--resume", &options.resume},
                                               {"--sequence", &options.sequence},
                                               {"--commit", &options.commit},
                                               {"--without", &options.events.without},
                                               {"--natures", &options.world.natures},
                                               {"--force", &options.world.force}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--print" || name == "--list") {
      (name == "--print" ? options.print : options.list) = true;
      continue;
    }
    if (++i == argc) return false;
    const std::string value = argv[i];
    if (texts.count(name))
      *texts[name] = value;
    else if (name == "--seed")
      options.seed = std::stoull(value);
    else if (name == "--runs")
      options.runs = std::stoull(value);
    else if (name == "--events")
      options.events.count = std::stoull(value);
    else if (name == "--shrink")
      options.shrinks = std::stoi(value);
    else if (name == "--budget")
      options.budget = std::stoi(value);
    else if (name == "--seconds")
      options.seconds = std::stod(value);
    else
      return false;
  }
  return true;
}

// What is known and not mended yet: lines "code-prefix finding why".
std::map<std::string, std::string> open_findings(const std::string& file) {
  std::map<std::string, std::string> found;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    found[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
  }
  return found;
}

struct Totals {
  std::uint64_t runs = 0, lives = 0, events = 0;
  double seconds = 0;
};

struct Tally {
  std::uint64_t runs = 0, seed = 0;
  double first_event = 0, first_second = 0;
  int shrunk = 0;
  bool open = false;
};

class Program {
 public:
  explicit Program(const Options& options)
      : options_(options), open_(open_findings(options.open_findings)) {}

  int run() {
    if (options_.print) return print();
    if (!options_.play.empty()) return replay();
    const std::uint64_t first = played_before();
    for (std::uint64_t run = first; run < options_.runs; run += kBatch) {
      const std::vector<Played> batch =
          play_batch(options_.seed + run, std::min(kBatch, options_.runs - run), options_.world,
                     options_.events);
      remember(batch);
      for (const Played& played : batch) {
        ++totals_.runs;
        totals_.events += played.events;
        totals_.lives += played.lives;
        totals_.seconds = seconds() - shrinking_;
        if (played.found.empty()) continue;
        const World world(played.seed, options_.world);
        note(played, world, events_of(world));
      }
      if (options_.seconds > 0 && totals_.seconds > options_.seconds) break;
    }
    return tell();
  }

 private:
  static constexpr std::uint64_t kBatch = 50;  // runs in a process
  // Of processor time: others may use the machine.
  static double seconds() {
    double sum = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage{};
      getrusage(who, &usage);
      for (const timeval& part : {usage.ru_utime, usage.ru_stime})
        sum += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
    }
    return sum;
  }
  bool asked_for(const std::string& code) const {
    return (options_.only.empty() || matches(code, options_.only)) &&
           !matches(code, options_.except);
  }
  bool is_open(const std::string& code) {
    for (const auto& [prefix, why] : open_) {
      if (!starts_with(code, prefix)) continue;
      seen_.insert({prefix, 0}).first->second += 1;
      return true;
    }
    return false;
  }

  // Runs of an earlier start of the same campaign.
  std::uint64_t played_before() const {
    std::uint64_t runs = 0;
    std::ifstream lines(options_.resume);
    for (std::string line; std::getline(lines, line);) {
      std::uint64_t seed = 0, count = 0;
      if (std::istringstream(line) >> seed >> count) runs += count;
    }
    return runs;
  }
  // A line per batch: first seed, runs, lives, events, violations that are not known, commit.
  void remember(const std::vector<Played>& batch) {
    if (options_.resume.empty()) return;
    std::uint64_t lives = 0, events = 0, found = 0;
    for (const Played& played : batch) {
      lives += played.lives;
      events += played.events;
      for (const Violation& violation : played.found) found += is_open(violation.code) ? 0 : 1;
    }
    std::ofstream(options_.resume, std::ios::app)
        << batch.front().seed << " " << batch.size() << " " << lives << " " << events << " "
        << found << " " << options_.commit << "\n";
  }

  // Sequences that failed once: "code | seed settings | events" in each line.
  int replay() {
    std::ifstream lines(options_.play);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line[0] == '#') continue;
      const std::size_t one = line.find('|'), two = line.find('|', one + 1);
      std::vector<Event> events;
      if (two == std::string::npos || !from_text(line.substr(two + 1), events)) {
        std::fprintf(stderr, "no sequence: %s\n", line.c_str());
        return 64;
      }
      const Setting setting(line.substr(one + 1, two - one - 1));
      const World world(setting.seed, setting.limits);
      Played played;
      played.seed = setting.seed;
      played.events = events.size();
      played.found = play_apart(world, events);
      ++totals_.runs;
      totals_.events += played.events;
      note(played, world, events);
    }
    if (totals_.runs == 0) std::fprintf(stderr, "no sequences: %s\n", options_.play.c_str());
    return totals_.runs == 0 ? 64 : tell();
  }
  struct Setting {
    explicit Setting(const std::string& text) {
      std::istringstream words(text);
      words >> seed;
      for (std::string name; words >> name;)
        words >> (name == "--natures" ? limits.natures : limits.force);
    }
    std::uint64_t seed = 0;
    WorldLimits limits;
  };

  int print() {
    const World world(options_.seed, options_.world);
    tell_world(world);
    (void)Simulation(world, events_of(world), true).run();
    return 0;
  }
  std::vector<Event> events_of(const World& world) const {
    std::vector<Event> events;
    if (options_.sequence.empty())
      events = draw_events(world, options_.events);
    else if (!from_text(options_.sequence, events))
      std::fprintf(stderr, "no sequence of events: %s\n", options_.sequence.c_str());
    return events;
  }

  void note(const Played& played, const World& world, const std::vector<Event>& events) {
    for (const Violation& violation : played.found) {
      if (!asked_for(violation.code)) continue;
      Tally& tally = tallies_[violation.code];
      if (tally.runs++ == 0) {
        tally.seed = played.seed;
        tally.first_event = static_cast<double>(totals_.events - played.events + violation.event);
        tally.first_second = totals_.seconds;
        tally.open = is_open(violation.code);
      }
      if (options_.list)
        std::printf("FOUND %llu %zu %s %.1f\n", static_cast<unsigned long long>(played.seed),
                    violation.event, violation.code.c_str(), totals_.seconds);
      if (tally.open || tally.shrunk >= options_.shrinks) continue;
      ++tally.shrunk;
      tell_shortest(world, events, violation);
    }
  }

  void tell_shortest(const World& world, const std::vector<Event>& events,
                     const Violation& violation) {
    const double start = seconds();
    const std::size_t until = std::min(violation.event + 1, events.size());
    std::vector<Event> fewest(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(until));
    if (!fails(world, fewest, violation.code)) fewest = events;
    fewest = shrink(world, fewest, violation.code, options_.budget);
    std::printf("VIOLATION seed=%llu code=%s event=%zu: %s\n  %zu events on %s:\n",
                static_cast<unsigned long long>(world.seed), violation.code.c_str(),
                violation.event, violation.detail.c_str(), fewest.size(), text(world).c_str());
    std::printf("  %s | %llu %s | %s\n", violation.code.c_str(),
                static_cast<unsigned long long>(world.seed), setting().c_str(),
                to_text(fewest).c_str());
    shrinking_ += seconds() - start;
  }
  std::string setting() const {
    std::string words;
    if (!options_.world.natures.empty()) words += "--natures " + options_.world.natures;
    if (!options_.world.force.empty()) words += " --force " + options_.world.force;
    return words;
  }

  static std::string text(const World& world) {
    return std::to_string(world.count()) + " configurations, " + std::to_string(world.shapes()) +
           " shapes, max_shapes " + std::to_string(world.options.max_shapes) +
           (world.friendly ? ", friendly" : "") + (world.in_place ? ", in place" : "") +
           (world.isolated ? "" : ", trials in process") + (world.worker ? ", worker" : "") +
           (world.profiling ? "" : ", no profiling") +
           (world.slots       ? ", slots"
            : world.has_model ? ", model"
                              : "");
  }
  static void tell_world(const World& world) {
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(world.seed),
                text(world).c_str());
    for (int c = 1; c < world.count(); ++c)
      std::printf("  %s, odd at %d, %.2f ms\n", world.text(0, c).c_str(), world.odd_shape(c),
                  static_cast<double>(world.time(c, 0).count()) * 1e-6);
  }

  void tell_totals() const {
    std::printf("TOTAL runs %llu, lives %llu, events %llu, %.1f s, %.0f events/s\n",
                static_cast<unsigned long long>(totals_.runs),
                static_cast<unsigned long long>(totals_.lives),
                static_cast<unsigned long long>(totals_.events), totals_.seconds,
                static_cast<double>(totals_.events) / totals_.seconds);
  }
  int tell() {
    if (options_.play.empty()) tell_totals();
    bool bad = false;
    for (const auto& [code, tally] : tallies_) {
      std::printf("TALLY %s runs=%llu seed=%llu first_event=%.0f first_second=%.1f%s\n",
                  code.c_str(), static_cast<unsigned long long>(tally.runs),
                  static_cast<unsigned long long>(tally.seed), tally.first_event,
                  tally.first_second, tally.open ? " (known)" : "");
      bad = bad || !tally.open;
    }
    for (const auto& [prefix, why] : open_) {
      if (seen_.count(prefix)) continue;
      std::printf("not seen any more: %s (%s); take it out of open_findings\n", prefix.c_str(),
                  why.c_str());
    }
    return bad ? 1 : 0;
  }

  const Options& options_;
  const std::map<std::string, std::string> open_;
  std::map<std::string, int> seen_;
  std::map<std::string, Tally> tallies_;
  Totals totals_;
  double shrinking_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was found stays where a campaign is stopped
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fprintf(stderr, "usage: tests/lives/README.md\n");
    return 64;
  }
  return Program(options).run();
}
