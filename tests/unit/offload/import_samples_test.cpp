#include "models/host/offload/import_samples.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "models/host/history/comma_table.hpp"
#include "models/host/offload/layer_features.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::offload;
using idletune::test::bytes_of;

namespace {

const std::string kMapping =
    "benchmark,dataset,comp,rational,mem,localmem,coalesced,atomic,transfer,wgsize,oracle,"
    "runtime_cpu,runtime_gpu\n";

Result<SampleSet> mapping(const std::string& rows) {
  const std::string text = kMapping + rows;
  return import_device_mapping(bytes_of(text), "m.csv");
}

const std::string kTimes =
    "device,network,variant,batch,threads,rep,layer_index,layer,direction,time_ms\n";
const std::string kShapes =
    "network,layer_index,layer,type,bottom,in_channels,in_height,in_width,out_channels,out_height,"
    "out_width,kernel,stride,pad,group,extra,name,numbering\n"
    "net-1.0,1,01: conv,Convolution,data,3,8,8,16,4,4,3,2,1,1,bias=1,conv,caffe\n"
    "net-1.0,2,02: norm,LRN,conv,16,4,4,16,4,4,,,,,local_size=5;alpha=1,norm,caffe\n"
    "net-1.0,1,01: norm,LRN,conv,16,4,4,16,4,4,,,,,local_size=5;alpha=1,norm,tensorrt-fp32\n";

Result<SampleSet> layers(const std::string& rows) {
  const std::string times = kTimes + rows;
  return import_layers(bytes_of(times), "t.csv", bytes_of(kShapes), "s.csv");
}

std::string replaced_window(std::string text, const std::string& by) {
  const std::size_t place = text.find("local_size=5");
  return text.replace(place + 11, 1, by);
}

}  // namespace

TEST_CASE("a table says where it is wrong") {
  const auto error = [](const std::string& text) {
    return CommaTable::parse(bytes_of(text), "x.csv").status().to_string();
  };
  CHECK(error("") == "corrupt: x.csv: no line of column names");
  CHECK(error("a,b\n1,2\n\n3\n") == "corrupt: x.csv, line 4: 1 values instead of 2");
  CHECK(error("a,a\n") == "corrupt: x.csv: a column's name is twice");
  CHECK(error("\x1f\x8b\x08") == "corrupt: x.csv: the packed stream ends early or is damaged");
  const std::string text = "a,b\r\n1,x\r\n,-2.5e3";
  const auto table = required(CommaTable::parse(bytes_of(text), "x.csv"));
  REQUIRE(table.rows() == 2);
  CHECK(table.number(0, "a") == 1);
  CHECK(std::isnan(table.number(0, "b")));
  CHECK(std::isnan(table.number(1, "a")));
  CHECK(table.number(1, "b") == -2500);
  CHECK(table.require({"a", "c", "d"}).message() == "x.csv: no column c, d");
}

TEST_CASE("a benchmark's name tells suite, program and kernel") {
  const auto set =
      required(mapping("npb-3.3-BT-x_solve1,A,98,8,13,11,2,0,2048,255,GPU,3.5,1.25\n"
                       "polybench-gpu-1.0-2mm-mm2_kernel1,default,1,2,3,4,5,6,7,8,CPU,1,2\n"));
  REQUIRE(set.samples.size() == 2);
  const Sample& sample = set.samples[0];
  CHECK(sample.name == "npb-3.3-BT-x_solve1 A");
  CHECK(sample.groups.suite == "npb-3.3");
  CHECK(sample.groups.program == "npb-3.3-BT");
  CHECK(sample.groups.kernel == "npb-3.3-BT-x_solve1");
  CHECK(sample.features == std::vector<double>{98, 8, 13, 11, 2, 0, 2048, 255});
  CHECK(sample.cpu_ms == 3.5);
  CHECK(sample.best_gpu_ms() == 1.25);
  CHECK(set.samples[1].groups.suite == "polybench-gpu-1.0");
}

TEST_CASE("rows whose time is zero, absurd or no number are left out and counted") {
  const std::string good = "a-1-b-c,d,1,2,3,4,5,6,7,8,GPU,";
  const auto set = required(mapping(good + "1,2\n" + good + "0,2\n" + good + "1,nan\n" + good +
                                    "1,1e13\n" + good + "1,-3\n" + good + "1,\n"));
  CHECK(set.samples.size() == 1);
  REQUIRE(set.remarks.size() == 1);
  CHECK(set.remarks[0] == "5 of 6 rows have no time above 0 and below 1e6 ms");
  CHECK(mapping(good + "0,0\n").status().message() == "m.csv: no row could be used");
  CHECK(mapping("a-1-b-c,d,x,2,3,4,5,6,7,8,GPU,1,2\n").status().message() ==
        "m.csv, line 2: 'comp' is 'x', not a number");
}

