// What builds without the lab (IDLETUNE_LAB) answer where it is needed. Every function that needs
// it is defined either in the files that use agent/lab or, in such builds, in without_lab.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <idletune/result.hpp>

#include "models/forest/learner.hpp"

namespace idletune::cli {

bool built_with_lab();

// unsupported: "built without the lab: configure with -DIDLETUNE_LAB=ON".
Status needs_lab();

// The description of a verb or an option that needs the lab, with a remark where it is missing.
std::string of_lab(const std::string& description);

// "svr": support vector regression. Null for another name, and without the lab.
std::unique_ptr<learners::Learner> make_lab_learner(std::string_view name);

}  // namespace idletune::cli
