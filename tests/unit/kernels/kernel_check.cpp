#include "tests/unit/kernels/kernel_check.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "agent/launch/kernel_state.hpp"
#include "agent/trial/step_programs.hpp"
#include "agent/trial/tuning_data.hpp"
#include "models/core/random.hpp"
#include "tests/bytes_of.hpp"
#include "tests/unit/kernels/covering.hpp"
#include "tests/unit/kernels/kernel_path.hpp"
#include "tests/unit/kernels/kernel_run.hpp"
#include "tests/unit/repeats.hpp"
#include "tests/unit/required.hpp"

namespace idletune::kernel_tests {
namespace {

constexpr std::uint64_t kCheckSeed = 20261121;
constexpr std::uint64_t kConfigurations = 4;  // besides those that cover all values
const std::size_t kGuardElements = guard_elements(64);
constexpr float kGuard = -12345.0f;

std::string xml_of(const KernelCheck& check) { return test::kernel_path(check.name); }

struct Subject {
  std::shared_ptr<const KernelPackage> package;
  std::unique_ptr<Device> device;
};

Subject open_subject(const KernelCheck& check) {
  return {open_package(xml_of(check)), open_first_device()};
}

Subject open_faulty(const KernelCheck& check, const Fault& fault) {
  auto description = required(read_kernel_xml(xml_of(check)));
  const std::string_view right(fault.right);
  const std::size_t at = description.source.find(right);
  REQUIRE_MESSAGE(at != std::string::npos, "the source does not hold '" << right << "'");
  description.source.replace(at, right.size(), fault.wrong);
  auto package = required(KernelPackage::open(required(pack(description)), check.name));
  return {package, open_first_device()};
}

// Every kernel function that a configuration needs.
trial::StepPrograms programs_of(Result<trial::StepPrograms> compiled) {
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().to_string());
  return std::move(*compiled);
}

struct Findings {
  // Elements that are not what they should be: of outputs, of what must not change, of guard zones.
  std::size_t wrong = 0;
  std::string refused;  // what a trial says of the outputs; empty if they are right
};

// One call: the arguments on the device and what they held before.
class CheckedCall {
 public:
  CheckedCall(const KernelCheck& check, const Subject& subject, const Shape& shape,
              const Configuration& configuration)
      : device_(*subject.device), package_(*subject.package) {
    for (std::size_t i = 0; i < package_.argument_count(); ++i) make_up(i, shape, configuration);
    if (check.adjust != nullptr) check.adjust(shape, inputs_);
    for (std::size_t i = 0; i < package_.argument_count(); ++i) {
      const ArgumentSpec& spec = package_.argument(i);
      if (is_memory(spec.kind)) {
        add_buffer(i, spec, elements_of(i, shape, configuration));
      } else if (spec.kind != ArgumentKind::scalar) {
        arguments_.push_back(trial::derived_argument(package_, i, shape, configuration).value());
      } else if (spec.type == ScalarType::f32) {
        arguments_.emplace_back(inputs_.scalars.at(std::string(spec.name)));
      } else {
        arguments_.push_back(made_up_scalar(i));
      }
    }
  }

  const Inputs& inputs() const { return inputs_; }
  Span<const Argument> arguments() const { return {arguments_.data(), arguments_.size()}; }
  // What an application passes.
  std::vector<Argument> given() const {
    std::vector<Argument> given;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const ArgumentKind kind = package_.argument(i).kind;
      if (kind == ArgumentKind::buffer || kind == ArgumentKind::scalar) {
        given.push_back(arguments_[i]);
      }
    }
    return given;
  }
  // Waits for what was launched on the application's queue.
  void wait() {
    std::uint8_t byte = 0;
    REQUIRE(device_.copy_out(buffers_.front().buffer->argument(), {&byte, 1}).ok());
  }

