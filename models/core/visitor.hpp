// Visitors: functions that are called before the function returns to which they are given.
#pragma once

#include <memory>
#include <type_traits>

namespace idletune {

// A reference to a function object; it does not keep it. std::function would compile a way to copy
// and to destroy each, some 150 bytes.
template <class... Arguments>
class Visitor {
 public:
  template <class Function>
  Visitor(Function&& function)  // NOLINT: a lambda is meant to become one
      : function_(std::addressof(function)), call_([](const void* to_call, Arguments... arguments) {
          (*static_cast<const std::remove_reference_t<Function>*>(to_call))(arguments...);
        }) {}
  void operator()(Arguments... arguments) const { call_(function_, arguments...); }

 private:
  const void* function_;
  void (*call_)(const void*, Arguments...);
};

}  // namespace idletune
