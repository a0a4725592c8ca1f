// What a benchmark cannot do without: a failure ends it with its message.
#pragma once

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

}  // namespace idletune::bench