  Findings findings(const Outputs& outputs, const Tolerance& tolerance) {
    Findings found;
    for (const Held& held : buffers_) {
      const std::vector<float> now = download(device_, *held.buffer, held.before.size());
      const std::size_t size = now.size() - kGuardElements;
      const auto& spec = package_.argument(held.argument);
      if (spec.access == Access::in) {
        found.wrong += changed(held.before, now, 0);
        continue;
      }
      if (spec.kind == ArgumentKind::scratch) {
        found.wrong += changed(held.before, now, size);
        continue;
      }
      const Expected& expected = outputs.at(std::string(spec.name));
      REQUIRE(expected.value.size() == size);
      REQUIRE(expected.bound.size() == size);
      for (std::size_t e = 0; e < size; ++e) {
        const double error = std::fabs(static_cast<double>(now[e]) - expected.value[e]);
        const bool no_numbers = std::isnan(now[e]) && std::isnan(expected.value[e]);
        if (!no_numbers && !(error <= expected.bound[e])) ++found.wrong;
      }
      found.refused += judged<float>(spec, tolerance,
                                     {now.begin(), now.begin() + static_cast<std::ptrdiff_t>(size)},
                                     expected.value);
      found.wrong += changed(held.before, now, size);
    }
    return found;
  }

 private:
  struct Held {
    std::size_t argument;
    std::vector<float> before;  // guard zone included
    std::unique_ptr<Buffer> buffer;
  };

  static std::size_t changed(const std::vector<float>& before, const std::vector<float>& now,
                             std::size_t from) {
    std::size_t count = 0;
    for (std::size_t i = from; i < now.size(); ++i) {
      count += std::memcmp(&before[i], &now[i], sizeof(float)) == 0 ? 0 : 1;
    }
    return count;
  }

  Argument made_up_scalar(std::size_t i) const {
    return trial::scalar_value(package_.argument(i), static_cast<std::uint32_t>(i), 1);
  }

  // Integers are told by their bytes: as many floats, compared only with themselves.
  std::size_t elements_of(std::size_t i, const Shape& shape,
                          const Configuration& configuration) const {
    const ArgumentSpec& spec = package_.argument(i);
    REQUIRE((spec.type == ScalarType::f32 || spec.access == Access::in));
    return static_cast<std::size_t>(package_.buffer_bytes(i, shape, configuration).value() /
                                    sizeof(float));
  }

  void make_up(std::size_t i, const Shape& shape, const Configuration& configuration) {
    const ArgumentSpec& spec = package_.argument(i);
    const std::string name(spec.name);
    if (spec.kind == ArgumentKind::scalar && spec.type == ScalarType::f32) {
      std::memcpy(&inputs_.scalars[name], made_up_scalar(i).data(), sizeof(float));
    }
    if (!is_memory(spec.kind) || spec.access == Access::out) return;
    std::vector<float>& values = inputs_.buffers[name];
    values.resize(elements_of(i, shape, configuration));
    trial::fill_elements(spec, static_cast<std::uint32_t>(i), 1, 0,
                         test::writable_bytes_of(values));
  }

  void add_buffer(std::size_t i, const ArgumentSpec& spec, std::size_t elements) {
    std::vector<float> values(elements, std::numeric_limits<float>::quiet_NaN());
    if (spec.access != Access::out) values = inputs_.buffers.at(std::string(spec.name));
    values.insert(values.end(), kGuardElements, kGuard);
    const bool unwritten = spec.access == Access::out || spec.kind == ArgumentKind::scratch;
    auto buffer = unwritten && test::sees_every_access() ? allocate(device_, values.size())
                                                         : upload(device_, values);
    arguments_.push_back(buffer->argument());
    buffers_.push_back({i, std::move(values), std::move(buffer)});
  }

  Device& device_;
  const KernelPackage& package_;
  Inputs inputs_;
  std::vector<Argument> arguments_;
  std::vector<Held> buffers_;
};

std::string to_text(const Shape& shape) {
  std::string text;
  for (std::int64_t size : shape.values()) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text;
}

