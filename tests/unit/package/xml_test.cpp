#include "models/host/pack/xml.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/value_list.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/paths.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/package/package_bytes.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

const std::string kXmlFolder = std::string(IDLETUNE_TEST_DATA_FOLDER) + "/packages/";

std::string example() {
  std::ifstream file(kXmlFolder + "saxpy.xml");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The example with one piece of text replaced by another.
std::string with(const std::string& from, const std::string& to) {
  std::string text = example();
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

std::string refusal_of_xml(const std::string& text) {
  const auto description = parse_kernel_xml(text, kXmlFolder + "k.xml");
  REQUIRE_FALSE(description.ok());
  const std::string message = description.status().message();
  REQUIRE(message.find(kXmlFolder + "k.xml:") == 0);
  return message.substr(kXmlFolder.size());
}

std::string pack_refusal(const std::string& text) {
  const auto description = required(parse_kernel_xml(text, kXmlFolder + "k.xml"));
  const auto bytes = pack(description);
  CHECK(bytes.code() == StatusCode::invalid_argument);
  const std::string message = bytes.status().message();
  REQUIRE(message.find(kXmlFolder + "k.xml") == 0);
  return message.substr(kXmlFolder.size());
}

std::vector<std::int64_t> values(const std::string& text) {
  return required(package::parse_values(text));
}

}  // namespace

TEST_CASE("the example of the reference is read as it stands") {
  const auto read = required(read_kernel_xml(kXmlFolder + "saxpy.xml"));
  CHECK(read.name == "saxpy");
  CHECK(read.entry == "saxpy");
  CHECK(read.dialect == Dialect::opencl);
  CHECK(read.dimensions == std::vector<std::string>{"N"});
  REQUIRE(read.parameters.size() == 3);
  CHECK(read.parameters[0].kind == ParameterKind::work_group);
  CHECK(read.parameters[0].default_value == 64);
  REQUIRE(read.constraints.size() == 3);
  CHECK(read.constraints[1].text == "WG * WPT <= 1024");
  CHECK(read.reference.entry == "saxpy_reference");
  CHECK(read.tolerance.relative == 1e-6);
  CHECK(read.tolerance.scale.text == "2");
  REQUIRE(read.arguments.size() == 4);
  CHECK(read.arguments[3].access == Access::inout);
}

TEST_CASE("the example in the reference page is the one that is tested") {
  std::ifstream file(std::string(IDLETUNE_SOURCE_FOLDER) + "/models/package/README.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = page.find("<kernel name=\"saxpy\">");
  const std::size_t end = page.find("</kernel>");
  REQUIRE(begin != std::string::npos);
  const std::string shown = page.substr(begin, end - begin);
  const std::string text = example();
  CHECK(text.find(shown) != std::string::npos);
}

TEST_CASE("packing the example without classes gives the golden package, byte for byte") {
  auto description = required(read_kernel_xml(kXmlFolder + "saxpy.xml"));
  description.classes.none = true;
  const auto bytes = required(pack(description));
  CHECK(bytes == test::golden_package());
}

TEST_CASE("integers are filled with two whole numbers at least") {
  const auto refused = [](const char* bounds) {
    const std::string x = "\"f32\" access=\"in\"    elements=\"N\" fill=\"uniform\" ";
    const std::string integers = "\"i32\" access=\"in\" elements=\"N\" fill=\"uniform\" ";
    return pack_refusal(with(x + "low=\"-1\" high=\"1\"", integers + bounds));
  };
  const std::string expected =
      "k.xml: argument 'x': expected whole numbers as 'low' and 'high' of integers, 2 apart at "
      "least";
  CHECK(refused("") == expected);  // from 0 to below 1
  CHECK(refused("low=\"-1\" high=\"0\"") == expected);
  CHECK(refused("low=\"0.5\" high=\"9\"") == expected);
  CHECK(refused("low=\"0\" high=\"9.5\"") == expected);
}

TEST_CASE("what is filled from one number to another has a difference that is a number") {
  const auto refused = [](const std::string& fill) {
    return pack_refusal(with("fill=\"uniform\" low=\"-1\" high=\"1\"", fill));
  };
  const std::string expected =
      "k.xml: argument 'x': expected finite fill values in order, of an index within 2^63";
  CHECK(refused("fill=\"uniform\" low=\"-1e308\" high=\"1e308\"") == expected);
  CHECK(refused("fill=\"index\" low=\"0\" high=\"9223372036854775808\"") == expected);
}

TEST_CASE("mistakes are named with file, line and element") {
  CHECK(refusal_of_xml(with("default=\"64\"", "defualt=\"64\"")) ==
        "k.xml:10: <parameter>: unknown attribute 'defualt', expected one of: name, kind, values, "
        "default");
  CHECK(refusal_of_xml(with("default=\"64\"", "default=\"65\"")) ==
        "k.xml:10: <parameter>: the default 65 is not among the values");
  CHECK(refusal_of_xml(with("kind=\"coarsening\"", "kind=\"coarse\""))
            .find("k.xml:11: <parameter>: unknown kind 'coarse', expected one of other, work_") ==
        0);
  CHECK(refusal_of_xml(with("values=\"1 2 4 8\"", "values=\"1 2 4 4\"")) ==
        "k.xml:11: <parameter>: the value 4 occurs twice");
  CHECK(refusal_of_xml(with("values=\"1 2 4 8\"", "values=\"1 2 x\""))
            .find("k.xml:11: <parameter>: expected an integer or a range") == 0);
  CHECK(refusal_of_xml(with("name=\"WPT\"", "name=\"WG\"")) ==
        "k.xml:11: <parameter>: the name 'WG' is used twice");
  CHECK(refusal_of_xml(with("name=\"WPT\"", "name=\"N\"")) ==
        "k.xml:11: <parameter>: the name 'N' is used twice");
  CHECK(refusal_of_xml(with("name=\"WPT\"", "name=\"2WPT\"")) ==
        "k.xml:11: <parameter>: '2WPT' is not a C identifier");
  CHECK(refusal_of_xml(with("<constraints>", "<constraint>")).find("k.xml:") == 0);
  CHECK(refusal_of_xml(with("<local-memory bytes=\"0\"/>", "<shared bytes=\"0\"/>"))
            .find("k.xml:24: <shared>: unknown element in <launch>, expected one of: global, ") ==
        0);
  CHECK(refusal_of_xml(with("<local  x=\"WG\"/>", "")) ==
        "k.xml:21: <launch>: expected <global> and <local>");
  CHECK(refusal_of_xml(with("<local  x=\"WG\"/>", "<local x=\"WG\" y=\"1\"/>")) ==
        "k.xml:23: <local>: expected as many sizes as <global> has");
  CHECK(refusal_of_xml(with("type=\"f32\" fill=\"constant\"", "type=\"half\" fill=\"constant\"")) ==
        "k.xml:29: <scalar>: expected one of i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64 "
        "as 'type', got 'half'");
  CHECK(refusal_of_xml(with("access=\"in\" ", "")) ==
        "k.xml:30: <buffer>: expected an attribute 'access'");
  CHECK(refusal_of_xml(with("high=\"1\"", "high=\"-2\"")) ==
        "k.xml:30: <buffer>: 'low' is above 'high'");
  CHECK(refusal_of_xml(with("relative=\"1e-6\"", "relative=\"tiny\"")) ==
        "k.xml:39: <tolerance>: expected a number as 'relative', got 'tiny'");
  CHECK(refusal_of_xml(with("relative=\"1e-6\"", "relative=\"-1\"")) ==
        "k.xml:39: <tolerance>: expected tolerances of at least 0");
  CHECK(refusal_of_xml(with("saxpy.cl", "nothing.cl")).find("k.xml:3: <source>: ") == 0);
  CHECK(refusal_of_xml(with(" entry=\"saxpy\"", "")).find("k.xml:3: <source>: ") == 0);
  CHECK(refusal_of_xml(with("<dimension name=\"N\"/>", "")) ==
        "k.xml:5: <dimensions>: expected 1 to 8 dimensions");
  CHECK(refusal_of_xml(with("<launch>", "text<launch>")) == "k.xml:2: <kernel>: unexpected text");
  CHECK(refusal_of_xml("<kernel name=\"x\">").find("k.xml:") == 0);
  CHECK(refusal_of_xml("<space/>") == "k.xml:1: expected <kernel> as the root element");
  CHECK(refusal_of_xml("").find("not well-formed") != std::string::npos);
}

TEST_CASE("expressions that cannot be compiled are named where they stand") {
  CHECK(pack_refusal(with("WPT % VW == 0", "WPT % VM == 0")) ==
        "k.xml:16: <constraint>: column 7: unknown name 'VM', expected a dimension, a parameter or "
        "a function in 'WPT % VM == 0'");
  CHECK(pack_refusal(with("ceil_div(N, WG * WPT) * WG", "ceil_div(N, WG * WPT * WG"))
            .find("k.xml:22: <global>: column 26: expected ')', got the end") == 0);
  CHECK(pack_refusal(with("value=\"N\"", "value=\"WG\""))
            .find("k.xml:28: <dimension>: column 1: unknown name 'WG'") == 0);
  CHECK(pack_refusal(with("scale=\"2\"", "scale=\"VW\"")).find("k.xml:39: <tolerance>") == 0);
  CHECK(pack_refusal(with("elements=\"N\"", "elements=\"N +\"")).find("k.xml:30: <buffer>") == 0);
}

TEST_CASE("a default that violates a constraint is refused with the constraint") {
  CHECK(pack_refusal(with("values=\"1 2 4\"         default=\"1\"",
                          "values=\"1 2 4\"         default=\"4\"")) ==
        "k.xml: the default configuration violates 'WPT % VW == 0'");
  CHECK(pack_refusal(with("WPT % VW == 0", "WPT > 100")).find("no configuration satisfies") !=
        std::string::npos);
}

TEST_CASE("without <reference> the default configuration is the truth") {
  std::string text = example();
  const std::size_t begin = text.find("<reference"), end = text.find("</reference>");
  text.erase(begin, end + 12 - begin);
  const auto description = required(parse_kernel_xml(text, kXmlFolder + "k.xml"));
  const auto package = required(KernelPackage::open(required(pack(description)), "k"));
  CHECK(package->reference().entry() == "saxpy");
  CHECK(package->reference().configuration() == package->default_configuration());
  CHECK(package->reference().plan(Shape{1000})->first().range.global[0] == 1024);
}

TEST_CASE("a reference may be the kernel in a fixed configuration") {
  std::string text = example();
  const std::size_t begin = text.find("<reference"), end = text.find("</reference>");
  text.replace(begin, end - begin, "<reference><set parameter=\"WG\" value=\"32\"/>");
  const auto description = required(parse_kernel_xml(text, kXmlFolder + "k.xml"));
  const auto package = required(KernelPackage::open(required(pack(description)), "k"));
  CHECK(package->reference().configuration() == Configuration{32, 1, 1});
  CHECK(package->reference().options() == "-DWG=32 -DWPT=1 -DVW=1");
  CHECK(package->reference().plan(Shape{33})->first().range.local[0] == 32);
}

TEST_CASE("several sources are joined in order and keep their line numbers") {
  const auto description = required(
      parse_kernel_xml(with("<source file=\"saxpy.cl\" entry=\"saxpy\" dialect=\"opencl\"/>",
                            "<source file=\"saxpy.xml\"/><source file=\"saxpy.cl\" entry=\"saxpy\" "
                            "options=\"-cl-mad-enable\"/>"),
                       kXmlFolder + "k.xml"));
  const std::size_t first = description.source.find("#line 1 \"saxpy.xml\"\n<!-- The example");
  const std::size_t second = description.source.find("#line 1 \"saxpy.cl\"\n// y = a * x");
  CHECK(first == 0);
  CHECK(second != std::string::npos);
  CHECK(description.options == "-cl-mad-enable");
  CHECK(description.dialect == Dialect::portable);
  const auto package = required(KernelPackage::open(required(pack(description)), "k"));
  CHECK(package->compile_options(Configuration{32, 1, 1}) ==
        "-DWG=32 -DWPT=1 -DVW=1 -cl-mad-enable");
}

TEST_CASE("a description that is no plain file is refused, and a pipe is not waited for") {
  const test::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe.xml";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {pipe, kXmlFolder}) {
    const auto read = read_kernel_xml(path);
    CHECK(read.code() == StatusCode::invalid_argument);
    CHECK(read.status().message() == "'" + path + "' is not a plain file");
  }
}

