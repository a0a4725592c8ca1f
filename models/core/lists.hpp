// Lists. One compiled way to append: std::vector compiles push_back apart for what is copied and
// what is moved, some 200 bytes for each type.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace idletune {

// values.push_back(value), for values that have a name.
template <class T>
void push(std::vector<T>& values, typename std::vector<T>::value_type value) {
  values.push_back(std::move(value));
}

// Of the first that equals `value`; values.size(): there is none. std::find is unrolled four times,
// whatever the compiler is asked for.
template <class T>
std::size_t place_of(const std::vector<T>& values, const T& value) {
  std::size_t i = 0;
  while (i < values.size() && !(values[i] == value)) ++i;
  return i;
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return place_of(values, value) < values.size();
}

}  // namespace idletune
