#include "models/host/pack/family.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "models/host/pack/family_xml.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/portable_dialect.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/paths.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

const std::string kFolder = std::string(IDLETUNE_TEST_DATA_FOLDER) + "/packages/";

KernelDescription described(const std::string& file) {
  return required(read_single_kernel_xml(kFolder + file));
}

// Member 0 is one launch, member 1 several steps.
DescribedFamily product() {
  DescribedFamily family;
  family.name = "product";
  family.members = {{"row", described("row_product.xml")},
                    {"padded", described("padded_product.xml")}};
  return family;
}

std::shared_ptr<const KernelPackage> packed(const KernelDescription& description) {
  return required(KernelPackage::open(required(pack(description)), description.name));
}

std::shared_ptr<const KernelPackage> packed(const DescribedFamily& family) {
  auto joined = required(join_family(family));
  return packed(joined);
}

std::string refusal(const std::function<void(DescribedFamily&)>& change) {
  DescribedFamily family = product();
  change(family);
  const auto joined = join_family(family);
  CHECK(joined.code() == StatusCode::invalid_argument);
  return joined.status().message();
}

}  // namespace

TEST_CASE("names tell the members of a family, whatever their names and the choice's are") {
  for (const char* choice : {"ALGORITHM", "VARIANT"}) {
    DescribedFamily family = product();
    family.parameter = choice;
    family.members[0].name = "tile_row";
    family.members[1].name = "tile_padded";
    const auto joined = required(join_family(family));
    std::vector<std::string> names;
    for (const DescribedParameter& parameter : joined.parameters) names.push_back(parameter.name);
    const auto told = family_names(names);
    REQUIRE(told);
    CHECK(told->choice == 0);
    CHECK(told->members == std::vector<std::string>{"tile_row", "tile_padded"});
    CHECK(told->member == std::vector<std::size_t>{2, 0, 0, 1, 1});
    CHECK(told->own_name(names[4], 1) == "WG");
  }
  // Of no family.
  using Names = std::vector<std::string>;
  for (const Names& names :
       {Names{}, Names{"MWG", "NWG"}, Names{"ALGORITHM"},
        Names{"vector", "block_size_x", "block_size_y"}, Names{"BLOCK", "WORK_GROUP_X", "TILE_Y"},
        Names{"wide_T", "tall_T"}, Names{"VARIANT", "row_T"}}) {
    CAPTURE(names.size());
    CHECK_FALSE(family_names(names));
  }
}

TEST_CASE("a member's own name of the dialect leaves the others the dialect's") {
  const std::string more(package::portable_dialect_numbers());
  const auto source_of = [](std::size_t own, const char* others) {
    DescribedFamily family = product();
    for (std::size_t i = 0; i < 2; ++i) {
      std::string& source = family.members[i].description.source;
      source = std::string(i == own ? "#define REAL int\n" : others) + source;
    }
    return std::string(packed(family)->source());
  };
  for (const std::size_t own : {0u, 1u}) {
    const std::string source = source_of(own, "FUNCTION REAL f(REAL x) { return x; }\n");
    const std::size_t undefined = source.find("\n#undef REAL\n");
    REQUIRE(source.find(more) < undefined);
    CHECK(undefined < source.find("\n#define REAL int\n"));
    CHECK(source_of(own, "").find(more) == std::string::npos);
  }
}

TEST_CASE("a family has each configuration of its members once, and no other") {
  const auto family = packed(product());
  const auto row = packed(product().members[0].description);
  const auto padded = packed(product().members[1].description);
  const Space& space = family->space();
  REQUIRE(space.indexed());
  CHECK(space.valid_count() == row->space().valid_count() + padded->space().valid_count());
  CHECK(space.parameter_name(0) == "ALGORITHM");
  CHECK(space.parameter_name(1) == "row_T");
  CHECK(space.parameter_kind(2) == ParameterKind::work_group);
  CHECK(space.parameter_name(4) == "padded_WG");

  // The default of the default member, and the others' parameters at theirs.
  CHECK(family->default_configuration() == Configuration{0, 1, 32, 4, 1});
  Configuration of_row;
  auto of_rows = row->space().cursor();
  while (of_rows.next(of_row)) CHECK(space.contains({0, of_row[0], of_row[1], 4, 1}));
  Configuration of_padded;
  auto of_paddeds = padded->space().cursor();
  while (of_paddeds.next(of_padded)) CHECK(space.contains({1, 1, 32, of_padded[0], of_padded[1]}));
}