TEST_CASE("files that are not there are not found") {
  const auto missing = read_kernel_xml(kXmlFolder + "none.xml");
  CHECK(missing.code() == StatusCode::not_found);
}

TEST_CASE("value lists know ranges and steps") {
  CHECK(values("1 2, 4\n8") == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(values("3..6") == std::vector<std::int64_t>{3, 4, 5, 6});
  CHECK(values("-4..4:4") == std::vector<std::int64_t>{-4, 0, 4});
  CHECK(values("4..13:4") == std::vector<std::int64_t>{4, 8, 12});
  CHECK(values("8..128*2") == std::vector<std::int64_t>{8, 16, 32, 64, 128});
  CHECK(values("1..100*3 7") == std::vector<std::int64_t>{1, 3, 9, 27, 81, 7});
  CHECK(values("9223372036854775806..9223372036854775807").size() == 2);
  CHECK(values("1..65535").size() == 65535);
  for (const char* bad : {"", "  ,", "1..", "..4", "4..1", "1..4:0", "1..4:-1", "0..8*2", "1..8*1",
                          "1..65536", "1.5", "1..4:x", "9223372036854775808", "1...4"}) {
    CHECK_FALSE_MESSAGE(package::parse_values(bad).ok(), bad);
  }
}

TEST_CASE("features and dimensions of 0 are read") {
  const std::string features =
      "</dimensions><features><feature name=\"padding\" value=\"round_up(N, 16) - N\"/>"
      "<feature name=\"layout\" values=\"plain transposed\"/>"
      "<feature name=\"aspect\" value=\"N\" over=\"7\"/></features>";
  std::string text = with("</dimensions>", features);
  const std::string dimension = "<dimension name=\"N\"/>";
  text.replace(text.find(dimension), dimension.size(), "<dimension name=\"N\" minimum=\"0\"/>");
  const auto description = required(parse_kernel_xml(text, kXmlFolder + "k.xml"));
  const auto package = required(KernelPackage::open(required(pack(description)), "test"));
  CHECK(package->inputs().names() == "N layout padding aspect");
  CHECK(package->inputs().problem_text(package->inputs().with_features(Problem({14}, {1}))) ==
        "N=14 layout=transposed padding=2 aspect=2");
  CHECK(package->has_no_work(Problem({0}, {1})));
}

TEST_CASE("what is wrong with a feature is said at its line") {
  const auto feature = [](const std::string& attributes) {
    return with("</dimensions>", "</dimensions><features><feature " + attributes + "/></features>");
  };
  CHECK(refusal_of_xml(feature("name=\"N\"")).find("the name 'N' is used twice") !=
        std::string::npos);
  CHECK(refusal_of_xml(feature("names=\"x\"")).find("k.xml:7") == 0);
  CHECK(pack_refusal(feature("name=\"x\" value=\"N *\"")).find("k.xml:7") == 0);
  CHECK(pack_refusal(feature("name=\"x\" value=\"WG\"")).find("k.xml:7") == 0);
  CHECK(pack_refusal(feature("name=\"x\" over=\"N\"")) ==
        "k.xml:7: <feature>: feature 'x': 'over' divides a 'value', expected one");
  CHECK(refusal_of_xml(with("<dimension name=\"N\"/>", "<dimension name=\"N\" minimum=\"2\"/>"))
            .find("expected 0 or 1 as 'minimum'") != std::string::npos);
}

TEST_CASE("a kernel of several steps is read, with what each step takes") {
  const auto description = required(read_kernel_xml(kXmlFolder + "padded_product.xml"));
  REQUIRE(description.steps.size() == 4);
  CHECK(description.entry.empty());
  CHECK(description.steps[1].entry == "multiply");
  CHECK(description.steps[1].condition.text == "M % T != 0");
  CHECK(description.steps[1].arguments ==
        std::vector<std::string>{"n", "k", "padded_a", "b", "padded_c"});
  const auto package = required(KernelPackage::open(required(pack(description)), "padded_product"));
  CHECK(package->plan({37, 64, 32}, {4, 16})->steps().size() == 3);
  CHECK(package->plan({36, 64, 32}, {4, 16})->steps().size() == 1);
}

TEST_CASE("a kernel with a setup is read, with what it prepares and of what") {
  const auto description = required(read_kernel_xml(kXmlFolder + "packed_product.xml"));
  REQUIRE(description.setup.size() == 1);
  CHECK(description.setup[0].entry == "transpose");
  CHECK(description.setup[0].arguments == std::vector<std::string>{"n", "k", "w", "packed"});
  const auto package = required(KernelPackage::open(required(pack(description)), "packed_product"));
  CHECK(package->plan({16, 64, 32}, {1, 1, 16})->setup().size() == 1);
  CHECK(package->plan({16, 64, 32}, {0, 1, 1})->setup().empty());

  std::ifstream file(kXmlFolder + "packed_product.xml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto wrong = parse_kernel_xml(changed, kXmlFolder + "changed.xml");
    return wrong.ok() ? pack(*wrong).status().message() : wrong.status().message();
  };
  const auto found = [](const std::string& message, const char* part) {
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
  };
  found(refused("constant=\"true\"", "constant=\"yes\""), "expected one of true, false");
  found(refused("constant=\"true\"", ""), "the setup runs once, and 'w' may change");
  found(refused("n k w packed", "n k a packed"), "the setup runs once, and 'a' may change");
  found(refused("<prepared name", "<scratch name"), "scratch 'packed': expected two steps");
  found(refused("<setup>", "<setup when=\"1\">"), "changed.xml:33: <setup>");
}

TEST_CASE("what is wrong with a step is said at its line") {
  std::ifstream file(kXmlFolder + "padded_product.xml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto description = parse_kernel_xml(changed, kXmlFolder + "changed.xml");
    if (!description.ok()) return description.status().message();
    return pack(*description).status().message();
  };
  CHECK(refused("m k a padded_a", "").find("changed.xml:17: ") != std::string::npos);
  CHECK(refused("m k a padded_a", "m k a nothing").find("there is no argument 'nothing'") !=
        std::string::npos);
  CHECK(refused("<steps>", "<launch><global x=\"M\"/><local x=\"1\"/></launch><steps>")
            .find("expected either <launch> or <steps>") != std::string::npos);
  CHECK(refused("dialect=\"portable\"", "entry=\"multiply\" dialect=\"portable\"")
            .find("each <step> has its own 'entry'") != std::string::npos);
  CHECK(refused("when=\"M % T != 0\"", "when=\"M % Q != 0\"").find("'Q'") != std::string::npos);
}

TEST_CASE("<classes> adds terms, leaves dimensions out, or says that there are none") {
  const auto classes = [](const std::string& text) {
    return with("</kernel>", "<classes" + text + "</kernel>");
  };
  const auto read = [&](const std::string& text) {
    const auto description = required(parse_kernel_xml(classes(text), kXmlFolder + "k.xml"));
    return description.classes;
  };
  const DescribedClasses some =
      read("><term of=\"N\" tile=\"WG\"/><any dimension=\"N\"/></classes>");
  REQUIRE(some.terms.size() == 1);
  CHECK(some.terms[0].tile.text == "WG");
  CHECK(some.any == std::vector<std::string>{"N"});
  CHECK_FALSE(some.none);
  CHECK(read(" derived=\"no\"/>").none);
  CHECK(refusal_of_xml(classes("><term tile=\"WG\"/></classes>")).find("'of'") !=
        std::string::npos);
  CHECK(refusal_of_xml(classes("><other/></classes>")).find("<other>") != std::string::npos);
  CHECK(refusal_of_xml(classes(" derived=\"no\"><any dimension=\"N\"/></classes>"))
            .find("no children") != std::string::npos);
}
