// Every call of the API at once, for the thread sanitizer and for wrong outputs. usage:
// idletune_stress SECONDS (of each of the three runs, at least). Exit status 1 and a line if a run
// cannot begin or end as it should; what a thread finds wrong ends the program at once, with the
// line.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tests/integration/stress/workplace.hpp"

int main(int argc, char** argv) {
  const double seconds = argc == 2 ? std::atof(argv[1]) : 0;
  if (!(seconds > 0)) {
    std::fprintf(stderr, "usage: idletune_stress SECONDS\n");
    return 2;
  }
  try {
    idletune::stress::stress_agent(seconds, /*in_process=*/true);
    idletune::stress::stress_agent(seconds, /*in_process=*/false);
    idletune::stress::stress_c_interface(seconds);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "idletune_stress: %s\n", error.what());
    return 1;
  }
}
