// Host side: which terms of a package's expressions tell shapes apart.
#pragma once

#include <string>

#include <idletune/result.hpp>

#include "models/host/pack/kernel_description.hpp"
#include "models/host/space/expression_parser.hpp"
#include "models/package/package_contents.hpp"

namespace idletune::package {

// "where: what"; without a place, what alone.
Status invalid(const std::string& where, const std::string& what);
// Error: invalid_argument, naming the place.
Result<Expression> described_expression(const DescribedExpression& described,
                                        const ExpressionNames& names);
// What is not described leaves `out` as it is.
Status optional_expression(const DescribedExpression& described, const ExpressionNames& names,
                           Expression& out);

// Fills class_terms and class_kinds from all the rest of `out` and from what the description says
// besides. What tells shapes apart, and why, is on the room's page. `names`: of expressions.
Status derive_classes(const KernelDescription& description, const ExpressionNames& names,
                      PackageContents& out);

}  // namespace idletune::package
