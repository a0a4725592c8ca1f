// Test cases that cannot run everywhere. Such a case belongs to the test suite that is called after
// what it needs ("recorded data"), which makes it a test of its own for ctest, and says skip()
// where that is missing.
#pragma once

#include <string>

namespace idletune::test {

// The program ends with 77 (ctest: skipped) if nothing failed. Prints the reason; the case returns.
void skip(const std::string& reason);

}  // namespace idletune::test
