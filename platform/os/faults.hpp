// What both sides of a started program know of each other (process.hpp).
#pragma once

#include <csignal>

namespace idletune {

// What a program does to itself.
inline constexpr int kFaults[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS};
// Descriptors are parked from here on before they take their places.
inline constexpr int kAboveChannel = 10;

}  // namespace idletune
