// CLBlast tuned by its own tuners, in a process of its own: they may abort, or not end.
#pragma once

#include <string>

#include "tests/bench/gemm_contest/workplace.hpp"

namespace idletune::bench {

// How CLBlast's parameters for the device are published: Xgemm at 1024^3, XgemmDirect at 256^3.
struct ClblastTuning {
  std::string folder;      // keeps what was found; a later run takes it from there
  double share = 1;        // of the tuner's configurations
  unsigned seconds = 600;  // for each of the two kernels
};

// What the process of its own does: tunes the kernel ("Xgemm" or "XgemmDirect") and writes its
// parameters into the file. The exit status.
int tune_clblast(const std::string& kernel, double share, const std::string& file);

// Has both tuned, and CLBlast use what was found. The answer says what came of it.
std::string use_tuned_clblast(Workplace& work, const ClblastTuning& tuning);

}  // namespace idletune::bench
