// Layers of convolutional networks as plain loops, for the profiler of CPU code: what a layer does
// whoever computes it. Images lie behind each other, in each channels, rows and columns.
//
//   idletune offload profile layers.cpp -o layers.json -- SHAPES.csv [MOST_OPERATIONS]
//
// profiles every distinct layer of a table of shapes, with one image and with two: what grows with
// the number of images grows evenly, so others follow. Layers with more than that many operations
// per image are left out (default: none).
#include <idletune/offload_region.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#ifndef MOST_IMAGES
#define MOST_IMAGES 2
#endif

namespace {

struct Shape {
  std::string kind;
  int in_channels = 0, in_height = 0, in_width = 0;
  int out_channels = 0, out_height = 0, out_width = 0;
  int kernel = 0, stride = 1, pad = 0, groups = 1;
};

IDLETUNE_OFFLOAD_REGION void convolution(const Shape& s, int images, const float* in,
                                         const float* weights, const float* bias, float* out) {
  const int depth = s.in_channels / s.groups, breadth = s.out_channels / s.groups;
  for (int n = 0; n < images; ++n) {
    for (int o = 0; o < s.out_channels; ++o) {
      const float* filter = weights + o * depth * s.kernel * s.kernel;
      const int first = n * s.in_channels + o / breadth * depth;
      for (int y = 0; y < s.out_height; ++y) {
        const int top = y * s.stride - s.pad, from_y = top < 0 ? -top : 0;
        const int to_y = top + s.kernel > s.in_height ? s.in_height - top : s.kernel;
        for (int x = 0; x < s.out_width; ++x) {
          const int left = x * s.stride - s.pad, from_x = left < 0 ? -left : 0;
          const int to_x = left + s.kernel > s.in_width ? s.in_width - left : s.kernel;
          float sum = bias[o];
          for (int c = 0; c < depth; ++c) {
            for (int i = from_y; i < to_y; ++i) {
              const float* row = in + ((first + c) * s.in_height + top + i) * s.in_width + left;
              const float* taps = filter + (c * s.kernel + i) * s.kernel;
              for (int j = from_x; j < to_x; ++j) sum += row[j] * taps[j];
            }
          }
          out[((n * s.out_channels + o) * s.out_height + y) * s.out_width + x] = sum;
        }
      }
    }
  }
}

IDLETUNE_OFFLOAD_REGION void pooling(const Shape& s, int images, bool average, const float* in,
                                     float* out) {
  for (int plane = 0; plane < images * s.in_channels; ++plane) {
    const float* image = in + plane * s.in_height * s.in_width;
    for (int y = 0; y < s.out_height; ++y) {
      const int top = y * s.stride - s.pad, from_y = top < 0 ? 0 : top;
      const int to_y = top + s.kernel > s.in_height ? s.in_height : top + s.kernel;
      for (int x = 0; x < s.out_width; ++x) {
        const int left = x * s.stride - s.pad, from_x = left < 0 ? 0 : left;
        const int to_x = left + s.kernel > s.in_width ? s.in_width : left + s.kernel;
        float result = average ? 0 : -1e30F;
        for (int i = from_y; i < to_y; ++i) {
          for (int j = from_x; j < to_x; ++j) {
            const float value = image[i * s.in_width + j];
            if (average) {
              result += value;
            } else if (value > result) {
              result = value;
            }
          }
        }
        if (average) result /= static_cast<float>(s.kernel * s.kernel);
        out[(plane * s.out_height + y) * s.out_width + x] = result;
      }
    }
  }
}

IDLETUNE_OFFLOAD_REGION void normalise(const Shape& s, int images, const float* in, float* out) {
  const int pixels = s.in_height * s.in_width, reach = s.kernel / 2;
  for (int n = 0; n < images; ++n) {
    for (int c = 0; c < s.in_channels; ++c) {
      const int from = c < reach ? 0 : c - reach;
      const int to = c + reach >= s.in_channels ? s.in_channels - 1 : c + reach;
      for (int p = 0; p < pixels; ++p) {
        const float* image = in + n * s.in_channels * pixels + p;
        float sum = 0;
        for (int k = from; k <= to; ++k) sum += image[k * pixels] * image[k * pixels];
        const float scale = 1 + 1e-4F / static_cast<float>(s.kernel) * sum;
        out[(n * s.in_channels + c) * pixels + p] = image[c * pixels] * std::pow(scale, -0.75F);
      }
    }
  }
}

IDLETUNE_OFFLOAD_REGION void rectify(int count, float* values) {
  for (int i = 0; i < count; ++i) values[i] = values[i] > 0 ? values[i] : 0;
}

IDLETUNE_OFFLOAD_REGION void inner_product(int inputs, int outputs, int images, const float* in,
                                           const float* weights, const float* bias, float* out) {
  for (int n = 0; n < images; ++n) {
    for (int o = 0; o < outputs; ++o) {
      float sum = bias[o];
      for (int i = 0; i < inputs; ++i) sum += in[n * inputs + i] * weights[o * inputs + i];
      out[n * outputs + o] = sum;
    }
  }
}

IDLETUNE_OFFLOAD_REGION void softmax(int classes, int images, const float* in, float* out) {
  for (int n = 0; n < images; ++n) {
    const float* from = in + n * classes;
    float* to = out + n * classes;
    float largest = from[0];
    for (int i = 1; i < classes; ++i) {
      if (from[i] > largest) largest = from[i];
    }
    float sum = 0;
    for (int i = 0; i < classes; ++i) {
      to[i] = std::exp(from[i] - largest);
      sum += to[i];
    }
    for (int i = 0; i < classes; ++i) to[i] /= sum;
  }
}

// All inputs together have as many numbers as the output; they are taken for one behind the other.
IDLETUNE_OFFLOAD_REGION void concatenate(int count, const float* in, float* out) {
  for (int i = 0; i < count; ++i) out[i] = in[i];
}

// On pages of their own, as GPUs' buffers are.
class Numbers {
 public:
  explicit Numbers(int count)
      : values_(static_cast<float*>(
            aligned_alloc(4096, (static_cast<std::size_t>(count) * 4 + 4095) / 4096 * 4096))) {
    static unsigned random = 1;
    for (int i = 0; i < count; ++i) {
      random = random * 1664525 + 1013904223;
      values_[i] = static_cast<float>(static_cast<int>(random >> 8)) / 8388608.0F - 1;
    }
  }
  ~Numbers() { std::free(values_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  float* data() const { return values_; }

 private:
  float* values_;
};

void run(const Shape& s, int images, bool average) {
  const int in_pixels = s.in_height * s.in_width, out_pixels = s.out_height * s.out_width;
  const int inputs = s.in_channels * in_pixels, outputs = s.out_channels * out_pixels;
  const Numbers in(images * inputs), out(images * outputs);
  const Numbers bias(s.out_channels);
  if (s.kind == "Convolution") {
    const Numbers weights(s.out_channels * (s.in_channels / s.groups) * s.kernel * s.kernel);
    convolution(s, images, in.data(), weights.data(), bias.data(), out.data());
  } else if (s.kind == "InnerProduct") {
    const Numbers weights(inputs * s.out_channels);
    inner_product(inputs, s.out_channels, images, in.data(), weights.data(), bias.data(),
                  out.data());
  } else if (s.kind == "Pooling") {
    pooling(s, images, average, in.data(), out.data());
  } else if (s.kind == "LRN") {
    normalise(s, images, in.data(), out.data());
  } else if (s.kind == "ReLU") {
    rectify(images * outputs, in.data());
  } else if (s.kind == "Softmax") {
    softmax(inputs, images, in.data(), out.data());
  } else if (s.kind == "Concat") {
    concatenate(images * outputs, in.data(), out.data());
  }
}

double operations_of(const Shape& s) {
  const double outputs = 1.0 * s.out_channels * s.out_height * s.out_width;
  if (s.kind == "Convolution") {
    return 15 * outputs * s.in_channels / s.groups * s.kernel * s.kernel;
  }
  if (s.kind == "InnerProduct") return 14 * outputs * s.in_channels * s.in_height * s.in_width;
  return 20 * outputs * std::max(1, s.kernel);
}

using Row = std::map<std::string, std::string>;

int number_in(const Row& row, const char* column, int otherwise) {
  const std::string& text = row.at(column);
  return text.empty() ? otherwise : std::atoi(text.c_str());
}

Shape shape_of(const Row& row, std::string& label) {
  Shape s;
  s.kind = row.at("type");
  s.in_channels = number_in(row, "in_channels", 0);
  s.in_height = number_in(row, "in_height", 0);
  s.in_width = number_in(row, "in_width", 0);
  s.out_channels = number_in(row, "out_channels", 0);
  s.out_height = number_in(row, "out_height", 1);
  s.out_width = number_in(row, "out_width", 1);
  s.kernel = number_in(row, "kernel", 0);
  s.groups = number_in(row, "group", 1);
  const std::size_t size = row.at("extra").find("local_size=");
  if (size != std::string::npos) s.kernel = std::atoi(row.at("extra").c_str() + size + 11);
  const int stride = number_in(row, "stride", 0);
  label = s.kind + " " + std::to_string(s.in_channels) + "x" +
          std::to_string(s.in_height * s.in_width) + " " + std::to_string(s.out_channels) + "x" +
          std::to_string(s.out_height * s.out_width) + " k" + std::to_string(s.kernel) + " s" +
          std::to_string(stride) + " g" + std::to_string(s.groups);
  s.stride = std::max(1, stride);
  s.pad = number_in(row, "pad", 0);
  if (s.kind == "Pooling" && s.kernel == 0) s.kernel = s.in_height;  // of the whole image
  return s;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream text(line + ",");
  for (std::string cell; std::getline(text, cell, ',');) all.push_back(cell);
  return all;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "expected a table of shapes\n");
    return 2;
  }
  std::ifstream file(words[1]);
  const double most = count > 2 ? std::atof(words[2]) : 1e30;
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = cells(line);
  std::set<std::string> done;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = cells(line);
    if (values.size() != columns.size()) continue;
    Row row;
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = values[i];
    std::string label;
    const Shape shape = shape_of(row, label);
    if (operations_of(shape) > most || !done.insert(label).second) continue;
    for (int images = 1; images <= MOST_IMAGES; ++images) {
      const std::string full = label + " b" + std::to_string(images);
      IDLETUNE_OFFLOAD_LABEL(full.c_str());
      run(shape, images, row["extra"].find("pool=AVE") != std::string::npos);
    }
  }
}
