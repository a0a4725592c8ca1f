#include "agent/host/lab/selection/layer_methods.hpp"

#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/core/median.hpp"
#include "models/host/history/comma_table.hpp"

namespace idletune::offload {
namespace {

constexpr double kMaxTime_ms = 1e6;   // a timer that wrapped is no time
constexpr double kMillisecond = 1e6;  // ns
constexpr std::size_t kLeastProblems = 5;

using Name = std::pair<std::string, std::string>;           // of a network and its layer
using Product = std::array<double, 3>;                      // M, N, K
using Cell = std::tuple<std::string, std::string, double>;  // network, layer, batch

Status read_products(const CommaTable& table, std::map<Name, Product>& products) {
  if (Status s = table.require({"network", "layer", "type", "in_channels", "in_height", "in_width",
                                "out_channels", "out_height", "out_width", "kernel", "group",
                                "numbering"});
      !s.ok())
    return s;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "numbering") != "caffe") continue;
    const auto number = [&](const char* column) {
      const double value = table.number(row, column);
      return value > 0 && value < 1e9 ? value : 1;
    };
    const double groups = number("group");
    const double inputs = number("in_channels") / groups;
    const double outputs = number("out_channels") / groups;
    const Name name{std::string(table.text(row, "network")), std::string(table.text(row, "layer"))};
    if (table.text(row, "type") == "Convolution") {
      const double window = number("kernel") * number("kernel");
      products[name] = {outputs, number("out_height") * number("out_width"), inputs * window};
    } else if (table.text(row, "type") == "InnerProduct") {
      products[name] = {outputs, 1, inputs * number("in_height") * number("in_width")};
    }
  }
  return {};
}

bool is_single_precision_gpu(std::string_view variant) {
  for (const char* other : {"cpu", "fp16", "tensorrt"}) {
    if (variant.find(other) != std::string_view::npos) return false;
  }
  return true;
}

// Columns are looked up once: there are many rows.
std::map<Cell, std::map<std::string, std::vector<double>>> read_times(
    const CommaTable& table, const std::map<Name, Product>& products) {
  const std::size_t device = table.find("device");
  const std::size_t direction = table.find("direction");
  const std::size_t network = table.find("network");
  const std::size_t layer = table.find("layer");
  const std::size_t variant = table.find("variant");
  const std::size_t batch = table.find("batch");
  const std::size_t time = table.find("time_ms");
  std::map<Cell, std::map<std::string, std::vector<double>>> cells;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Name name{std::string(table.text(row, network)), std::string(table.text(row, layer))};
    const double ms = table.number(row, time);
    const double images = table.number(row, batch);
    const bool wanted = table.text(row, direction) == "forward" && products.count(name) > 0 &&
                        is_single_precision_gpu(table.text(row, variant)) &&
                        table.text(row, device) == table.text(0, device);
    if (!wanted || !(ms > 0 && ms < kMaxTime_ms) || !(images >= 1 && images < 1e6)) continue;
    cells[{name.first, name.second, images}][std::string(table.text(row, variant))].push_back(ms);
  }
  return cells;
}

}  // namespace

Result<selection::Problems> layer_methods(Bytes times_bytes, const std::string& times_path,
                                          Bytes shape_bytes, const std::string& shapes_path) {
  const auto times = CommaTable::parse(times_bytes, times_path);
  if (!times.ok()) return times.status();
  if (Status s = times->require(
          {"device", "network", "variant", "batch", "layer", "direction", "time_ms"});
      !s.ok())
    return s;
  const auto shapes = CommaTable::parse(shape_bytes, shapes_path);
  if (!shapes.ok()) return shapes.status();
  std::map<Name, Product> products;
  if (Status s = read_products(*shapes, products); !s.ok()) return s;
  const auto cells = read_times(*times, products);

  std::map<std::string, std::size_t> methods;
  for (const auto& [cell, repeats] : cells) {
    for (const auto& [variant, samples] : repeats) methods.emplace(variant, 0);
  }
  selection::Problems problems;
  problems.dataset = "layers";
  if (times->rows() > 0) problems.device = std::string(times->text(0, "device"));
  problems.inputs = {"M", "N", "K", "batch"};
  for (auto& [variant, number] : methods) {
    number = problems.members.size();
    problems.members.push_back(variant);
    problems.member.push_back(number);
  }
  std::map<Product, std::size_t> groups;
  for (const auto& [cell, repeats] : cells) {
    const auto& [network, layer, batch] = cell;
    const Product& product = products.at({network, layer});
    problems.sizes.push_back({product[0], product[1], product[2], batch});
    problems.group.push_back(groups.emplace(product, groups.size()).first->second);
    problems.ns.emplace_back(methods.size(), 0.0);
    for (const auto& [variant, samples] : repeats) {
      problems.ns.back()[methods.at(variant)] = kMillisecond * median_of(samples);
    }
  }
  problems.seen = problems.count();
  if (problems.count() >= kLeastProblems) return problems;
  return Status(StatusCode::corrupt, times_path + ": " + std::to_string(problems.count()) +
                                         " layers and batches have times and shapes, expected at "
                                         "least 5");
}

}  // namespace idletune::offload
