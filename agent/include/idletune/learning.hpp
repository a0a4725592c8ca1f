// Learning while searching: for AgentOptions::learner and TunerOptions::learner. It has a header of
// its own because a program contains it (some 45 KiB) only if the program names it.
#pragma once

namespace idletune {

class SearchLearner;

// A random forest over what is measured on this device; a history guides it where there is one. It
// saves evaluations where the model does not know the device or the kernel. It takes at most 512
// KiB of memory, and about 1 ms per proposal for spaces of 20,000 configurations, never in
// launch(). Figures: agent/search/results.md. Any thread.
const SearchLearner* forest_learner();

}  // namespace idletune
