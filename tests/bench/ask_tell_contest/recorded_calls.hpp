// What the recorded programs share: how a call's instructions are counted.
#pragma once

#include <valgrind/callgrind.h>

namespace idletune::bench {

// Of `work`, into a dump of the running callgrind (--collect-atstart=no) that bears the label.
template <typename Work>
void count_instructions(const char* label, const Work& work) {
  CALLGRIND_ZERO_STATS;
  CALLGRIND_TOGGLE_COLLECT;
  work();
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(label);
}

}  // namespace idletune::bench
