#include "agent/host/lab/selection/layer_methods.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "agent/host/lab/selection/quality_forest.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::offload;
using idletune::test::bytes_of;

namespace {

const std::string kLayerShapes =
    "network,layer,type,in_channels,in_height,in_width,out_channels,out_height,out_width,kernel,"
    "group,numbering\n"
    "net,01: conv,Convolution,4,9,9,16,7,7,3,2,caffe\n"
    "net,02: relu,ReLU,16,7,7,16,7,7,,,caffe\n"
    "net,03: fc,InnerProduct,16,7,7,10,1,1,,,caffe\n"
    "net,04: fc,InnerProduct,16,7,7,10,1,1,,,caffe\n";

std::string times() {
  std::string text = "device,network,variant,batch,layer,direction,time_ms\n";
  for (const char* layer : {"01: conv", "02: relu", "03: fc", "04: fc"}) {
    for (const char* batch : {"2", "4"}) {
      const std::string cell = std::string(batch) + "," + layer + ",";
      text += "board,net,clblast," + cell + "forward,3\n";
      text += "board,net,clblast," + cell + "forward,5\n";
      text += "board,net,clblast," + cell + "forward,1.8e13\n";
      text += "board,net,viennacl," + cell + "forward," + (cell[0] == '2' ? "2" : "1e9") + "\n";
      text += "board,net,viennacl-fp16," + cell + "forward,1\n";
      text += "board,net,cpu," + cell + "forward,1\n";
      text += "board,net,clblast," + cell + "backward,1\n";
      text += "other,net,viennacl," + cell + "forward,9\n";
    }
  }
  return text;
}

// Mean quality of choices at layers that were left out, ten parts.
double left_out(const selection::Problems& problems) {
  selection::Rows all;
  for (std::size_t p = 0; p < problems.count(); ++p) all.push_back(p);
  double sum = 0;
  for (const selection::Split& fold : selection::folds_of(problems, all, 10, 1)) {
    const auto recipe = selection::choose_forest(problems, fold.training, 1);
    const selection::QualityForest forest(problems, fold.training, recipe, 1);
    for (const std::size_t p : fold.test) sum += problems.quality(p, forest.choose(problems, p));
  }
  return sum / static_cast<double>(problems.count());
}

double best_single(const selection::Problems& problems) {
  double best = 0;
  for (std::size_t m = 0; m < problems.methods(); ++m) {
    double sum = 0;
    for (std::size_t p = 0; p < problems.count(); ++p) sum += problems.quality(p, m);
    best = std::max(best, sum / static_cast<double>(problems.count()));
  }
  return best;
}

}  // namespace

TEST_CASE("layers become matrix products, and libraries methods with the median of their times") {
  const auto problems =
      required(layer_methods(bytes_of(times()), "t", bytes_of(kLayerShapes), "s"));
  CHECK(problems.device == "board");
  CHECK(problems.members == std::vector<std::string>{"clblast", "viennacl"});
  REQUIRE(problems.count() == 6);
  CHECK(problems.seen == 6);
  CHECK(problems.sizes[0] == std::vector<double>{8, 49, 18, 2});
  CHECK(problems.sizes[2] == std::vector<double>{10, 1, 784, 2});
  CHECK(problems.ns[0] == std::vector<double>{4e6, 2e6});
  CHECK(problems.ns[1] == std::vector<double>{4e6, 0});
  // Layers of one product are left out together.
  CHECK(problems.group == std::vector<std::size_t>{0, 0, 1, 1, 1, 1});
}

TEST_CASE("tables without the columns or without five usable cases are refused by name") {
  CHECK(layer_methods(bytes_of("device\n"), "t", bytes_of(kLayerShapes), "s").status().message() ==
        "t: no column network, variant, batch, layer, direction, time_ms");
  const std::string none = "device,network,variant,batch,layer,direction,time_ms\n";
  CHECK(layer_methods(bytes_of(none), "t", bytes_of(kLayerShapes), "s").status().message() ==
        "t: 0 layers and batches have times and shapes, expected at least 5");
}

TEST_CASE("on recorded boards the library is chosen well for layers that were left out" *
          doctest::test_suite("recorded data")) {
  const char* shared = std::getenv("IDLETUNE_SHARED");
  if (shared == nullptr || *shared == '\0') return test::skip(test::kNoRecordedData);
  const std::string folder = std::string(shared) + "/data/embedded/caffe_layer";
  const auto bytes = [&](const char* name) { return test::read_bytes(folder + name); };
  const auto shapes = bytes("_shapes.csv");
  const auto mali = required(layer_methods(bytes("s_mali-t860.csv.gz"), "t", shapes, "s"));
  CHECK(mali.count() == 736);
  CHECK(best_single(mali) == doctest::Approx(0.953).epsilon(0.001));
  CHECK(left_out(mali) >= 0.96);
  const auto tx1 = required(layer_methods(bytes("s_jetson-tx1.csv.gz"), "t", shapes, "s"));
  CHECK(tx1.count() == 944);
  CHECK(left_out(tx1) >= 0.985);
}
