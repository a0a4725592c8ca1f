// Convolutions that AutoTVM tuned on a board's CPU and on its GPU: logs with a line of JSON each.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/host/history/compression.hpp"
#include "models/host/offload/import_samples.hpp"
#include "models/host/offload/layer_features.hpp"

namespace idletune::offload {

namespace {

using PlainJson = nlohmann::json;

constexpr std::size_t kMaxLogBytes = std::size_t{256} << 20;
constexpr double kLargestSide = 1e6;

struct TunedLayer {
  LayerShape shape;
  double images = 1;
};

struct TunedLog {
  std::map<std::string, TunedLayer> layers;                      // by board and workload
  std::map<std::string, std::map<std::string, double>> best_ms;  // the same, by template
  std::set<std::string> templates;
  std::size_t lines = 0;
  std::size_t others = 0;    // that are no convolutions
  std::size_t rejected = 0;  // failed, or without a time that can be
};

// The element of nested arrays at those places; null if there is none.
const PlainJson& at(const PlainJson& json, std::initializer_list<std::size_t> places) {
  static const PlainJson none;
  const PlainJson* found = &json;
  for (const std::size_t place : places) {
    if (!found->is_array() || place >= found->size()) return none;
    found = &(*found)[place];
  }
  return *found;
}

// A whole number from `least` on that a layer may have; 0 if it is none.
double side(const PlainJson& json, double least = 1) {
  const double value = json.is_number() ? json.get<double>() : 0;
  return value >= least && value <= kLargestSide && value == std::floor(value) ? value : 0;
}

// "rk3399" of "opencl -model=rk3399 -device=mali".
std::string board_of(const std::string& target) {
  constexpr std::string_view kKey = "-model=";
  const std::size_t begin = target.find(kKey);
  if (begin == std::string::npos) return "";
  const std::size_t end = std::min(target.find(' ', begin), target.size());
  return target.substr(begin + kKey.size(), end - begin - kKey.size());
}

// Of rows (0) or columns (1): an argument that may be one number for both, or missing.
double side_of_two(const PlainJson& argument, std::size_t i) {
  const double value =
      side(argument.is_array() ? at(argument, {argument.size() > 1 ? i : 0}) : argument);
  return value > 0 ? value : 1;
}

// ["TENSOR", [images, channels, height, width], type], the weights, strides, padding, dilation, ...
std::optional<TunedLayer> layer_of(const std::string& name, const PlainJson& arguments) {
  if (at(arguments, {0, 2}) != "float32") return std::nullopt;
  const auto data = [&](std::size_t i) { return side(at(arguments, {0, 1, i})); };
  const auto weights = [&](std::size_t i) { return side(at(arguments, {1, 1, i})); };
  const double stride = side(at(arguments, {2, 0}));
  const PlainJson& padding = at(arguments, {3});
  double padded[2] = {0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = i; k < 4; k += 2) {
      // [top, left, bottom, right], or the same on both sides.
      padded[i] += side(at(padding, {padding.size() == 4 ? k : i}), 0);
    }
  }
  TunedLayer layer;
  const bool depthwise = name.rfind("depthwise", 0) == 0;
  layer.images = data(0);
  layer.shape.kind = "Convolution";
  layer.shape.in_channels = data(1);
  layer.shape.in_pixels = data(2) * data(3);
  layer.shape.kernel = weights(2);
  if (weights(3) != weights(2)) layer.shape.kernel_width = weights(3);
  layer.shape.stride = stride;
  layer.shape.groups = depthwise ? data(1) : data(1) / std::max(1.0, weights(1));
  layer.shape.out_channels = depthwise ? weights(0) * weights(1) : weights(0);
  if (stride == 0 || layer.images * layer.shape.in_pixels * weights(2) * weights(3) == 0)
    return std::nullopt;
  const auto places = [&](std::size_t i) {
    const double window = (weights(2 + i) - 1) * side_of_two(at(arguments, {4}), i) + 1;
    const double step = side_of_two(at(arguments, {2}), i);
    return std::floor((data(2 + i) + padded[i] - window) / step) + 1;
  };
  const double rows = places(0);
  const double columns = places(1);
  layer.shape.out_pixels = rows * columns;
  if (rows < 1 || columns < 1 || layer.shape.out_channels < 1 || layer.shape.groups < 1)
    return std::nullopt;
  return layer;
}

// What convolutions of one network share, whose names the logs do not have.
std::string likeness(const LayerShape& shape) {
  const auto text = [](double value) { return std::to_string(static_cast<long long>(value)); };
  return text(shape.in_pixels) + " pixels, side " + text(shape.kernel) +
         (shape.kernel_width > 0 ? "x" + text(shape.kernel_width) : "") + " every " +
         text(shape.stride) + (shape.groups > 1 ? ", by channels" : "");
}

// The best of a line's repeats; NaN if it failed.
double time_ms(const PlainJson& result) {
  double best = std::numeric_limits<double>::quiet_NaN();
  if (!at(result, {1}).is_number() || at(result, {1}).get<double>() != 0) return best;
  const PlainJson& repeats = at(result, {0});
  for (std::size_t i = 0; repeats.is_array() && i < repeats.size(); ++i) {
    if (repeats[i].is_number()) best = std::fmin(best, 1e3 * repeats[i].get<double>());
  }
  return best;
}

Status read_line(const std::string& line, const std::string& where, TunedLog& log) {
  const PlainJson json = PlainJson::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("input") || !json.contains("result") ||
      !at(json["input"], {0}).is_string() || !at(json["input"], {1}).is_string()) {
    return {StatusCode::corrupt, where + ": not a line of AutoTVM, with 'input' and 'result'"};
  }
  ++log.lines;
  const std::string task = json["input"][1].get<std::string>();
  const bool convolution =
      task.rfind("conv2d_nchw", 0) == 0 || task.rfind("depthwise_conv2d_nchw", 0) == 0;
  const PlainJson& arguments = at(json["input"], {2});
  const auto layer = convolution ? layer_of(task, arguments) : std::nullopt;
  if (!layer) {
    ++log.others;
    return {};
  }
  const double ms = time_ms(json["result"]);
  if (!is_time_ms(ms)) {
    ++log.rejected;
    return {};
  }
  const std::string kind = task.rfind("depthwise", 0) == 0 ? "depthwise " : "";
  const std::string key =
      board_of(json["input"][0].get<std::string>()) + " " + kind + arguments.dump();
  log.layers.emplace(key, *layer);
  const std::string name = task.substr(0, task.find('.'));
  log.templates.insert(name);
  double& best = log.best_ms[key].emplace(name, ms).first->second;
  best = std::min(best, ms);
  return {};
}

