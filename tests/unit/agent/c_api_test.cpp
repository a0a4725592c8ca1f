// The C interface on an OpenCL library whose every answer is scripted.
#include <idletune/idletune.h>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "platform/opencl/loader.hpp"
#include "tests/unit/agent/application_child.hpp"
#include "tests/unit/agent/played_kernel.hpp"
#include "tests/unit/opencl/stub.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/trial/setup_kernel.hpp"

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

KernelDescription with_scalar(ScalarType type) {
  KernelDescription description = test::played_description();
  DescribedArgument a;
  a.name = "a";
  a.kind = ArgumentKind::scalar;
  a.type = type;
  description.arguments = {a};
  return description;
}

// An agent with a kernel of one scalar argument, or another one.
class CAgent {
 public:
  explicit CAgent(ScalarType type) : CAgent(with_scalar(type)) {}
  explicit CAgent(const KernelDescription& description) {
    const std::string path = test::write_package(folder_, description);
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

  idletune_status launch(const std::vector<idletune_argument>& arguments, void* event = nullptr) {
    const std::int64_t size = 64;
    return idletune_launch(kernel_, &size, 1, arguments.data(), arguments.size(), nullptr, nullptr,
                           0, event);
  }
  idletune_status capture(const std::vector<idletune_argument>& arguments) {
    const std::int64_t size = 64;
    const idletune_problem problem = {&size, 1, nullptr, 0};
    return idletune_capture(kernel_, &problem, arguments.data(), arguments.size());
  }
  idletune_status launch(idletune_argument_kind kind) {
    idletune_argument argument = {};
    argument.kind = kind;
    return launch(std::vector<idletune_argument>{argument});
  }
  idletune_kernel* kernel() const { return kernel_; }
  idletune_device* device() const { return device_; }
  const test::Stub& stub() const { return stub_; }
  std::string explain() const {
    char* const text = idletune_explain(agent_);
    const std::string copy = text;
    idletune_free(text);
    return copy;
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
  CHECK(agent.capture(std::vector<idletune_argument>(kMaxArguments + 1, argument)) ==
        IDLETUNE_INVALID_ARGUMENT);
  CHECK(last_message().find("expected at most") != std::string::npos);
}

TEST_CASE("in C a launch gives its event to who asks for it") {
  CAgent agent(ScalarType::f32);
  idletune_argument argument = {};
  argument.kind = IDLETUNE_F32;
  void* event = nullptr;
  CHECK(agent.launch(std::vector<idletune_argument>{argument}, &event) == IDLETUNE_OK);
  CHECK(event != nullptr);
  const auto api = opencl::load(IDLETUNE_STUB_OPENCL);
  REQUIRE(api.ok());
  (*api)->ReleaseEvent(static_cast<cl_event>(event));
}

TEST_CASE("in C what is said of a problem with features is said with them, or refused") {
  KernelDescription description = fake::setup_description();
  description.features = {{"mean_row", {}, {}, {}, {}}};
  description.parameters[2].default_value = 1;  // the default prepares its constant operand
  CAgent agent(description);
  void* context = nullptr;
  idletune_opencl_handles(agent.device(), &context, nullptr, nullptr);
  const auto api = required(opencl::load(IDLETUNE_STUB_OPENCL));
  std::vector<idletune_argument> arguments(3);
  for (idletune_argument& argument : arguments) {
    argument.kind = IDLETUNE_BUFFER;
    argument.value.buffer =
        api->CreateBuffer(static_cast<cl_context>(context), 0, 256, nullptr, nullptr);
  }
  const std::int64_t size = 64;
  const double mean_row = 3.5;
  const idletune_problem problem = {&size, 1, &mean_row, 1};
  const auto steps_of_a_launch = [&] {
    const unsigned long before = agent.stub().calls("clEnqueueNDRangeKernel");
    REQUIRE_MESSAGE(
        idletune_launch_problem(agent.kernel(), &problem, arguments.data(), arguments.size(),
                                nullptr, nullptr, 0, nullptr) == IDLETUNE_OK,
        last_message());
    return agent.stub().calls("clEnqueueNDRangeKernel") - before;
  };
  CHECK(steps_of_a_launch() == 2);
  CHECK(steps_of_a_launch() == 1);
  CHECK(idletune_constants_changed(agent.kernel(), &size, 1) == IDLETUNE_INVALID_ARGUMENT);
  CHECK(last_message() == "kernel 'scaled': expected 1 features: mean_row, got 0");
  CHECK(idletune_constants_changed_problem(agent.kernel(), &problem) == IDLETUNE_OK);
  CHECK(steps_of_a_launch() == 2);
  CHECK(idletune_expect_launches(agent.kernel(), &size, 1, 500) == IDLETUNE_INVALID_ARGUMENT);
  CHECK(agent.explain().find("\"expected_launches\": 500") == std::string::npos);
  CHECK(idletune_expect_launches_problem(agent.kernel(), &problem, 500) == IDLETUNE_OK);
  CHECK(agent.explain().find("\"expected_launches\": 500") != std::string::npos);
  CHECK(idletune_expect_launches_problem(agent.kernel(), nullptr, 500) ==
        IDLETUNE_INVALID_ARGUMENT);
  CHECK(idletune_constants_changed_problem(nullptr, &problem) == IDLETUNE_INVALID_ARGUMENT);
  for (const idletune_argument& argument : arguments) {
    api->ReleaseMemObject(static_cast<cl_mem>(argument.value.buffer));
  }
}

TEST_CASE("in C a call is described in full, or what is missing is said and nothing is opened") {
  idletune_agent* agent = nullptr;
  REQUIRE(idletune_open("-", nullptr, &agent) == IDLETUNE_OK);
  const char* const names[] = {"A", "B"};
  const std::size_t counts[] = {2, 3};
  const std::int64_t values[] = {1, 2, 10, 20, 30};
  const char* const dimension = "KIND";
  idletune_call_description whole = {};
  whole.name = "called";
  whole.parameter_names = names;
  whole.value_counts = counts;
  whole.values = values;
  whole.parameter_count = 2;
  whole.dimension_names = &dimension;
  whole.dimension_count = 1;
  idletune_calls* calls = nullptr;
  const auto refused = [&](const idletune_call_description* description) {
    return idletune_calls_open(agent, description, &calls) == IDLETUNE_INVALID_ARGUMENT &&
           calls == nullptr && last_message() == "a part of the description is NULL";
  };
  CHECK(refused(nullptr));
  for (int part = 0; part < 5; ++part) {
    CAPTURE(part);
    idletune_call_description without = whole;
    if (part == 0) without.name = nullptr;
    if (part == 1) without.parameter_names = nullptr;
    if (part == 2) without.value_counts = nullptr;
    if (part == 3) without.values = nullptr;
    if (part == 4) without.dimension_names = nullptr;
    CHECK(refused(&without));
  }
  REQUIRE_MESSAGE(idletune_calls_open(agent, &whole, &calls) == IDLETUNE_OK, last_message());

  const std::int64_t kind = 1;
  const idletune_problem problem = {&kind, 1, nullptr, 0};
  idletune_call call = {};
  CHECK(idletune_call_begin(nullptr, &problem, &call) == IDLETUNE_INVALID_ARGUMENT);
  CHECK(idletune_call_begin(calls, &problem, nullptr) == IDLETUNE_INVALID_ARGUMENT);
  REQUIRE(idletune_call_begin(calls, &problem, &call) == IDLETUNE_OK);
  CHECK(call.configuration[0] == 1);  // the first values are the default
  CHECK(call.configuration[1] == 10);
  CHECK(idletune_call_end(calls, &problem, nullptr, IDLETUNE_ENDED_CORRECT, 1000) ==
        IDLETUNE_INVALID_ARGUMENT);
  CHECK(idletune_call_end(calls, &problem, &call, IDLETUNE_ENDED_CORRECT, 1000) == IDLETUNE_OK);
  idletune_calls_close(calls);
  idletune_close(agent);
}
