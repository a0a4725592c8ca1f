// What a benchmark cannot do without: a failure ends it with its message.
#pragma once

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include <idletune/result.hpp>

namespace idletune::bench {

inline void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

template <class T>
T required(Result<T> result) {
  require(result.status());
  return std::move(*result);
}

// What a main function returns: the run's status, or 1 where it throws, and why on standard error.
template <class Run>
int ended(const char* name, const Run& run) {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace idletune::bench
