#include "tests/lives/fault.hpp"

#include <cstdlib>

namespace idletune::lives {

int fault_switched_on() {
  static const int number = [] {
    const char* text = std::getenv("LIVES_FAULT");
    return text != nullptr ? std::atoi(text) : 0;
  }();
  return number;
}

}  // namespace idletune::lives
