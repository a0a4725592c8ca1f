// The public Tuner at the other end of a pipe, for `contest`. usage: ask_tell_player SEED [PACKAGE]
//
// Reads, unless there is a package, a line "NAME VALUE..." for each parameter and an empty line.
// Then, for each configuration that is asked for, writes a line with its values and the processor
// time in ns of the last tell and this ask, and reads a line with its run time in ns; 0: it failed.
// Ends where nothing is left, or nothing more is told.
#include <idletune/learning.hpp>
#include <idletune/tuner.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>

#include "tests/bench/required.hpp"

namespace idletune::bench {
namespace {

std::int64_t processor_ns() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return spent.tv_sec * 1000000000ll + spent.tv_nsec;
}

TunerOptions read_space() {
  TunerOptions options;
  std::string line;
  while (std::getline(std::cin, line) && !line.empty()) {
    std::istringstream words(line);
    TunerParameter parameter;
    words >> parameter.name;
    for (std::int64_t value = 0; words >> value;) parameter.values.push_back(value);
    options.parameters.push_back(parameter);
  }
  return options;
}

int play(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s SEED [PACKAGE]\n", *argv);
    return 2;
  }
  TunerOptions options;
  if (argc > 2) {
    options.package = argv[2];
  } else {
    options = read_space();
  }
  options.seed = std::strtoull(argv[1], nullptr, 10);
  options.learner = forest_learner();
  Tuner tuner = required(Tuner::open(options));
  for (std::int64_t start = processor_ns();;) {
    const std::optional<Configuration> asked = tuner.ask();
    const std::int64_t spent = processor_ns() - start;
    if (!asked) return 0;
    for (std::size_t i = 0; i < asked->size(); ++i) std::cout << (*asked)[i] << ' ';
    std::cout << spent << std::endl;
    Measurement told;
    std::int64_t run_time = 0;
    if (!(std::cin >> run_time)) return 0;
    told.run_time = Nanoseconds(run_time);
    if (run_time == 0) told.status = TrialStatus::runtime;
    start = processor_ns();
    if (!tuner.tell(*asked, told)) return 1;
  }
}

}  // namespace
}  // namespace idletune::bench

int main(int argc, char** argv) {
  return idletune::bench::ended(*argv, [&] { return idletune::bench::play(argc, argv); });
}
