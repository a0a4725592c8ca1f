// The tables of kernel.fbs, for table_layout.hpp. tests/unit/schema compares the two.
#pragma once

#include "models/schema/table_layout.hpp"

namespace idletune::kernel_schema {

enum Place : std::uint8_t {
  at_expression,
  at_parameter,
  at_diagram,
  at_space,
  at_argument,
  at_step,
  at_variant,
  at_reference,
  at_tolerance_rule,
  at_binary,
  at_feature,
  at_kernel_package,
};

namespace layout {
using namespace table_layout;  // NOLINT: the fields' names, in this namespace only

constexpr std::uint8_t kTables[] = {
    // Expression
    string, vector4, vector8, end,
    // Parameter
    string | required, bytes1, vector8 | required, end,
    // Diagram
    vector4 | required, vector4 | required, vector2 | required, vector4 | required,
    vector8 | required, end,
    // Space
    tables | required, at_parameter, tables, at_expression, table, at_diagram, end,
    // Argument
    string | required, bytes1, bytes1, bytes1, bytes1, bytes8, bytes8, table, at_expression, bytes1,
    bytes1, table, at_expression, end,
    // Step
    string | required, tables | required, at_expression, tables | required, at_expression, table,
    at_expression, vector1, table, at_expression, end,
    // Variant
    tables | required, at_step, table, at_expression, tables, at_step, table, at_expression, end,
    // Reference
    table, at_step, vector8, end,
    // ToleranceRule
    bytes8, bytes8, table, at_expression, end,
    // Binary
    bytes8, bytes8, bytes1, vector1 | required, bytes4, bytes8, end,
    // Feature
    string | required, table, at_expression, table, at_expression, strings, end,
    // KernelPackage
    bytes8 | required, bytes4, vector1, string | required, string | required, bytes1, string,
    strings | required, table | required, at_space, vector8 | required, tables, at_expression,
    tables | required, at_argument, table | required, at_variant, table, at_reference, table,
    at_tolerance_rule, tables, at_binary, table, at_expression, tables, at_feature, bytes1, tables,
    at_expression, vector1, end};
}  // namespace layout

}  // namespace idletune::kernel_schema
