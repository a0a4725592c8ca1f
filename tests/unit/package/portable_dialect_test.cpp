#include "models/host/pack/portable_dialect.hpp"

#include <doctest/doctest.h>

#include <string>

#include "models/host/pack/pack.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/package/made_kernels.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;

KernelDescription copy_kernel() {
  KernelDescription description = test::made_kernel(
      "copy", "KERNEL void copy(GLOBAL float* out) { out[GLOBAL_ID(0)] = WIDTH; }\n");
  description.source_file = "copy.cl";
  description.parameters = {{"WIDTH", ParameterKind::other, {1, 2}, 1}};
  description.launch.global = {"N"};
  description.launch.local = {"1"};
  description.arguments = {test::made_buffer("out", "N", Access::out)};
  return description;
}

std::string packed_source(const KernelDescription& description) {
  auto package = required(KernelPackage::open(required(pack(description)), "copy"));
  return std::string(package->source());
}

}  // namespace

TEST_CASE("a portable source stands behind the dialect and keeps its line numbers") {
  const KernelDescription description = copy_kernel();
  CHECK(packed_source(description) ==
        std::string(package::portable_dialect()) + "#line 1 \"copy.cl\"\n" + description.source);
}

TEST_CASE("a compact source has no comments or indentation, and all of its lines") {
  CHECK(package::compact_source("int a;  // one\n  /* two\n lines */ char b = '\"';\n\n") ==
        "int a;\n\nchar b = '\"';\n\n");
  CHECK(package::compact_source("#define F(x) \\\n    (x /  2)\nf(\"//  \\\" x\")  ;") ==
        "#define F(x) \\\n(x / 2)\nf(\"//  \\\" x\") ;");
  CHECK(package::compact_source("a/* b */c /* never ends") == "a c");
  CHECK(package::compact_source("#define A /* b\n c */ 16\nd /* e\n */\n") ==
        "#define A \\\n16\nd\n\n");
  CHECK(package::compact_source("a; // b \\\n c;\nd;") == "a;\n\nd;");
  // A continued line goes on where the next one begins, and a name does with what follows.
  CHECK(package::compact_source("else\\\n    return 2;") == "else\\\n return 2;");
  CHECK(package::compact_source("a\\\n  /* b */ c\\\nd\n\te") == "a\\\n c\\\nd\ne");
  CHECK(package::compact_source("#define F(x) \\\r\n  (x)\r\n// a \\\r\n b;\r\nc\\\r\n  d\r\n") ==
        "#define F(x) \\\n(x)\n\n\nc\\\n d\n");
  KernelDescription description = copy_kernel();
  description.source = "// copies\n" + description.source;
  const std::string whole = packed_source(description);
  description.compact = true;
  CHECK(packed_source(description) == package::compact_source(whole));
}

TEST_CASE("only a source that uses a name of the further dialect gets it") {
  KernelDescription description = copy_kernel();
  const std::string more(package::portable_dialect_numbers());
  CHECK(packed_source(description).find(more) == std::string::npos);
  const std::string plain = description.source;
  description.source = "FUNCTION REAL twice(REAL x) { return x + x; }\n" + plain;
  CHECK(packed_source(description) == std::string(package::portable_dialect()) + more +
                                          "#line 1 \"copy.cl\"\n" + description.source);
  // A source that defines the name has had it before.
  description.source = "#define REAL float\n" + description.source;
  CHECK(packed_source(description).find(more) == std::string::npos);
}

TEST_CASE("without a file name a general one stands in compilers' messages") {
  KernelDescription description = copy_kernel();
  description.source_file.clear();
  CHECK(packed_source(description).find("\n#line 1 \"kernel.cl\"\nKERNEL") != std::string::npos);
}

TEST_CASE("joined sources bring their own line numbers") {
  KernelDescription description = copy_kernel();
  description.source = "#line 1 \"a.cl\"\n" + description.source;
  CHECK(packed_source(description) ==
        std::string(package::portable_dialect()) + description.source);
}

TEST_CASE("sources of one dialect are packed as they are") {
  KernelDescription description = copy_kernel();
  for (Dialect dialect : {Dialect::opencl, Dialect::cuda}) {
    description.dialect = dialect;
    CHECK(packed_source(description) == description.source);
  }
}

TEST_CASE("a parameter cannot have a name of the dialect") {
  KernelDescription description = copy_kernel();
  for (const char* name :
       {"KERNEL", "GLOBAL", "LOAD_VECTOR", "IDLETUNE_ANYTHING", "REAL", "GROUP_SUM_2"}) {
    CAPTURE(name);
    description.parameters[0].name = name;
    description.dialect = Dialect::portable;
    const auto bytes = pack(description);
    REQUIRE(!bytes.ok());
    CHECK(bytes.status().message().find(std::string("'") + name + "' has a name of the portable") !=
          std::string::npos);
    description.dialect = Dialect::opencl;
    CHECK(pack(description).ok());
  }
  for (const char* name : {"LOCAL", "KERNE", "KERNELS", "VECTOR", "define"}) {
    CAPTURE(name);
    CHECK(!package::is_dialect_name(name));
  }
}
