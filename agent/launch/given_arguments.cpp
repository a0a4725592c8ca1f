#include "agent/launch/given_arguments.hpp"

#include <idletune/text.hpp>

#include "models/package/kernel_package.hpp"

namespace idletune::detail {
namespace {

// Whether a scalar may be passed where another type is expected: integers of the same size, whose
// numbers differ in the last bit.
bool stands_for(ScalarType given, ScalarType expected) {
  return given == expected || (is_integer(given) && (static_cast<unsigned>(given) ^
                                                     static_cast<unsigned>(expected)) == 1);
}

}  // namespace

GivenArguments::GivenArguments(const Device& device, const KernelPackage& package)
    : device_(device), package_(package) {
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& spec = package.argument(i);
    const auto index = static_cast<std::uint8_t>(i);
    const bool is_buffer = spec.kind == ArgumentKind::buffer;
    if (is_buffer || spec.kind == ArgumentKind::scalar) {
      given_[given_count_++] = {index, is_buffer, spec.type};
    } else {
      derived_[derived_count_++] = index;
    }
  }
}

Status GivenArguments::take(Span<const Argument> given, Argument* all) const {
  if (given.size() != given_count_) {
    return Status(StatusCode::invalid_argument, "kernel '%': launched with % arguments, expected %",
                  package_.name(), given.size(), given_count_);
  }
  for (std::size_t i = 0; i < given_count_; ++i) {
    const Rule rule = given_[i];
    const Argument& argument = given[i];
    const bool fits = rule.is_buffer ? argument.is_buffer()
                                     : argument.kind() == Argument::Kind::scalar &&
                                           stands_for(argument.type(), rule.type);
    if (!fits) return wrong(rule, argument);
    all[rule.index] = argument;
  }
  return {};
}

Status GivenArguments::wrong(Rule rule, const Argument& given) const {
  const char* found = given.is_buffer()                        ? "a buffer"
                      : given.kind() == Argument::Kind::scalar ? scalar_type_name(given.type())
                                                               : "nothing";
  return refused(rule.index, joined("got %, expected %", found,
                                    rule.is_buffer ? "a buffer" : scalar_type_name(rule.type)));
}

Status GivenArguments::refused(std::size_t index, const std::string& why) const {
  return Status(StatusCode::invalid_argument, "kernel '%', argument '%': %", package_.name(),
                package_.argument(index).name, why);
}

Status GivenArguments::complete(const Shape& shape, const Variant& variant,
                                Argument* arguments) const {
  for (const std::size_t index : derived()) arguments[index] = variant.derived[index];
  if (variant.buffers_fit.load(std::memory_order_relaxed)) return {};
  return check_buffers_of(shape, variant, arguments);
}

Status GivenArguments::check_buffers(const Sizes& sizes, const Argument* arguments,
                                     const std::uint64_t* known) const {
  for (std::size_t i = 0; i < given_count_; ++i) {
    const std::size_t index = given_[i].index;
    if (!given_[i].is_buffer) continue;
    const auto bytes = static_cast<std::uint64_t>(sizes[index]);
    if (known != nullptr && known[i] >= bytes) continue;
    const Status fit = device_.check_buffer(arguments[index], bytes);
    if (!fit.ok()) return refused(index, fit.message());
  }
  return {};
}

Status GivenArguments::check_buffers_of(const Shape& shape, const Variant& variant,
                                        const Argument* arguments) const {
  Sizes sizes;
  Status status = package_.sizes(shape, variant.configuration, sizes);
  if (status.ok()) status = check_buffers(sizes, arguments, nullptr);
  if (status.ok()) variant.buffers_fit.store(true, std::memory_order_relaxed);
  return status;
}

}  // namespace idletune::detail
