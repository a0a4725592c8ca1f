#include "tests/lives/batch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "tests/lives/simulation.hpp"

namespace idletune::lives {
namespace {

// What `work` writes to the stream in a child, and how the child ended (0: well).
std::string in_child(const std::function<void(std::FILE*)>& work, int& ended) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    close(ends[0]);
    std::FILE* stream = fdopen(ends[1], "w");
    work(stream);
    std::fflush(stream);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t size; (size = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ended = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return text;
}

void tell(std::FILE* stream, const std::vector<Violation>& found) {
  for (const Violation& violation : found)
    std::fprintf(stream, "FOUND %zu %s %s\n", violation.event, violation.code.c_str(),
                 violation.detail.c_str());
}

Violation crash(int ended) {
  // 1: a sanitizer's report.
  const std::string how = ended == SIGALRM ? "hangs" : "ends-with-" + std::to_string(ended);
  return {"I8:" + how, "", 0};
}

Violation read_violation(std::istringstream& words) {
  Violation violation;
  words >> violation.event >> violation.code;
  std::getline(words >> std::ws, violation.detail);
  return violation;
}

// Until the end or a crash.
std::vector<Played> play_some(std::uint64_t first, std::uint64_t count, const WorldLimits& limits,
                              const EventChoice& choice) {
  int ended = 0;
  const std::string text = in_child(
      [&](std::FILE* stream) {
        for (std::uint64_t seed = first; seed < first + count; ++seed) {
          std::fprintf(stream, "SEED %llu\n", static_cast<unsigned long long>(seed));
          std::fflush(stream);
          alarm(60);
          const World world(seed, limits);
          const auto events = draw_events(world, choice);
          Simulation simulation(world, events, false);
          tell(stream, simulation.run());
          std::fprintf(stream, "LIVES %d\n", simulation.lives());
        }
      },
      ended);
  std::vector<Played> all;
  std::istringstream lines(text);
  for (std::string line, word; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> word;
    if (word == "SEED") {
      all.emplace_back();
      words >> all.back().seed;
      all.back().events = choice.count;
    } else if (word == "LIVES") {
      words >> all.back().lives;
    } else if (word == "FOUND") {
      all.back().found.push_back(read_violation(words));
    }
  }
  if (ended != 0 && !all.empty()) all.back().found = {crash(ended)};
  return all;
}

}  // namespace

std::vector<Played> play_batch(std::uint64_t first, std::uint64_t count, const WorldLimits& limits,
                               const EventChoice& choice) {
  std::vector<Played> all;
  while (all.size() < count) {
    for (Played& played : play_some(first + all.size(), count - all.size(), limits, choice))
      all.push_back(std::move(played));
  }
  return all;
}

std::vector<Violation> play_apart(const World& world, const std::vector<Event>& events) {
  int ended = 0;
  const std::string text = in_child(
      [&](std::FILE* stream) {
        alarm(60);
        tell(stream, Simulation(world, events, false).run());
      },
      ended);
  if (ended != 0) return {crash(ended)};
  std::vector<Violation> found;
  std::istringstream lines(text);
  for (std::string line, word; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> word;
    found.push_back(read_violation(words));
  }
  return found;
}

}  // namespace idletune::lives
