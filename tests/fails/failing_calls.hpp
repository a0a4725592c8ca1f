// Calls of the C library that fail once: failing_calls.cpp takes the place of those by which the
// library opens, writes, maps, syncs, renames and removes files, makes folders, locks, starts
// threads and programs and talks to these, and of the allocations that may fail.
#pragma once

namespace idletune::test {

// From now on the n-th of these calls, of any thread, fails; 0: none does, and none is counted.
void fail_system_call(unsigned long n);
// How many there were since then, and the name of the one that failed; empty: none did.
unsigned long system_calls();
const char* failed_system_call();

}  // namespace idletune::test
