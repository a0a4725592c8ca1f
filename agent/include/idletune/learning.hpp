// Learning while searching: for AgentOptions::learner and TunerOptions::learner. A part of its own,
// because it is in a program (some 45 KiB of it) only where the program names it.
#pragma once

namespace idletune {

class SearchLearner;

// A random forest over what is measured on this device, which history guides where there is one:
// fewer evaluations where the model does not know the device or the kernel. At most 512 KiB of
// memory and about 1 ms per proposal for spaces of 20,000 configurations, never in launch().
// Figures: agent/search/results.md. Any thread.
const SearchLearner* forest_learner();

}  // namespace idletune
