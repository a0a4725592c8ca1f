// std::make_shared compiles a comparison of types and a destruction of its own for each type, some
// 100 bytes; a second allocation is cheaper where a board has little flash.
#pragma once

#include <memory>
#include <utility>

namespace idletune {

template <class T, class... Arguments>
std::shared_ptr<T> new_shared(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace idletune
