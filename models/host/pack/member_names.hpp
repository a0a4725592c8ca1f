// Host side: what the parameters of a family are called. Whoever reads a space, a history or a
// configuration's text tells the members by this.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace idletune {

// Chooses the member, where the description names no other.
inline constexpr char kMemberParameter[] = "ALGORITHM";

// "padded_TILE": what a family calls the parameter TILE of its member `padded`.
std::string family_parameter(const std::string& member, const std::string& parameter);

struct FamilyNames {
  std::size_t choice = 0;            // the parameter that says which member runs
  std::vector<std::string> members;  // in order; one without parameters is not among them
  std::vector<std::size_t> member;   // of each parameter; of the choice the number of members
  // What the member itself calls its parameter.
  std::string own_name(const std::string& parameter, std::size_t of_member) const {
    return parameter.substr(members[of_member].size() + 1);
  }
};

// Of all parameters of a space in its order; nothing if they are no family's. A member's name ends
// at the first bar that no small letter follows, else at the first one: `tile_row` and WG in
// tile_row_WG. Where none is called kMemberParameter the first may be the choice: then every other
// name has to be of the first kind, behind a member's name without capitals.
std::optional<FamilyNames> family_names(const std::vector<std::string>& parameters);

}  // namespace idletune
