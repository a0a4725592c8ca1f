// Learning while searching: for AgentOptions::learner and TunerOptions::learner. It has a header of
// its own because a program contains a learner (some 50 KiB) only if the program names it.
#pragma once

namespace idletune {

class SearchLearner;

// A random forest over what is measured on this device; a history guides it where there is one. It
// saves evaluations where the model does not know the device or the kernel. It takes at most 512
// KiB of memory, and about 1 ms per proposal for spaces of 20,000 configurations, never in
// launch(). Figures: agent/search/results.md. Any thread.
const SearchLearner* forest_learner();

// The same; and where the model knows a kernel, its tree from problems to configurations, which
// says what is tried first at a problem, is grown anew of what this board measured at 10 problems
// and more, each time that a quarter more was measured. The new tree replaces the one before only
// if it is better on problems that it was not grown from. That is done in idle time, in stages of
// some milliseconds, within 512 KiB of memory. Nothing more is kept: after a restart the tree is
// grown of the journal again. agent/retraining/README.md.
const SearchLearner* forest_and_tree_learner();

}  // namespace idletune
