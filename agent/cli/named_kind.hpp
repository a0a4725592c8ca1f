// "NAME=KIND" on the command line: what kind the parameters of a name are.
#pragma once

#include <string>

#include <idletune/result.hpp>

#include "models/space/space.hpp"

namespace idletune::cli {

struct NamedKind {
  std::string name;
  ParameterKind kind = ParameterKind::other;
};

// Error: invalid_argument, which names the kinds there are.
Result<NamedKind> named_kind(const std::string& text);

// All kinds, separated by commas, for people.
std::string kind_names();

}  // namespace idletune::cli
