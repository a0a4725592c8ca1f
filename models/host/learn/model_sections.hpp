// The bytes of a kernel's sections in a model. Host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/host/learn/first_picks.hpp"
#include "models/host/learn/learn.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/learn/performance_table.hpp"
#include "models/host/learn/published.hpp"
#include "models/host/learn/shape_selector.hpp"
#include "models/predict/model_format.hpp"

namespace idletune {

std::vector<std::uint8_t> write_sources(const PerformanceTable& table);
std::vector<std::uint8_t> write_portfolio(const PerformanceTable& table,
                                          const std::vector<std::size_t>& order,
                                          const std::vector<double>& expected);
std::vector<std::uint8_t> write_first_picks(const PerformanceTable& table,
                                            const std::vector<LearnedPick>& picks);
std::vector<std::uint8_t> write_quality(const std::vector<HeldOutResult>& results,
                                        const std::vector<LearnedSelector>& selectors);
// Published configurations in the kernel's order of parameters.
std::vector<std::uint8_t> write_published(const PublishedConfigurations& published,
                                          const std::vector<std::string>& parameters);

void add_section(ModelKernel& kernel, model_schema::SectionKind kind,
                 std::vector<std::uint8_t> bytes);

}  // namespace idletune