Findings run_and_compare(const KernelCheck& check, const Subject& subject,
                         const trial::StepPrograms& programs, const LaunchPlan& plan,
                         const Shape& shape, const Configuration& configuration) {
  const auto tolerance = required(subject.package->reference().tolerance(shape));
  run_label() = check.name + ("|" + to_text(shape)) + "|" +
                idletune::to_text(subject.package->space(), configuration);
  CheckedCall call(check, subject, shape, configuration);
  // Generous, since simulators run this too.
  const auto times = trial::run_steps(*subject.device, programs, plan.steps(), call.arguments(),
                                      std::chrono::minutes(5));
  REQUIRE_MESSAGE(times.ok(), times.status().to_string());
  return call.findings(check.expected(shape, call.inputs()), tolerance);
}

void check_run(const KernelCheck& check, const Subject& subject,
               const trial::StepPrograms& programs, const LaunchPlan& plan, const Shape& shape,
               const Configuration& configuration) {
  const Findings found = run_and_compare(check, subject, programs, plan, shape, configuration);
  CHECK(found.wrong == 0);
  CHECK(found.refused == "");
}

void check_configuration(const KernelCheck& check, const Subject& subject,
                         const Configuration& configuration, const std::vector<Shape>& shapes) {
  CAPTURE(idletune::to_text(subject.package->space(), configuration));
  trial::StepPrograms programs;
  for (const Shape& shape : shapes) {
    CAPTURE(to_text(shape));
    auto plan = subject.package->plan(shape, configuration);
    if (plan.status().code() == StatusCode::unsupported) continue;  // says the description
    REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
    if (!fits(*subject.device, *plan)) return;
    if (programs.empty()) {
      programs =
          programs_of(trial::compile_steps(*subject.device, *subject.package, configuration));
    }
    check_run(check, subject, programs, *plan, shape, configuration);
  }
}

// --- classes of shapes ---

// One of the check's shapes, or between and beyond them. Dimensions that are small in all of them
// name a case: they only take values that occur.
Shape draw_shape(const KernelCheck& check, Random& random) {
  const auto any = [&]() -> const Shape& {
    return check.shapes[random.below(check.shapes.size())];
  };
  Shape shape;
  for (std::size_t d = 0; d < check.shapes.front().size(); ++d) {
    std::int64_t largest = 0;
    for (const Shape& known : check.shapes) largest = std::max(largest, known[d]);
    const std::int64_t value = any()[d];
    const bool free = largest > 8 && random.below(2) == 0;
    shape.push_back(free ? value + static_cast<std::int64_t>(
                                       random.below(static_cast<std::uint64_t>(largest / 2)))
                         : value);
  }
  return shape;
}

double extent(const Shape& shape) {
  double product = 1;
  for (const std::int64_t value : shape.values()) product *= static_cast<double>(value) + 1;
  return product;
}

// By class, the smallest in front; classes of one shape are left out.
std::vector<std::vector<Shape>> shapes_by_class(const KernelCheck& check, const Subject& subject,
                                                const Configuration& configuration,
                                                Random& random) {
  const KernelPackage& package = *subject.package;
  std::map<std::uint64_t, std::vector<Shape>> classes;
  double largest = 0;  // what the host computes in no time
  for (const Shape& known : check.shapes) largest = std::max(largest, extent(known));
  for (int i = 0; i < 400; ++i) {
    const Shape shape = draw_shape(check, random);
    if (extent(shape) > 1.5 * largest) continue;
    const auto plan = package.plan(shape, configuration);
    // What is prepared is no class's.
    if (!plan.ok() || !plan->setup().empty() || !fits(*subject.device, *plan)) continue;
    classes[package.class_key(shape, configuration)].push_back(shape);
  }
  std::vector<std::vector<Shape>> found;
  for (auto& [key, shapes] : classes) {
    std::sort(shapes.begin(), shapes.end(),
              [](const Shape& a, const Shape& b) { return extent(a) < extent(b); });
    if (shapes.front() != shapes.back()) found.push_back(std::move(shapes));
  }
  return found;
}

