// Lists. One compiled way to append: std::vector compiles push_back apart for what is copied and
// what is moved, some 200 bytes for each type.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace idletune {

// values.push_back(value), for values that have a name.
template <class T>
void push(std::vector<T>& values, typename std::vector<T>::value_type value) {
  values.push_back(std::move(value));
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace idletune
