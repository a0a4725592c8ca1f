// Host side: several kernels with one signature as one kernel whose choice is (kernel,
// configuration).
#pragma once

#include <string>
#include <vector>

#include <idletune/result.hpp>

#include "models/host/pack/kernel_description.hpp"
#include "models/host/pack/member_names.hpp"

namespace idletune {

struct FamilyMember {
  std::string name;  // a C identifier; begins the names of its parameters
  KernelDescription description;
};

struct DescribedFamily {
  std::string name;
  std::string where;  // for messages; may be empty
  std::string parameter = kMemberParameter;
  std::string default_member;  // empty: the first
  std::vector<FamilyMember> members;
};

// "padded-product" as the name of a member: "padded_product".
std::string member_name(std::string kernel_name);

// One description of all members. Its first parameter says which member runs (0, 1, ... as listed);
// the others are the members' parameters behind the member's name and '_', at their default values
// wherever another member runs, so that every configuration of every member is one of the family
// and there are no others. Default, reference, operations and the arguments' names and fills are
// those of the default member. Errors: invalid_argument naming both members and the element where
// their signatures differ (dimensions; buffers and scalars by order, type, access and size;
// tolerance; dialect and compiler options); what pack() refuses of a member.
Result<KernelDescription> join_family(const DescribedFamily& family);

}  // namespace idletune
