// CLBlast tuned by its own tuners, in a process of its own: they may abort, or not end.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/gemm_contest/workplace.hpp"

namespace idletune::bench {

struct ClblastTuning {
  std::string folder;      // keeps what was found; a later run takes it from there
  double share = 1;        // of the tuner's configurations
  unsigned seconds = 600;  // for each of the two kernels
  bool per_shape = false;  // anew at every product of the contest
};

// A kernel of CLBlast and the product that its tuner times.
struct ClblastKernel {
  std::string name;  // "Xgemm" or "XgemmDirect"
  Size size;
  // Where its parameters are kept.
  std::string file_in(const std::string& folder) const;
};

// At which products CLBlast's parameters for devices are published: 1024^3 and 256^3.
std::vector<ClblastKernel> usual_clblast_kernels();
std::vector<ClblastKernel> clblast_kernels_at(const Size& size);

// What the process of its own does: tunes the kernel and writes its parameters into the folder.
// The exit status.
int tune_clblast(const ClblastKernel& kernel, const ClblastTuning& tuning);

// Has them tuned, and CLBlast use what was found. The answer says what came of it.
std::string use_tuned_clblast(Workplace& work, const ClblastTuning& tuning,
                              const std::vector<ClblastKernel>& kernels);

}  // namespace idletune::bench