Result<TunedLog> read_log(Bytes bytes, const std::string& path) {
  std::string unpacked;
  const auto text = gunzip(bytes, kMaxLogBytes, path, unpacked);
  if (!text.ok()) return text.status();
  if (text->truncated)
    return Status(StatusCode::corrupt, path + ": the packed stream ends early or is damaged");
  TunedLog log;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text->text.size();) {
    const std::size_t end = std::min(text->text.find('\n', begin), text->text.size());
    const std::string line(text->text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line[0] == '#') continue;
    if (Status s = read_line(line, path + ", line " + std::to_string(number), log); !s.ok())
      return s;
  }
  return log;
}

}  // namespace

Result<SampleSet> import_tuned_layers(Bytes gpu_bytes, const std::string& gpu_path, Bytes cpu_bytes,
                                      const std::string& cpu_path) {
  const auto gpu = read_log(gpu_bytes, gpu_path);
  if (!gpu.ok()) return gpu.status();
  const auto cpu = read_log(cpu_bytes, cpu_path);
  if (!cpu.ok()) return cpu.status();
  SampleSet set;
  set.name = "tuned layers";
  set.features = layer_features();
  set.variants.assign(gpu->templates.begin(), gpu->templates.end());
  for (const auto& [key, layer] : gpu->layers) {
    const auto cpu_times = cpu->best_ms.find(key);
    if (cpu_times == cpu->best_ms.end()) continue;
    const auto& gpu_times = gpu->best_ms.at(key);
    Sample sample;
    sample.name = key;
    sample.groups.kernel = key;
    sample.groups.program = likeness(layer.shape);
    sample.groups.suite = "AutoTVM";
    sample.groups.kind = layer.shape.kind;
    sample.cpu_ms = std::numeric_limits<double>::infinity();
    for (const auto& [name, ms] : cpu_times->second) sample.cpu_ms = std::min(sample.cpu_ms, ms);
    for (const std::string& name : set.variants) {
      const auto found = gpu_times.find(name);
      sample.gpu_ms.push_back(found == gpu_times.end() ? std::numeric_limits<double>::quiet_NaN()
                                                       : found->second);
    }
    describe_layer(layer.shape, layer.images, sample);
    set.samples.push_back(std::move(sample));
    set.device = key.substr(0, key.find(' '));
  }
  if (set.samples.empty()) {
    return Status(StatusCode::corrupt,
                  gpu_path + ": no convolution that " + cpu_path + " has too, on the same board");
  }
  for (const auto& [log, path] : {std::pair{&*gpu, gpu_path}, std::pair{&*cpu, cpu_path}}) {
    set.remark(log->others, log->lines,
               "lines are no convolutions in single precision's plain layout", path);
    set.remark(log->rejected, log->lines, "lines failed, or have no time above 0 and below 1e6 ms",
               path);
  }
  return set;
}

}  // namespace idletune::offload