TEST_CASE("kernels on many devices become variants, one CPU apart") {
  const std::string features =
      "application,size,kernel,opcode,granularity\nfft,tiny,f,8,0.5\nfft,large,f,9,0.25\n";
  const std::string times =
      "application,size,kernel,device,median,min,max,count\n"
      "fft,tiny,f,cpu1,2000,1,1,1\nfft,tiny,f,gpu2,500,1,1,1\nfft,tiny,f,gpu1,0,1,1,1\n"
      "fft,large,f,gpu1,7000,1,1,1\n";
  const auto read = [&](const std::string& cpu) {
    return import_characterized_kernels(bytes_of(features), "f.csv", bytes_of(times), "t.csv", cpu);
  };
  const auto set = required(read("cpu1"));
  CHECK(set.features.names == std::vector<std::string>{"opcode", "granularity"});
  CHECK(set.variants == std::vector<std::string>{"gpu1", "gpu2"});
  REQUIRE(set.samples.size() == 1);  // the other one has no time on the CPU
  CHECK(set.samples[0].name == "fft-tiny-f");
  CHECK(set.samples[0].cpu_ms == 2);
  CHECK(std::isnan(set.samples[0].gpu_ms[0]));
  CHECK(set.samples[0].gpu_ms[1] == 0.5);
  CHECK(set.remarks == std::vector<std::string>{"1 of 4 times are not above 0 and below 1e6 ms"});
  CHECK(only_variant(set, 0).samples.empty());
  CHECK(only_variant(set, 1).samples.size() == 1);
  CHECK(read("i7").status().message() == "t.csv: no times of 'i7' (it has cpu1, gpu1, gpu2)");
}

TEST_CASE("layers join their shapes; medians of repeats, the CPU's fastest variant") {
  const auto set =
      required(layers("b,net-1.0,cpu,2,1,0,1,01: conv,forward,9\n"
                      "b,net-1.0,cpu,2,4,0,1,01: conv,forward,5\n"
                      "b,net-1.0,cpu,2,4,0,1,01: conv,backward,1\n"
                      "b,net-1.0,opencl-a,2,,0,1,01: conv,forward,3\n"
                      "b,net-1.0,opencl-a,2,,1,1,01: conv,forward,4\n"
                      "b,net-1.0,opencl-a,2,,2,1,01: conv,forward,1.8e13\n"
                      "b,net-1.0,nvidia-fp16-b,2,,0,1,01: conv,forward,1\n"
                      "b,net-1.0,tensorrt-1.0.0,2,,0,1,01: norm,forward,1\n"
                      "b,net-1.0,opencl-a,2,,0,9,09: what,forward,4\n"));
  CHECK(set.variants == std::vector<std::string>{"opencl-a"});
  REQUIRE(set.samples.size() == 1);
  const Sample& sample = set.samples[0];
  CHECK(sample.name == "net-1.0 01: conv batch 2");
  CHECK(sample.groups.network == "net");
  CHECK(sample.groups.kind == "Convolution");
  CHECK(sample.cpu_ms == 5);
  CHECK(sample.gpu_ms == std::vector<double>{3.5});
  // 2 images, 16 channels of 4 x 4, each a sum of 3 * 3 * 3 products and a constant.
  CHECK(sample.features[0] == 2 * 16 * 16 * (2 * 27 + 1));
  CHECK(sample.bytes_in == 4 * (2 * 3 * 64 + 16 * 28));
  CHECK(sample.bytes_out == 4 * 2 * 16 * 16);
  CHECK(sample.features.size() == set.features.names.size());
  REQUIRE(set.remarks.size() == 3);
  CHECK(set.remarks[0] == "1 of 8 forward rows have no time above 0 and below 1e6 ms");
  CHECK(set.remarks[1] == "2 of 8 forward rows are of another precision");
  CHECK(set.remarks[2] == "1 of 2 layers and batches have no shape");
}

TEST_CASE("times of two boards are no set") {
  const auto two = layers(
      "b,net-1.0,cpu,2,1,0,1,01: conv,forward,9\n"
      "c,net-1.0,opencl-a,2,,0,1,01: conv,forward,3\n");
  CHECK(two.code() == StatusCode::invalid_argument);
  CHECK(two.status().message().find("times of 'c' beside those of 'b'") != std::string::npos);
  Profile profile;
  profile.regions.resize(1);
  profile.regions[0].name = "a";
  profile.regions[0].cpu_ms = 3;
  profile.regions[0].features.assign(profiled_features().names.size(), 0.5);
  const std::string head = "region,variant,gpu_ms,device\n";
  CHECK(import_profiled(profile, bytes_of(head + "a,best,2,b\na,best,1,c\n"), "t.csv").code() ==
        StatusCode::invalid_argument);
  // Of repeats on one the median counts, whatever their order.
  for (const char* rows :
       {"a,best,2,b\na,best,9,b\na,best,1,b\n", "a,best,1,b\na,best,2,b\na,best,9,b\n"})
    CHECK(required(import_profiled(profile, bytes_of(head + rows), "t.csv")).samples[0].gpu_ms ==
          std::vector<double>{2});
}

