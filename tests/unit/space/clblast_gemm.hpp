// CLBlast's Xgemm space as Kernel Tuner measured it on three GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/host/pack/kernel_description.hpp"

namespace idletune::test {

inline DescribedParameter parameter(const std::string& name, std::vector<std::int64_t> values,
                                    ParameterKind kind = ParameterKind::other) {
  DescribedParameter described;
  described.name = name;
  described.kind = kind;
  described.default_value = values.empty() ? 0 : values.front();
  described.values = std::move(values);
  return described;
}

inline std::vector<DescribedParameter> clblast_gemm_parameters() {
  return {parameter("MWG", {16, 32, 64, 128}),
          parameter("NWG", {16, 32, 64, 128}),
          parameter("KWG", {32}),
          parameter("MDIMC", {8, 16, 32}),
          parameter("NDIMC", {8, 16, 32}),
          parameter("MDIMA", {8, 16, 32}),
          parameter("NDIMB", {8, 16, 32}),
          parameter("KWI", {2}),
          parameter("VWM", {1, 2, 4, 8}),
          parameter("VWN", {1, 2, 4, 8}),
          parameter("STRM", {0}),
          parameter("STRN", {0}),
          parameter("SA", {0, 1}),
          parameter("SB", {0, 1}),
          parameter("PRECISION", {32})};
}

// CLBlast's own constraints, and the limits of the devices: 48 KiB of local memory, 1024 work
// items.
inline std::vector<DescribedExpression> clblast_gemm_constraints() {
  return {"KWG % KWI == 0",
          "MWG % (MDIMC * VWM) == 0",
          "NWG % (NDIMC * VWN) == 0",
          "MWG % (MDIMA * VWM) == 0",
          "NWG % (NDIMB * VWN) == 0",
          "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
          "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
          "(SA * KWG * MWG + SB * KWG * NWG) * (PRECISION / 8) <= 48 * 1024",
          "MDIMC * NDIMC <= 1024"};
}

}  // namespace idletune::test