// Whether what was checked for the class ran; fails where anything is wrong.
bool launch_right(const KernelCheck& check, const Subject& subject, detail::KernelState& kernel,
                  const Shape& shape, const Configuration& configuration) {
  CheckedCall call(check, subject, shape, configuration);
  const std::vector<Argument> given = call.given();
  const std::uint64_t before = kernel.class_launches();
  const Status status = kernel.launch({}, shape, {given.data(), given.size()});
  REQUIRE_MESSAGE(status.ok(), status.to_string());
  call.wait();
  const Findings found = call.findings(check.expected(shape, call.inputs()),
                                       *subject.package->reference().tolerance(shape));
  REQUIRE(found.wrong == 0);
  return kernel.class_launches() == before + 1;
}

// How many launches were right; fails with the first that was not.
std::uint64_t launch_classes(const KernelCheck& check, const Subject& subject,
                             detail::KernelState& kernel, const Configuration& configuration,
                             std::uint64_t wanted, Random& random) {
  const KernelPackage& package = *subject.package;
  const auto classes = shapes_by_class(check, subject, configuration, random);
  if (classes.empty()) return 0;
  const auto programs = std::make_shared<const trial::StepPrograms>(programs_of(
      trial::compile_steps(*subject.device, package, configuration, detail::KernelState::kLanes)));
  std::uint64_t launched = 0;
  for (const std::vector<Shape>& shapes : classes) {
    if (launched == wanted) break;
    const Shape& probe = shapes.front();
    CAPTURE(to_text(probe));
    check_run(check, subject, *programs, *package.plan(probe, configuration), probe, configuration);
    detail::ClassVariant variant;
    variant.programs = programs;
    variant.configuration = configuration;
    variant.adopted_at = probe;
    variant.elsewhere = detail::ClassVariant::better;
    variant.classes = {package.class_key(probe, configuration)};
    kernel.classes().offer({variant});
    kernel.classes().reclaim();
    const Shape& shape = shapes[1 + random.below(shapes.size() - 1)];
    if (shape == probe) continue;
    CAPTURE(to_text(shape));
    // Where steps hand on more than at the probe, the default runs first.
    const bool may_need_more = package.plan(shape, configuration)->all().size() > 1;
    if (!launch_right(check, subject, kernel, shape, configuration)) {
      REQUIRE(may_need_more);
      kernel.classes().reclaim();
      REQUIRE(launch_right(check, subject, kernel, shape, configuration));
    }
    ++launched;
  }
  return launched;
}

}  // namespace

void check_class_launches(const KernelCheck& check) {
  const Subject subject = open_subject(check);
  if (!subject.package->has_classes()) {
    MESSAGE(std::string(check.name) << " has no classes");
    return;
  }
  auto kernel = required(detail::KernelState::create(*subject.device, subject.package, 1));
  // No other shape finds one.
  REQUIRE(kernel->slot_for(detail::TunerLock::held(), check.tiny).ok());
  const std::uint64_t wanted = test::number_from_environment("IDLETUNE_CLASS_LAUNCHES", 10);
  Random random(test::number_from_environment("IDLETUNE_KERNEL_SEED", kCheckSeed));
  std::uint64_t launched = 0;
  for (int tries = 0; launched < wanted && tries < 200; ++tries) {
    const Configuration configuration = subject.package->space().sample(random);
    CAPTURE(idletune::to_text(subject.package->space(), configuration));
    // Not all of one configuration.
    launched += launch_classes(check, subject, *kernel, configuration,
                               std::min<std::uint64_t>(wanted - launched, 25), random);
  }
  MESSAGE(launched << " launches of " << std::string(check.name));
  CHECK(launched > 0);
}

