#include "models/schema/table_layout.hpp"

#include <doctest/doctest.h>
#include <flatbuffers/reflection_generated.h>

#include <map>
#include <string>
#include <vector>

#include "models/schema/kernel_generated.h"
#include "models/schema/kernel_layout.hpp"
#include "models/schema/model_generated.h"
#include "models/schema/model_layout.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/package/package_bytes.hpp"

namespace idletune {
namespace {

using ByteVector = std::vector<std::uint8_t>;

std::string name_of(const reflection::Object& object) {
  const std::string name = object.name()->str();
  return name.substr(name.rfind('.') + 1);
}

std::uint8_t log2_size(reflection::BaseType type) {
  switch (type) {
    case reflection::Bool:
    case reflection::Byte:
    case reflection::UByte: return 0;
    case reflection::Short:
    case reflection::UShort: return 1;
    case reflection::Int:
    case reflection::UInt:
    case reflection::Float: return 2;
    default: return 3;
  }
}

// The layout of one table, from FlatBuffers' description of it.
class Described {
 public:
  explicit Described(const ByteVector& file) : schema_(*reflection::GetSchema(file.data())) {}

  ByteVector layout(const std::vector<std::string>& places) const {
    ByteVector bytes;
    for (const std::string& place : places) {
      const reflection::Object* object = nullptr;
      for (const reflection::Object* candidate : *schema_.objects()) {
        if (name_of(*candidate) == place) object = candidate;
      }
      REQUIRE_MESSAGE(object != nullptr, place);
      std::map<unsigned, const reflection::Field*> fields;  // the schema lists them by name
      for (const reflection::Field* field : *object->fields()) fields[field->id()] = field;
      for (const auto& [id, field] : fields) add(bytes, *field, places);
      bytes.push_back(table_layout::end);
    }
    return bytes;
  }

 private:
  void add(ByteVector& bytes, const reflection::Field& field,
           const std::vector<std::string>& places) const {
    const reflection::Type& type = *field.type();
    const bool is_vector = type.base_type() == reflection::Vector;
    const reflection::BaseType base = is_vector ? type.element() : type.base_type();
    std::uint8_t kind = 0;
    const reflection::Object* object = nullptr;
    if (base == reflection::String) {
      kind = is_vector ? table_layout::strings : table_layout::string;
    } else if (base == reflection::Obj) {
      object = schema_.objects()->Get(static_cast<unsigned>(type.index()));
      kind = is_vector ? table_layout::tables : table_layout::table;
      if (object->is_struct()) {
        REQUIRE((object->bytesize() == 8 && object->minalign() == 8 && !is_vector));
        kind = table_layout::bytes8;
        object = nullptr;
      }
    } else {
      kind = static_cast<std::uint8_t>(log2_size(base) +
                                       (is_vector ? table_layout::vector1 : table_layout::bytes1));
    }
    if (field.required()) kind |= table_layout::required;
    bytes.push_back(kind);
    if (object == nullptr) return;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] == name_of(*object)) bytes.push_back(static_cast<std::uint8_t>(i));
    }
  }

  const reflection::Schema& schema_;
};

ByteVector schema_file(const std::string& name) {
  auto bytes = read_file(std::string(IDLETUNE_BINARY_SCHEMAS) + "/" + name, 1 << 20);
  REQUIRE(bytes.ok());
  return *bytes;
}

template <std::size_t N>
ByteVector bytes_of(const std::uint8_t (&layout)[N]) {
  return ByteVector(layout, layout + N);
}

}  // namespace

TEST_CASE("the layouts say what the schemas say") {
  const ByteVector kernel = schema_file("kernel.bfbs");
  CHECK(bytes_of(kernel_schema::layout::kTables) ==
        Described(kernel).layout({"Expression", "Parameter", "Diagram", "Space", "Argument", "Step",
                                  "Variant", "Reference", "ToleranceRule", "Binary", "Feature",
                                  "KernelPackage"}));
  const ByteVector model = schema_file("model.bfbs");
  CHECK(bytes_of(model_schema::layout::kTables) ==
        Described(model).layout({"ModelSource", "SourcesSection", "PortfolioSection", "PickEntry",
                                 "FirstPicksSection", "HeldOut", "SelectorQuality",
                                 "QualitySection", "Selector", "SelectorSection", "PublishedPick",
                                 "PublishedSection", "ProductTimes", "ProductTimesSection",
                                 "Section", "KernelEntry", "ModelFile"}));
}

namespace {

// Two tables: {name, numbers, inner tables, words, short} and {long required}.
constexpr std::uint8_t kOwn[] = {
    table_layout::string,  table_layout::vector8,
    table_layout::tables,  1,
    table_layout::strings, table_layout::bytes2,
    table_layout::end,     table_layout::string | table_layout::required,
    table_layout::end};
constexpr table_layout::Limits kLimits = {3, 100};

ByteVector sample() {
  flatbuffers::FlatBufferBuilder builder;
  const auto inner_name = builder.CreateString("inner");
  flatbuffers::uoffset_t start = builder.StartTable();
  builder.AddOffset(4, inner_name);
  const flatbuffers::Offset<flatbuffers::Table> inner(builder.EndTable(start));
  const auto inners = builder.CreateVector(std::vector{inner, inner});
  const auto numbers = builder.CreateVector(std::vector<std::int64_t>{1, -2, 3});
  const auto words = builder.CreateVectorOfStrings({"a", "word"});
  const auto name = builder.CreateString("outer");
  start = builder.StartTable();
  builder.AddOffset(4, name);
  builder.AddOffset(6, numbers);
  builder.AddOffset(8, inners);
  builder.AddOffset(10, words);
  builder.AddElement<std::uint16_t>(12, 7, 0);
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start)));
  return ByteVector(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

bool holds(const ByteVector& bytes, unsigned root = 0, table_layout::Limits limits = kLimits) {
  return table_layout::is_flatbuffer(bytes.data(), bytes.size(), kOwn, root, limits);
}

}  // namespace

