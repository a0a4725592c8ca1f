// The C interface on an OpenCL library whose every answer is scripted.
#include <idletune/idletune.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/os/temporary_folder.hpp"

using namespace idletune;

namespace {

struct Kind {
  idletune_argument_kind kind;
  ScalarType type;
};
constexpr Kind kScalars[] = {{IDLETUNE_I32, ScalarType::i32}, {IDLETUNE_U32, ScalarType::u32},
                             {IDLETUNE_I64, ScalarType::i64}, {IDLETUNE_U64, ScalarType::u64},
                             {IDLETUNE_F32, ScalarType::f32}, {IDLETUNE_F64, ScalarType::f64},
                             {IDLETUNE_I8, ScalarType::i8},   {IDLETUNE_U8, ScalarType::u8},
                             {IDLETUNE_I16, ScalarType::i16}, {IDLETUNE_U16, ScalarType::u16},
                             {IDLETUNE_F16, ScalarType::f16}};

// An agent with a kernel of one scalar argument.
class CAgent {
 public:
  explicit CAgent(ScalarType type) {
    KernelDescription description = test::played_description();
    DescribedArgument a;
    a.name = "a";
    a.kind = ArgumentKind::scalar;
    a.type = type;
    description.arguments = {a};
    const std::vector<std::uint8_t> bytes = test::packed(description);
    const std::string path = folder_.file("play.itkernel");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    ::setenv("IDLETUNE_OPENCL_LIBRARY", stub_.path.c_str(), 1);
    const idletune_status opened = idletune_opencl_open(0, &device_);
    ::unsetenv("IDLETUNE_OPENCL_LIBRARY");
    REQUIRE_MESSAGE(opened == IDLETUNE_OK, idletune_last_message());
    REQUIRE(idletune_open("-", nullptr, &agent_) == IDLETUNE_OK);
    REQUIRE_MESSAGE(idletune_load_kernel(agent_, device_, path.c_str(), &kernel_) == IDLETUNE_OK,
                    idletune_last_message());
  }
  ~CAgent() {
    idletune_close(agent_);
    idletune_device_close(device_);
  }
  CAgent(const CAgent&) = delete;
  CAgent& operator=(const CAgent&) = delete;

  idletune_status launch(const std::vector<idletune_argument>& arguments) {
    const std::int64_t size = 64;
    return idletune_launch(kernel_, &size, 1, arguments.data(), arguments.size(), nullptr, nullptr,
                           0, nullptr);
  }
  idletune_status launch(idletune_argument_kind kind) {
    idletune_argument argument = {};
    argument.kind = kind;
    return launch(std::vector<idletune_argument>{argument});
  }

 private:
  test::TemporaryFolder folder_;
  test::Stub stub_;
  idletune_device* device_ = nullptr;
  idletune_agent* agent_ = nullptr;
  idletune_kernel* kernel_ = nullptr;
};

std::string last_message() { return idletune_last_message(); }

}  // namespace

TEST_CASE("in C every kind of number fits the types of its size, and no other") {
  for (const Kind& declared : kScalars) {
    CAgent agent(declared.type);
    for (const Kind& given : kScalars) {
      CAPTURE(static_cast<int>(declared.kind));
      CAPTURE(static_cast<int>(given.kind));
      const bool fits = is_integer(given.type) == is_integer(declared.type) &&
                        scalar_size_bytes(given.type) == scalar_size_bytes(declared.type);
      CHECK(agent.launch(given.kind) == (fits ? IDLETUNE_OK : IDLETUNE_INVALID_ARGUMENT));
    }
    CHECK(agent.launch(IDLETUNE_BUFFER) == IDLETUNE_INVALID_ARGUMENT);
    CHECK(agent.launch(static_cast<idletune_argument_kind>(IDLETUNE_F16 + 1)) ==
          IDLETUNE_INVALID_ARGUMENT);
  }
}

TEST_CASE("in C too many arguments are refused by the kernel, and far too many at once") {
  CAgent agent(ScalarType::f32);
  idletune_argument argument = {};
  argument.kind = IDLETUNE_F32;
  CHECK(agent.launch(std::vector<idletune_argument>(kMaxArguments, argument)) ==
        IDLETUNE_INVALID_ARGUMENT);
  CHECK(last_message().find("kernel 'play'") != std::string::npos);
  CHECK(agent.launch(std::vector<idletune_argument>(kMaxArguments + 1, argument)) ==
        IDLETUNE_INVALID_ARGUMENT);
  CHECK(last_message().find("expected at most") != std::string::npos);
}
