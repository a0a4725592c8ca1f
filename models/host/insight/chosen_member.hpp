// Which kernel of a family a configuration runs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace idletune {

struct ChosenMember {
  std::string name;        // "row"; "member 2" where no parameter tells its name
  std::string parameters;  // its own, as it calls them: "WG=64 UNROLL=2"
};

// Of a configuration's text, "ALGORITHM=0 row_WG=64 row_UNROLL=2 padded_TILE=8" (all parameters, in
// the order of the space); nothing if that is of no family (models/host/pack/member_names.hpp).
std::optional<ChosenMember> chosen_member(std::string_view configuration);

// For people: "row: WG=64 UNROLL=2"; of no family, the text itself.
std::string with_chosen_member(const std::string& configuration);

}  // namespace idletune