TEST_CASE("what is named again and again is no file") {
  for (const bool shared : {false, true}) {
    flatbuffers::FlatBufferBuilder builder;
    const auto names = [&] {
      return builder.CreateVectorOfStrings(std::vector<std::string>(1000, "name"));
    };
    const auto one = names();
    const auto no_sections =
        builder.CreateVector(std::vector<flatbuffers::Offset<model_schema::Section>>());
    std::vector<flatbuffers::Offset<model_schema::KernelEntry>> kernels;
    for (int i = 0; i < 100; ++i) {
      kernels.push_back(model_schema::CreateKernelEntry(builder, builder.CreateString("k"),
                                                        shared ? one : names(), no_sections));
    }
    model_schema::FinishModelFileBuffer(
        builder,
        model_schema::CreateModelFile(builder, 1, 0, 0, 0, 0, 0, builder.CreateVector(kernels)));
    CHECK(table_layout::is_flatbuffer(builder.GetBufferPointer(), builder.GetSize(),
                                      model_schema::layout::kTables, model_schema::at_model_file,
                                      {8, 200000}) == !shared);
  }
}

TEST_CASE("what FlatBuffers writes is accepted, what lacks a required field is not") {
  CHECK(holds(sample()));
  flatbuffers::FlatBufferBuilder builder;
  const flatbuffers::uoffset_t start = builder.StartTable();
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start)));
  const ByteVector empty(builder.GetBufferPointer(),
                         builder.GetBufferPointer() + builder.GetSize());
  CHECK(holds(empty, 0));
  CHECK_FALSE(holds(empty, 1));
}

TEST_CASE("too many and too deep tables are refused") {
  CHECK(holds(sample(), 0, {2, 3}));
  CHECK_FALSE(holds(sample(), 0, {1, 3}));
  CHECK_FALSE(holds(sample(), 0, {2, 2}));
}

TEST_CASE("cut-off and changed bytes are refused or stay readable within their bounds") {
  const ByteVector whole = sample();
  REQUIRE(whole.size() > 100);
  for (std::size_t size = 0; size + 8 <= whole.size(); ++size) {  // the last bytes may be padding
    // A copy of exactly that size, so that a sanitizer sees what lies beyond it.
    const ByteVector part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_FALSE(holds(part));
  }
  std::size_t refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {0x01, 0x04, 0x80, 0xff}) {
      ByteVector changed = whole;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ change);
      refused += holds(changed) ? 0 : 1;
    }
  }
  CHECK(refused > whole.size());  // most changes are of offsets and lengths
}

TEST_CASE("no changed package is accepted that FlatBuffers' own verifier refuses") {
  const ByteVector whole = test::golden_package();
  REQUIRE_FALSE(whole.empty());
  const auto accepted = [](const ByteVector& bytes) {
    return table_layout::is_flatbuffer(bytes.data(), bytes.size(), kernel_schema::layout::kTables,
                                       kernel_schema::at_kernel_package, {12, 20000});
  };
  CHECK(accepted(whole));
  int both = 0, neither = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {0x01, 0x04, 0x20, 0x80, 0xff}) {
      ByteVector changed = whole;
      changed[i] = static_cast<std::uint8_t>(changed[i] ^ change);
      flatbuffers::Verifier verifier(changed.data(), changed.size(), 12, 20000);
      const bool theirs = kernel_schema::VerifyKernelPackageBuffer(verifier);
      const bool ours = accepted(changed);
      if (ours && i >= 4 && i < 8) continue;  // the file identifier is not looked at here
      CHECK_FALSE((ours && !theirs));
      both += ours && theirs ? 1 : 0;
      neither += !ours && !theirs ? 1 : 0;
    }
  }
  CHECK(both > 0);
  CHECK(neither > 0);
}

TEST_CASE("elements of a vector that do not stand at a multiple of their size are refused") {
  flatbuffers::FlatBufferBuilder builder;
  const auto words = builder.CreateVector(std::vector<std::uint32_t>{1, 2, 3, 4});
  const flatbuffers::uoffset_t start = builder.StartTable();
  builder.AddOffset(6, words);
  builder.AddElement<std::uint32_t>(20, 1, 0);
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start)));
  ByteVector bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  // Four numbers of four bytes, read as two of eight: where they begin decides.
  const auto* root = flatbuffers::GetRoot<flatbuffers::Table>(bytes.data());
  const auto* vector = root->GetPointer<const flatbuffers::Vector<std::uint64_t>*>(6);
  const auto first = static_cast<std::size_t>(vector->Data() - bytes.data());
  bytes[first - 4] = 2;
  CHECK(holds(bytes) == (first % 8 == 0));
  ByteVector moved(4, 0);  // the same four bytes further on
  moved.insert(moved.end(), bytes.begin() + 4, bytes.end());
  moved.insert(moved.begin() + 4, 4, 0);
  const auto offset = static_cast<std::uint32_t>(bytes[0] + 4);
  moved[0] = static_cast<std::uint8_t>(offset);
  CHECK(holds(moved) == (first % 8 != 0));
}

}  // namespace idletune