void check_class_faults(const KernelCheck& check) {
  constexpr std::size_t kClasses = 12;
  Random random(test::number_from_environment("IDLETUNE_KERNEL_SEED", kCheckSeed));
  for (const Fault& fault : check.class_faults) {
    CAPTURE(std::string(fault.wrong));
    const Subject subject = open_faulty(check, fault);
    std::size_t shown = 0, hidden = 0;
    for (int tries = 0; (shown == 0 || hidden == 0) && tries < 30; ++tries) {
      const Configuration configuration = subject.package->space().sample(random);
      CAPTURE(idletune::to_text(subject.package->space(), configuration));
      const auto programs =
          programs_of(trial::compile_steps(*subject.device, *subject.package, configuration));
      auto classes = shapes_by_class(check, subject, configuration, random);
      if (classes.size() > kClasses) classes.resize(kClasses);
      for (const std::vector<Shape>& shapes : classes) {
        const auto is_wrong = [&](const Shape& shape) {
          const auto plan = subject.package->plan(shape, configuration);
          return run_and_compare(check, subject, programs, *plan, shape, configuration).wrong > 0;
        };
        const Shape& other = shapes[1 + random.below(shapes.size() - 1)];
        CAPTURE(to_text(shapes.front()));
        CAPTURE(to_text(other));
        const bool wrong = is_wrong(shapes.front());
        CHECK(wrong == is_wrong(other));
        (wrong ? shown : hidden) += 1;
      }
    }
    CHECK(shown > 0);
    CHECK(hidden > 0);
  }
}

void check_reference_kernel(const KernelCheck& check) {
  const Subject subject = open_subject(check);
  const KernelPackage& package = *subject.package;
  const auto programs = programs_of(trial::compile_reference(*subject.device, package));
  for (const Shape& shape : check.shapes) {
    CAPTURE(to_text(shape));
    auto plan = required(package.reference().plan(shape));
    check_run(check, subject, programs, plan, shape, package.reference().configuration());
  }
}

void check_default_configuration(const KernelCheck& check) {
  const Subject subject = open_subject(check);
  for (const Shape& shape : check.shapes) {
    CAPTURE(to_text(shape));
    CHECK(subject.package->plan(shape, subject.package->default_configuration()).ok());
  }
  check_configuration(check, subject, subject.package->default_configuration(), check.shapes);
}

// Campaigns of more configurations, or of others, are started by hand through the environment.
std::vector<Configuration> configurations_to_check(const Space& space) {
  return covering_configurations(
      space, test::number_from_environment("IDLETUNE_KERNEL_CONFIGURATIONS", kConfigurations),
      test::number_from_environment("IDLETUNE_KERNEL_SEED", kCheckSeed));
}

void check_random_configurations(const KernelCheck& check) {
  const Subject subject = open_subject(check);
  const auto configurations = configurations_to_check(subject.package->space());
  REQUIRE(!configurations.empty());
  MESSAGE(configurations.size() << " configurations");
  for (const Configuration& configuration : configurations) {
    check_configuration(check, subject, configuration, check.shapes);
  }
}

void check_every_value_on_tiny_shape(const KernelCheck& check) {
  const Subject subject = open_subject(check);
  const auto work_items = [&](const Configuration& configuration) {
    const auto plan = subject.package->plan(check.tiny, configuration);
    if (!plan.ok()) return std::numeric_limits<double>::infinity();
    double items = 0;
    for (const PlannedStep& step : plan->steps()) {
      const auto& global = step.range.global;
      items += static_cast<double>(global[0]) * static_cast<double>(global[1] * global[2]);
    }
    return items;
  };
  auto configurations =
      covering_configurations(subject.package->space(), 0, kCheckSeed, work_items);
  REQUIRE(!configurations.empty());
  configurations.push_back(subject.package->default_configuration());
  std::vector<Shape> shapes{check.tiny};
  shapes.insert(shapes.end(), check.more_tiny.begin(), check.more_tiny.end());
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const std::vector<Shape> in_turn{shapes[i % shapes.size()]};
    check_configuration(check, subject, configurations[i],
                        test::fewer_repeats() ? in_turn : shapes);
  }
}

void check_fault_is_found(const KernelCheck& check) {
  const Subject subject = open_faulty(check, check.fault);
  const Configuration& configuration = subject.package->default_configuration();
  const auto programs =
      programs_of(trial::compile_steps(*subject.device, *subject.package, configuration));
  const auto plan = required(subject.package->plan(check.tiny, configuration));
  const Findings found = run_and_compare(check, subject, programs, plan, check.tiny, configuration);
  CHECK(found.wrong > 0);
  CHECK(found.refused != "");
}

}  // namespace idletune::kernel_tests