TEST_CASE("a shape that is absurd gives numbers, all the same") {
  LayerShape shape;
  shape.kind = "InnerProduct";
  shape.in_channels = shape.out_channels = 1e9;
  shape.in_pixels = shape.out_pixels = 1e18;
  Sample sample;
  describe_layer(shape, 1e6, sample);
  CHECK(sample.bytes_out == std::uint64_t{1000000000000000000});
  for (const double value : sample.features) CHECK(std::isfinite(value));
  const std::string shapes = replaced_window(kShapes, "nan");
  const auto layer = required(import_layer_shape(bytes_of(shapes), "s.csv", "net-1.0", "norm", 2));
  for (const double value : layer.features) CHECK(std::isfinite(value));
  CHECK(import_layer_shape(bytes_of(shapes), "s.csv", "net-1.0", "pool", 2).status().message() ==
        "s.csv: no layer 'pool' of 'net-1.0'");
}

TEST_CASE("profiled regions join their times on a GPU") {
  Profile profile;
  for (const char* name : {"a", "b", "c"}) {
    RegionProfile region;
    region.name = name;
    region.features.assign(profiled_features().names.size(), 0.5);
    if (*name != 'c') region.cpu_ms = 3;
    profile.regions.push_back(region);
  }
  const std::string times = "region,variant,gpu_ms\na,default,2\na,best,1\nb,best,0\nc,best,4\n";
  const auto set = required(import_profiled(profile, bytes_of(times), "t.csv"));
  REQUIRE(set.samples.size() == 1);
  CHECK(set.variants == std::vector<std::string>{"best", "default"});
  CHECK(set.samples[0].gpu_ms == std::vector<double>{1, 2});
  CHECK(set.samples[0].groups.program == "a");
  CHECK(set.remarks ==
        std::vector<std::string>{"1 of 4 times are not above 0 and below 1e6 ms",
                                 "2 of 3 regions lack a time on the CPU or the GPU"});
}

TEST_CASE("published device mappings, kernels and layers are read" *
          doctest::test_suite("recorded data")) {
  const char* shared = std::getenv("IDLETUNE_SHARED");
  if (shared == nullptr || *shared == '\0') return test::skip(test::kNoRecordedData);
  const std::string folder = std::string(shared) + "/data/";
  const auto bytes = [&](const char* name) { return test::read_bytes(folder + name); };

  const auto pairs = required(import_device_mapping(bytes("offload/cgo17-amd.csv.gz"), "amd"));
  CHECK(pairs.samples.size() == 680);

  const auto dwarfs = required(
      import_characterized_kernels(bytes("offload/opendwarfs_features.csv"), "f",
                                   bytes("offload/opendwarfs_times.csv"), "t", "i7-6700k"));
  CHECK(dwarfs.samples.size() == 104);
  CHECK(dwarfs.features.names.size() == 31);
  CHECK(dwarfs.variants.size() == 14);

  const auto shapes = bytes("embedded/caffe_layer_shapes.csv");
  const auto mali =
      required(import_layers(bytes("embedded/caffe_layers_mali-t860.csv.gz"), "t", shapes, "s"));
  CHECK(mali.samples.size() == 251 * 8);
  CHECK(mali.remarks[0] == "1714 of 72288 forward rows have no time above 0 and below 1e6 ms");
  const auto tx1 =
      required(import_layers(bytes("embedded/caffe_layers_jetson-tx1.csv.gz"), "t", shapes, "s"));
  CHECK(tx1.samples.size() == 326 * 8);
}

TEST_CASE(
    "a table of GPU times may say groups and the device, and profiles keep theirs otherwise") {
  Profile profile;
  for (const char* name : {"f 1", "g 2"}) {
    RegionProfile region;
    region.name = name;
    region.groups.program = "loops.cpp";
    region.features.assign(profiled_features().names.size(), 1);
    region.cpu_ms = 2;
    profile.regions.push_back(region);
  }
  const std::string plain = "region,variant,gpu_ms\nf 1,best,1\ng 2,best,3\n";
  const auto without = required(import_profiled(profile, bytes_of(plain), "t"));
  CHECK(without.samples[0].groups.program == "loops.cpp");
  CHECK(without.device.empty());
  const std::string table =
      "region,variant,gpu_ms,program,kind,suite,device\nf 1,best,1,f,stream,original,Board\n"
      "f 1,default,4,f,stream,original,Board\ng 2,best,3,,,derived,Board\n";
  const auto set = required(import_profiled(profile, bytes_of(table), "t"));
  CHECK(set.device == "Board");
  CHECK(set.samples[0].groups.program == "f");
  CHECK(set.samples[0].groups.kind == "stream");
  CHECK(set.samples[1].groups.program == "loops.cpp");
  CHECK(set.samples[1].groups.suite == "derived");
  CHECK(set.variants == std::vector<std::string>{"best", "default"});
}
