// The tables of model.fbs that a board reads, for table_layout.hpp. tests/unit/schema compares the
// two.
#pragma once

#include "models/schema/table_layout.hpp"

namespace idletune::model_schema {

enum Place : std::uint8_t {
  at_model_source,
  at_sources_section,
  at_portfolio_section,
  at_pick_entry,
  at_first_picks_section,
  at_held_out,
  at_selector_quality,
  at_quality_section,
  at_selector,
  at_selector_section,
  at_published_pick,
  at_published_section,
  at_product_times,
  at_product_times_section,
  at_section,
  at_kernel_entry,
  at_model_file,
};

namespace layout {
using namespace table_layout;  // NOLINT: the fields' names, in this namespace only

constexpr std::uint8_t kTables[] = {
    // ModelSource
    string | required, vector8, vector4 | required, bytes4, bytes8, bytes8, bytes8, bytes8, bytes8,
    vector8, end,
    // SourcesSection
    tables | required, at_model_source, strings, end,
    // PortfolioSection
    vector8 | required, vector4 | required, vector4 | required, end,
    // PickEntry
    bytes4, vector8, vector8 | required, bytes4, vector8, end,
    // FirstPicksSection
    tables | required, at_pick_entry, end,
    // HeldOut
    string | required, vector8, bytes4, bytes4, vector8, end,
    // SelectorQuality
    string, bytes4, bytes4, bytes4, bytes4, bytes4, bytes4, end,
    // QualitySection
    tables | required, at_held_out, tables, at_selector_quality, end,
    // Selector
    string, strings | required, vector8 | required, vector8 | required, vector1 | required,
    vector8 | required, vector1 | required, end,
    // SelectorSection
    tables | required, at_selector, end,
    // PublishedPick
    string | required, vector8 | required, bytes4, end,
    // PublishedSection
    string | required, tables | required, at_published_pick, end,
    // ProductTimes
    string | required, bytes4, vector8 | required, vector4 | required, vector4, end,
    // ProductTimesSection
    tables | required, at_product_times, end,
    // Section
    bytes4, bytes4, vector1 | required, end,
    // KernelEntry
    string | required, strings | required, tables | required, at_section, end,
    // ModelFile
    bytes4, bytes8, bytes4, bytes8, vector1, strings, tables | required, at_kernel_entry, end};
}  // namespace layout

}  // namespace idletune::model_schema
