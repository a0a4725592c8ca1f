// A described kernel on the emulated device: buffers of the exact size, outputs that nobody wrote.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/trial/step_programs.hpp"
#include "agent/trial/tuning_data.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/paths.hpp"
#include "tests/unit/emulated_cuda/emulated_driver.hpp"
#include "tests/unit/required.hpp"

namespace emulated_cuda {

// What a kernel's source says, and what makes it wrong in its place.
struct SourceFault {
  const char* right;
  const char* wrong;
};

// kernels/`name`.xml; with the fault, if there is one.
inline std::shared_ptr<const idletune::KernelPackage> package_with(const std::string& name,
                                                                   const SourceFault* fault) {
  auto description =
      required(idletune::read_kernel_xml(IDLETUNE_SOURCE_FOLDER "/kernels/" + name + ".xml"));
  if (fault != nullptr) {
    const std::string right(fault->right);
    const std::size_t at = description.source.find(right);
    REQUIRE_MESSAGE(at != std::string::npos, "the source does not hold '" << right << "'");
    description.source.replace(at, right.size(), fault->wrong);
  }
  auto bytes = required(idletune::pack(description));
  return required(idletune::KernelPackage::open(std::move(bytes), name));
}

// The default with other values of some parameters.
inline idletune::Configuration configuration_with(
    const idletune::KernelPackage& package,
    const std::vector<std::pair<const char*, std::int64_t>>& values) {
  const idletune::Configuration& before = package.default_configuration();
  idletune::Configuration configuration;
  for (std::size_t i = 0; i < before.size(); ++i) {
    std::int64_t value = before[i];
    for (const auto& other : values) {
      if (package.space().parameter_index(other.first) == i) value = other.second;
    }
    configuration.push_back(value);
  }
  REQUIRE(package.space().contains(configuration));
  return configuration;
}

// Runs all steps once; the status of what failed first.
inline idletune::Status run_package(idletune::Device& device,
                                    const idletune::KernelPackage& package,
                                    const idletune::Shape& shape,
                                    const idletune::Configuration& configuration) {
  using namespace idletune;
  auto plan = required(package.plan(shape, configuration));
  auto programs = trial::compile_steps(device, package, configuration);
  if (!programs.ok()) return programs.status();
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    if (spec.kind == ArgumentKind::scalar) {
      arguments.push_back(trial::scalar_value(spec, static_cast<std::uint32_t>(i), 1));
      continue;
    }
    if (!is_memory(spec.kind)) {
      arguments.push_back(*trial::derived_argument(package, i, shape, configuration));
      continue;
    }
    std::vector<std::uint8_t> bytes(package.buffer_bytes(i, shape, configuration).value());
    auto buffer = required(device.allocate(bytes.size()));
    if (spec.access != idletune::Access::out && spec.kind == ArgumentKind::buffer) {
      const ArgumentSpec filled = trial::fill_at(package, i, shape, bytes.size());
      trial::fill_elements(filled, static_cast<std::uint32_t>(i), 1, 0,
                           MutableBytes(bytes.data(), bytes.size()));
      REQUIRE(device.write(*buffer, 0, Bytes(bytes.data(), bytes.size())).ok());
    }
    arguments.push_back(buffer->argument());
    buffers.push_back(std::move(buffer));
  }
  return trial::run_steps(device, *programs, plan.steps(),
                          Span<const Argument>(arguments.data(), arguments.size()),
                          std::chrono::minutes(5))
      .status();
}

}  // namespace emulated_cuda
