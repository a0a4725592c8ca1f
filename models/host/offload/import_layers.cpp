// Layer times of neural networks as Caffe prints them, and the layers' shapes.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "models/host/history/comma_table.hpp"
#include "models/host/offload/import_samples.hpp"
#include "models/host/offload/layer_features.hpp"
#include "models/host/offload/layer_profiles.hpp"

namespace idletune::offload {

namespace {

struct LayerKey {
  std::string network;
  std::string layer;
  std::string batch;
  friend bool operator<(const LayerKey& a, const LayerKey& b) {
    return std::tie(a.network, a.layer, a.batch) < std::tie(b.network, b.layer, b.batch);
  }
};

using Shapes = std::map<std::pair<std::string, std::string>, LayerShape>;  // by network and layer

struct LayerTimes {
  std::string device;
  std::map<LayerKey, Repeats> cells;
  std::set<std::string> cpu_variants;  // with their number of threads
  std::set<std::string> gpu_variants;
  std::size_t forward = 0;
  std::size_t rejected = 0;
  std::size_t other_precision = 0;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Half precision, or fused layers in a mixture of precisions: not the same computation.
bool is_other_precision(std::string_view variant) {
  return contains(variant, "fp16") || contains(variant, "tensorrt");
}

Result<LayerTimes> read_layer_times(const CommaTable& table) {
  LayerTimes times;
  const bool has_threads = table.find("threads") < table.names().size();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "direction") != "forward") continue;
    ++times.forward;
    if (Status s = take_device(table, row, times.device); !s.ok()) return s;
    std::string variant(table.text(row, "variant"));
    if (is_other_precision(variant)) {
      ++times.other_precision;
      continue;
    }
    const double ms = table.number(row, "time_ms");
    if (!is_time_ms(ms)) {
      ++times.rejected;
      continue;
    }
    const bool cpu = contains(variant, "cpu");
    if (cpu && has_threads) variant += "/" + std::string(table.text(row, "threads"));
    (cpu ? times.cpu_variants : times.gpu_variants).insert(variant);
    const LayerKey key{std::string(table.text(row, "network")),
                       std::string(table.text(row, "layer")),
                       std::string(table.text(row, "batch"))};
    times.cells[key][variant].push_back(ms);
  }
  return times;
}

// Shapes by network and layer, as Caffe itself numbers the layers.
Result<Shapes> read_shapes(Bytes bytes, const std::string& path) {
  auto table = CommaTable::parse(bytes, path);
  if (!table.ok()) return table.status();
  if (Status s = table->require({"network", "layer", "type", "in_channels", "in_height", "in_width",
                                 "out_channels", "out_height", "out_width", "kernel", "stride",
                                 "group", "extra", "numbering"});
      !s.ok())
    return s;
  Shapes shapes;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if (table->text(row, "numbering") != "caffe") continue;
    const auto number = [&](const char* column) {
      const double value = table->number(row, column);
      return value > 0 && value < 1e9 ? value : 0;
    };
    LayerShape shape;
    shape.kind = std::string(table->text(row, "type"));
    shape.in_channels = number("in_channels");
    shape.in_pixels = number("in_height") * number("in_width");
    shape.out_channels = number("out_channels");
    shape.out_pixels = number("out_height") * number("out_width");
    shape.kernel = number("kernel");
    shape.stride = number("stride");
    shape.groups = std::max(1.0, number("group"));
    const std::string extra(table->text(row, "extra"));
    const std::size_t window = extra.find("local_size=");
    if (window != std::string::npos)
      shape.kernel = std::strtod(extra.c_str() + window + 11, nullptr);
    if (!(shape.kernel > 0 && shape.kernel < 1e9)) shape.kernel = 0;
    shapes[{std::string(table->text(row, "network")), std::string(table->text(row, "layer"))}] =
        shape;
  }
  return shapes;
}

// Networks that are versions of each other are one group: "deepscale-squeezenet-1.0" and "-1.1".
std::string network_group(const std::string& network) {
  const std::size_t dash = network.rfind('-');
  if (dash == std::string::npos || dash + 1 == network.size()) return network;
  const bool version = network.find_first_not_of("0123456789.", dash + 1) == std::string::npos;
  return version ? network.substr(0, dash) : network;
}