TEST_CASE("samples of a family are uniform over the configurations of all members") {
  const auto family = packed(product());
  const Space& space = family->space();
  Random random(7);
  std::vector<int> drawn(space.valid_count());
  const int each = 200;
  for (std::size_t i = 0; i < drawn.size() * each; ++i) {
    ++drawn[*space.index_of(space.sample(random))];
  }
  double chi_square = 0;
  for (const int count : drawn) chi_square += (count - each) * (count - each) / double{each};
  CHECK(chi_square < 62.5);  // 32 degrees of freedom: once in a thousand seeds
}

TEST_CASE("a configuration of a family runs the steps of its member") {
  DescribedFamily described = product();
  described.default_member = "padded";
  const auto family = packed(described);
  CHECK(family->default_configuration() == Configuration{1, 1, 32, 4, 1});
  const auto by_row = required(family->plan({33, 40, 50}, {0, 2, 8, 4, 1}));
  REQUIRE(by_row.steps().size() == 1);
  CHECK(by_row.first().spec.entry == "row_multiply");
  CHECK(by_row.first().range.global[0] == 24);
  const auto padded = required(family->plan({33, 40, 50}, {1, 1, 32, 8, 16}));
  REQUIRE(padded.steps().size() == 3);
  CHECK(padded.first().spec.entry == "padded_pad_rows");
  CHECK(padded.steps()[1].range.global[0] == 48);
  CHECK(family->plan({32, 40, 50}, {1, 1, 32, 8, 16})->steps().size() == 1);
  // A constraint of one member says nothing about the other.
  CHECK(family->plan({33, 1, 50}, {0, 2, 8, 4, 1}).code() == StatusCode::unsupported);
  CHECK(family->plan({33, 1, 50}, {1, 1, 32, 4, 1}).ok());
  // Scratch of a member that does not run is none.
  REQUIRE(family->argument(6).kind == ArgumentKind::scratch);
  CHECK(*family->buffer_bytes(6, {33, 40, 50}, {1, 1, 32, 8, 16}) == 40 * 50 * 4);
  CHECK(*family->buffer_bytes(6, {33, 40, 50}, {0, 2, 8, 4, 1}) == 4);
  // Numbers of the shape that both take are one argument.
  CHECK(family->argument_count() == 8);
  const auto reference = required(family->reference().plan({33, 40, 50}));
  CHECK(reference.first().spec.entry == "padded_product_reference");
  CHECK(reference.first().spec.arguments.size() == 6);
  CHECK(family->reference().options().find("-DALGORITHM=1 ") == 0);
}

TEST_CASE("a member without a reference of its own is the reference in its configuration") {
  DescribedFamily described = product();
  described.members[0].description.reference.configuration = {{"WG", 8}};
  const auto family = packed(described);
  CHECK_FALSE(family->reference().is_own_kernel());
  CHECK(family->reference().configuration() == Configuration{0, 1, 8, 4, 1});
  CHECK(family->reference().plan({33, 40, 50})->first().spec.entry == "row_multiply");
}

TEST_CASE("members of unlike signatures are refused in one line that names both and what differs") {
  const auto second = [](DescribedFamily& family) -> KernelDescription& {
    return family.members[1].description;
  };
  CHECK(refusal([&](DescribedFamily& f) {
          f.members[1] = {"saxpy", described("saxpy.xml")};
        }) ==
        "family 'product': member 'saxpy' has the dimensions 'N', expected 'M N K' as member "
        "'row' has");
  CHECK(refusal([&](DescribedFamily& f) { second(f).arguments[4].type = ScalarType::f64; }) ==
        "family 'product': member 'padded' has the type of argument 'b' 'f64', expected "
        "'f32' as member 'row' has");
  CHECK(refusal([&](DescribedFamily& f) { second(f).arguments[4].size = "K * N + 1"; }) ==
        "family 'product': member 'padded' has the size of argument 'b' 'K * N + 1', expected "
        "'K*N' as member 'row' has");
  CHECK(refusal([&](DescribedFamily& f) {
          second(f).arguments[5].access = Access::inout;
        }).find("the access of argument 'c' 'inout', expected 'out'") != std::string::npos);
  CHECK(refusal([&](DescribedFamily& f) {
          second(f).features.push_back({"aspect", "M", "N", {}, {}});
        }).find("the features 'aspect = M over N', expected ''") != std::string::npos);
  CHECK(refusal([&](DescribedFamily& f) {
          second(f).zero_dimensions = {"K"};
        }).find("the dimensions that may be 0 'K', expected ''") != std::string::npos);
  CHECK(refusal([&](DescribedFamily& f) {
          f.members[0].description.arguments.pop_back();
        }).find("the number of buffers and scalars '3', expected '2'") != std::string::npos);
  CHECK(refusal([&](DescribedFamily& f) {
          second(f).tolerance.relative = 1e-3;
        }).find("the tolerance '0.000000 + 0.001000 * (K + 1)'") != std::string::npos);
  CHECK(refusal([&](DescribedFamily& f) {
          second(f).options = "-cl-mad-enable";
        }).find("the compiler options '-cl-mad-enable', expected ''") != std::string::npos);
}

