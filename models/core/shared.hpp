// std::make_shared and std::shared_ptr(new T) compile a table, a comparison of types and a
// destruction of their own for each type, some 200 bytes; here types share one.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace idletune {

using Destroy = void (*)(void* object);
[[gnu::noinline]] inline std::shared_ptr<void> owned(void* object, Destroy destroy) {
  return {object, destroy};
}

// Takes `object`, made by new.
template <class T>
std::shared_ptr<T> shared(T* object) {
  const Destroy destroy = [](void* unused) { delete static_cast<T*>(unused); };
  return {owned(const_cast<std::remove_const_t<T>*>(object), destroy), object};
}

template <class T, class... Arguments>
std::shared_ptr<T> new_shared(Arguments&&... arguments) {
  return shared(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace idletune