Sample sample_of(const LayerKey& key, const Repeats& repeats, const LayerTimes& times) {
  Sample sample;
  sample.name = key.network + " " + key.layer + " batch " + key.batch;
  sample.groups.network = network_group(key.network);
  sample.groups.program = key.network;
  sample.groups.kernel = key.network + " " + key.layer;
  sample.cpu_ms = std::numeric_limits<double>::quiet_NaN();
  for (const std::string& variant : times.cpu_variants)
    sample.cpu_ms = std::fmin(sample.cpu_ms, median_or_nan(repeats, variant));
  for (const std::string& variant : times.gpu_variants)
    sample.gpu_ms.push_back(median_or_nan(repeats, variant));
  return sample;
}

SampleSet join(const LayerTimes& times, const Shapes& shapes, const LayerProfiles* profiles) {
  SampleSet set;
  set.name = "layers";
  set.device = times.device;
  set.features = profiles == nullptr ? layer_features() : profiled_features();
  set.variants.assign(times.gpu_variants.begin(), times.gpu_variants.end());
  std::size_t without_shape = 0;
  std::size_t without_time = 0;
  std::size_t without_profile = 0;
  for (const auto& [key, repeats] : times.cells) {
    const auto shape = shapes.find({key.network, key.layer});
    const double batch = std::strtod(key.batch.c_str(), nullptr);
    if (shape == shapes.end() || !(batch >= 1 && batch < 1e6)) {
      ++without_shape;
      continue;
    }
    Sample sample = sample_of(key, repeats, times);
    sample.groups.kind = shape->second.kind;
    if (std::isnan(sample.cpu_ms) || std::isnan(sample.best_gpu_ms())) {
      ++without_time;
      continue;
    }
    if (profiles == nullptr) {
      describe_layer(shape->second, batch, sample);
    } else if (!profiles->describe(shape->second, batch, sample)) {
      ++without_profile;
      continue;
    }
    set.samples.push_back(std::move(sample));
  }
  set.remark(times.rejected, times.forward, "forward rows have no time above 0 and below 1e6 ms");
  set.remark(times.other_precision, times.forward, "forward rows are of another precision");
  set.remark(without_shape, times.cells.size(), "layers and batches have no shape");
  set.remark(without_time, times.cells.size(),
             "layers and batches have no time on the CPU or the GPU");
  set.remark(without_profile, times.cells.size(), "layers and batches have no profile");
  return set;
}

}  // namespace

Result<SampleSet> import_layers(Bytes times_bytes, const std::string& times_path, Bytes shape_bytes,
                                const std::string& shapes_path, const LayerProfiles* profiles) {
  auto table = CommaTable::parse(times_bytes, times_path);
  if (!table.ok()) return table.status();
  if (Status s = table->require(
          {"device", "network", "variant", "batch", "layer", "direction", "time_ms"});
      !s.ok())
    return s;
  auto shapes = read_shapes(shape_bytes, shapes_path);
  if (!shapes.ok()) return shapes.status();
  const Result<LayerTimes> read = read_layer_times(*table);
  if (!read.ok()) return read.status();
  const LayerTimes& times = *read;

  SampleSet set = join(times, *shapes, profiles);
  if (set.samples.empty())
    return Status(StatusCode::corrupt, times_path + ": no row could be used");
  return set;
}

Result<Sample> import_layer_shape(Bytes bytes, const std::string& path, const std::string& network,
                                  const std::string& layer, double batch) {
  auto shapes = read_shapes(bytes, path);
  if (!shapes.ok()) return shapes.status();
  for (const auto& [key, shape] : *shapes) {
    // "05: conv2" is also known as "conv2".
    const std::size_t blank = key.second.find(": ");
    const bool same = key.second == layer ||
                      (blank != std::string::npos && key.second.substr(blank + 2) == layer);
    if (key.first != network || !same) continue;
    Sample sample;
    sample.name = network + " " + layer;
    sample.groups.network = network_group(network);
    sample.groups.program = network;
    sample.groups.kind = shape.kind;
    sample.cpu_ms = std::numeric_limits<double>::quiet_NaN();
    describe_layer(shape, batch, sample);
    return sample;
  }
  return Status(StatusCode::not_found, path + ": no layer '" + layer + "' of '" + network + "'");
}

}  // namespace idletune::offload
