#include "models/host/learn/published.hpp"
#include "models/devices/device_names.hpp"

#include <cstdlib>

#include <doctest/doctest.h>
#include <zlib.h>

#include "models/host/learn/learn.hpp"
#include "models/predict/model.hpp"
#include "platform/os/storage.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/required.hpp"
#include "tests/unit/skip.hpp"

using namespace idletune;

namespace {

constexpr const char* kTable =
    "kernel,precision,device_type,vendor,architecture,device,parameters\n"
    "Xgemm,Single,GPU,ARM,default,Mali-G610 MC6 r0p0,GEMMK=1 KREG=2 KWG=1 MWG=64\n"
    "Xgemm,Single,GPU,ARM,default,Mali-G615 MC5 r1p3,GEMMK=0 KREG=1 KWG=32 MWG=64\n"
    "Xgemm,Single,GPU,ARM,default,Mali-T628,GEMMK=0 KREG=1 KWG=32 MWG=32\n"
    "Xgemm,Single,GPU,ARM,default,default,GEMMK=0 KREG=1 KWG=32 MWG=32\n"
    "Xgemm,Half,GPU,ARM,default,Mali-T760,GEMMK=0 KREG=1 KWG=16 MWG=16\n"
    "Xgemm,Single,GPU,QUALCOMM,OpenCL C 2.0 Adreno(TM) 640,QUALCOMM Adreno(TM),"
    "GEMMK=0 KREG=1 KWG=16 MWG=128\n"
    "Xgemm,Single,GPU,QUALCOMM,OpenCL C 3.0 Adreno(TM) 740,\"QUALCOMM Adreno(TM), new\","
    "GEMMK=0 KREG=1 KWG=16 MWG=128\r\n"
    "Xgemm,Single,GPU,NVIDIA,SM8.0,A100,GEMMK=0 KREG=1 KWG=32 MWG=64\n"
    "Copy,Single,GPU,ARM,default,Mali-T628,COPY_VW=1\n";

Result<PublishedConfigurations> import_text(const std::string& text,
                                            const PublishedOptions& options = {}) {
  return import_published(test::bytes_of(text), "table.csv", options);
}

std::vector<std::uint8_t> gzip_text(const std::string& text) {
  std::vector<std::uint8_t> packed(text.size() + 1000);
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

TEST_CASE("published entries become devices and families, with fixed parameters taken out") {
  const auto published = required(import_text(kTable));
  CHECK(published.kernel == "gemm");
  CHECK(published.origin == "table.csv");
  CHECK(published.parameters == std::vector<std::string>{"KWG", "MWG"});
  std::string text;
  for (const auto& entry : published.entries) {
    text += entry.device + ":" + std::to_string(entry.values[0]) + "," +
            std::to_string(entry.values[1]) + "x" + std::to_string(entry.devices) + ";";
  }
  CHECK(text ==
        "Mali-G615 MC5 r1p3:32,64x1;Mali-T628:32,32x1;"
        "QUALCOMM Adreno(TM) 640:16,128x1;QUALCOMM Adreno(TM) 740:16,128x1;"
        "Mali:32,32x1;Mali:32,64x1;Adreno:16,128x2;");
  REQUIRE(published.warnings.size() == 1);  // GEMMK=1 is another kernel than ours
}

TEST_CASE("other vendors, precisions and kernels can be asked for") {
  PublishedOptions options;
  options.vendors = {"NVIDIA"};
  const auto nvidia = required(import_text(kTable, options));
  REQUIRE(nvidia.entries.size() == 1);
  CHECK(nvidia.entries[0].device == "A100");
  options.vendors.clear();
  options.precision = "Half";
  CHECK(import_text(kTable, options)->entries.size() == 1);
  options.published_kernel = "Xgemv";
  CHECK(import_text(kTable, options).code() == StatusCode::not_found);
}

TEST_CASE("text that is no such table is refused") {
  CHECK(import_text("").code() == StatusCode::corrupt);
  CHECK(import_text("kernel,device\nXgemm,A\n").code() == StatusCode::unsupported);
  const std::string head = "kernel,precision,device_type,vendor,architecture,device,parameters\n";
  CHECK(import_text(head + "Xgemm,Single\n").code() == StatusCode::corrupt);
  CHECK(import_text(head + "Xgemm,Single,GPU,ARM,default,Mali-T628,MWG\n").code() ==
        StatusCode::corrupt);
  CHECK(import_text(head + "Xgemm,Single,GPU,ARM,default,Mali-T628,MWG=\n").code() ==
        StatusCode::corrupt);
  CHECK(import_text(head + "Xgemm,Single,GPU,ARM,default,Mali-T628,MWG=999999999999999999999\n")
            .code() == StatusCode::corrupt);
  CHECK(import_text(head).code() == StatusCode::not_found);
  // A column twice, with a row that ends before the second one.
  const Status twice = import_text("x,x," + head + "a,b,Xgemm,Single,GPU,ARM,default\n").status();
  CHECK(twice.message() == "table.csv: a column's name is twice");
}

TEST_CASE("a packed table that is cut short is refused by name") {
  const auto packed = gzip_text(kTable);
  REQUIRE(import_published(packed, "table.csv.gz", {}).ok());
  for (std::size_t size = 20; size < packed.size() - 1; size += 7) {
    const auto cut = import_published({packed.data(), size}, "table.csv.gz", {});
    CHECK(cut.status().message().find("table.csv.gz: ") == 0);
  }
}

TEST_CASE("a model of published entries alone gives boards of the family a start") {
  LearnOptions options;
  options.published.push_back(*import_text(kTable));
  const auto learned = required(learn({}, options));
  CHECK(learned.kernels[0].published == 7);
  const auto model = required(Model::open(learned.bytes, "test"));
  const std::vector<std::string> names{"MWG", "KWG"};
  const std::vector<std::int64_t> rows{32, 16, 32, 32, 64, 32, 128, 16, 128, 32};
  const auto space = required(Space::from_rows(names, {}, {}, rows));
  const KernelKnowledge* kernel = model->kernel("gemm", space);
  REQUIRE(kernel != nullptr);
  const auto on = [&](std::string_view device) {
    return first_pick(*kernel, space, {512, 512, 512}, device);
  };
  CHECK(on("Mali-G615 r1p3")->configuration == Configuration{64, 32});
  CHECK(on("Mali-G615 r1p3")->quality == PickQuality::published);
  CHECK(on("Mali-G78")->configuration == Configuration{32, 32});
  CHECK(on("Mali-G78")->quality == PickQuality::other_device);
  CHECK(on("QUALCOMM Adreno(TM) 640")->configuration == Configuration{128, 16});
  CHECK_FALSE(on("NVIDIA Orin").has_value());
}

TEST_CASE("learn says what it leaves out of a table, and keeps to a kernel's limit") {
  LearnOptions options;
  options.published.push_back(*import_text(kTable));
  const auto learned = required(learn({}, options));
  CHECK(learned.warnings == options.published[0].warnings);
  options.bytes_per_kernel = learned.kernels[0].bytes;
  CHECK(learn({}, options).ok());
  --options.bytes_per_kernel;
  CHECK(learn({}, options).code() == StatusCode::out_of_memory);
}

TEST_CASE("CLBlast's database has entries for Mali and Adreno" *
          doctest::test_suite("recorded data")) {
  const char* shared = std::getenv("IDLETUNE_SHARED");
  const std::string path =
      std::string(shared != nullptr ? shared : "") + "/data/tuning/clblast/best_parameters.csv.gz";
  const auto bytes = read_file(path, 64u << 20);
  if (!bytes.ok()) {
    return test::skip(bytes.status().message());
  }
  const auto published = required(import_published(*bytes, path, {}));
  CHECK(published.parameters.size() == 14);
  std::size_t mali = 0;
  std::size_t adreno = 0;
  for (const auto& entry : published.entries) {
    mali += device_name_contains(entry.device, "mali") && entry.device != "Mali" ? 1u : 0u;
    adreno += device_name_contains(entry.device, "adreno") && entry.device != "Adreno" ? 1u : 0u;
  }
  CHECK(mali >= 4);
  CHECK(adreno >= 10);
}