TEST_CASE("a family that cannot be one is refused") {
  CHECK(refusal([](DescribedFamily& f) { f.members.pop_back(); }) ==
        "family 'product': expected at least two members");
  CHECK(refusal([](DescribedFamily& f) { f.members[1].name = "row"; }) ==
        "family 'product': two members have the name 'row'");
  CHECK(refusal([](DescribedFamily& f) { f.default_member = "none"; }) ==
        "family 'product': the default 'none' is no member");
  CHECK(refusal([](DescribedFamily& f) { f.parameter = "multiply"; }) ==
        "family 'product': the source of member 'row' has the name 'multiply' already, expected "
        "another for the parameter");
  CHECK(refusal([](DescribedFamily& f) {
          auto& parameters = f.members[1].description.parameters;
          while (parameters.size() < 30) {
            parameters.push_back(
                {"P" + std::to_string(parameters.size()), ParameterKind::other, {1}, 1});
          }
        }) == "family 'product': 33 parameters in all, expected at most 32");
  CHECK(refusal([](DescribedFamily& f) {
          f.members[1].description.constraints = {"T > X"};
        }).find("'X'") != std::string::npos);
}

TEST_CASE("a family is read from XML, members beside it") {
  const auto family = required(read_kernel_xml(kFolder + "product.xml"));
  CHECK(family.name == "product");
  CHECK(packed(family)->default_configuration() == Configuration{1, 1, 32, 4, 1});

  const auto unnamed =
      required(read_family("both", {kFolder + "row_product.xml", kFolder + "padded_product.xml"}));
  CHECK(packed(unnamed)->space().parameter_name(1) == "row_product_T");

  const auto refused = [](const std::string& text) {
    return parse_kernel_xml(text, kFolder + "f.xml").status().message().substr(kFolder.size());
  };
  CHECK(refused("<family name='f'>\n<member file='row_product.xml'/><kernel/></family>") ==
        "f.xml:2: <kernel>: unknown element in <family>, expected one of: member");
  CHECK(refused("<family name='f'><member file='row_product.xml'/></family>") ==
        "f.xml: expected at least two members");
  CHECK(refused("<family name='f'>\n<member file='product.xml'/></family>")
            .find("expected <kernel> as the root element") != std::string::npos);
  CHECK(
      refused("<family name='f'>\n<member file='none.xml'/></family>").find("f.xml:2: <member>") ==
      0);
  CHECK(refused("<family name='f'><member name='1' file='row_product.xml'/></family>") ==
        "f.xml:1: <member>: '1' is not a C identifier");
}

TEST_CASE("a member may prepare something that the others do without") {
  DescribedFamily family;
  family.name = "product";
  family.members = {{"plain", described("packed_product.xml")},
                    {"packed", described("packed_product.xml")}};
  KernelDescription& plain = family.members[0].description;
  plain.parameters[0].values = {0};
  plain.setup.clear();
  plain.steps.pop_back();
  plain.arguments.pop_back();
  for (DescribedArgument& argument : plain.arguments) argument.constant = false;
  const auto package = packed(family);
  CHECK(package->setup_count() == 1);
  const Shape shape{16, 64, 32};
  CHECK(package->plan(shape, {0, 0, 1, 1, 0, 1, 1})->setup().empty());
  const auto converts = required(package->plan(shape, {1, 0, 1, 1, 1, 1, 16}));
  REQUIRE(converts.setup().size() == 1);
  CHECK(converts.setup()[0].spec.entry == "packed_transpose");
  std::size_t constants = 0;
  for (std::size_t i = 0; i < package->argument_count(); ++i) {
    constants += package->argument(i).constant;
  }
  CHECK(constants == 1);
}
