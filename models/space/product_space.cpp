#include "models/space/product_space.hpp"

#include <memory>

#include "models/space/space_data.hpp"

namespace idletune {
namespace {

// The arrays that the space's data only views.
struct ProductArrays {
  std::vector<std::vector<std::int64_t>> values;
  std::vector<std::uint32_t> level_nodes;
  std::vector<std::uint32_t> node_first_edge;
  std::vector<std::uint16_t> edge_value;
  std::vector<std::uint32_t> edge_child;
  std::vector<std::uint64_t> edge_before;
};

void build_chain(ProductArrays& arrays, std::uint64_t combinations) {
  std::uint64_t below = combinations;
  arrays.node_first_edge.push_back(0);
  for (const std::vector<std::int64_t>& values : arrays.values) {
    below /= values.size();
    arrays.level_nodes.push_back(1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      arrays.edge_value.push_back(static_cast<std::uint16_t>(i));
      arrays.edge_child.push_back(0);
      arrays.edge_before.push_back(i * below);
    }
    arrays.node_first_edge.push_back(static_cast<std::uint32_t>(arrays.edge_value.size()));
  }
}

}  // namespace

Result<Space> product_space(Span<const std::string> names,
                            Span<const std::vector<std::int64_t>> values) {
  if (names.size() != values.size()) {
    return Status(StatusCode::invalid_argument,
                  "tuning space: % names, but values for % parameters", names.size(),
                  values.size());
  }
  auto arrays = std::make_shared<ProductArrays>();
  arrays->values.assign(values.begin(), values.end());
  std::vector<space::ParameterData> parameters(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    parameters[i].name = names[i];
    parameters[i].values = arrays->values[i];
  }
  Result<std::shared_ptr<space::Data>> data = space::make_data(std::move(parameters), {}, arrays);
  if (!data.ok()) return data.status();
  if ((*data)->saturated) {
    return Status(StatusCode::invalid_argument, "tuning space: more than 2^64 combinations");
  }
  build_chain(*arrays, (*data)->combinations);
  space::Diagram diagram;
  diagram.level_nodes = arrays->level_nodes;
  diagram.node_first_edge = arrays->node_first_edge;
  diagram.edge_value = arrays->edge_value;
  diagram.edge_child = arrays->edge_child;
  diagram.edge_before = arrays->edge_before;
  if (Status status = space::adopt_diagram(**data, diagram); !status.ok()) return status;
  return Space(*data);
}

}  // namespace idletune
