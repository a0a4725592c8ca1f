// Figures of the command's JSON as people read them; "-" where there is none.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "agent/cli/report/numbers.hpp"

namespace idletune::report {

inline std::string plain(const nlohmann::json& number) {
  return number.is_number() ? significant(number.get<double>()) : "-";
}

inline std::string percent(const nlohmann::json& share) {
  return share.is_number() ? percent_text(share.get<double>()) : "-";
}

}  // namespace idletune::report
