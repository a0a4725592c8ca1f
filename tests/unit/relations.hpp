// Properties with shrinking (RapidCheck), from one seed.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include <rapidcheck.h>

namespace idletune::test {

template <class Property>
void check_relation(const std::string& what, const Property& property) {
  ::setenv("RC_PARAMS", "seed=20261124 max_success=60 max_size=40", 0);
  CHECK(rc::check(what, property));
}

}  // namespace idletune::test
