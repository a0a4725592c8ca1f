// Whether a model on trial stays: what the journal says of it, and what follows. Pure; one thread.
#pragma once

#include <cstdint>
#include <string>

#include <idletune/device.hpp>

#include "agent/journal/state.hpp"
#include "models/package/kernel_package.hpp"
#include "models/predict/model.hpp"

namespace idletune::slots {

// What models named and was tried on a board so far.
struct TrialCount {
  std::uint64_t trials = 0;  // whose outcome is known
  std::uint64_t deaths = 0;  // of them: crashed or hung
};
TrialCount count_trials(const journal::State& state);

// First picks of a model beside those of the confirmed one, as measured here under one driver: at
// the same problem, or else, beside the default, with what seven of ten of the latter reach.
struct PickCount {
  std::uint32_t problems = 0;
  std::uint32_t worse = 0;  // of them: slower by more than a tenth, or not usable
  // `confirmed`: null: the kernel's default takes the place of its picks.
  void add(const journal::State& state, const KernelPackage& package, const DeviceInfo& device,
           const Model* confirmed, const Model& trial);
};

enum class ModelVerdict : std::uint8_t { open, stays, goes_back };
struct Judgement {
  ModelVerdict verdict = ModelVerdict::open;
  std::string why;  // one sentence, where it goes back
};

// Two sequential probability ratio tests (Wald, 1945), each wrong in one case of a hundred at most:
// of the first picks, at how many problems they are worse (at two of five or fewer, or at four of
// five), and of the trials since `before`, how many die (as many as until then, or nine of a
// hundred more). A model stays where its picks are not worse and nothing speaks for the latter.
Judgement judge(const PickCount& picks, const TrialCount& before, const TrialCount& now);

}  // namespace idletune::slots
