#include "models/host/pack/work.hpp"

#include <utility>

#include "models/package/kernel_package.hpp"
#include "models/schema/kernel_generated.h"

namespace idletune {

std::optional<Expression> operations_of(const KernelPackage& package) {
  // The package was verified when it was opened; bytecode is by load().
  const auto* stored = kernel_schema::GetKernelPackage(package.bytes().data())->operations();
  if (stored == nullptr || stored->code() == nullptr) return std::nullopt;
  const Span<const std::uint32_t> code(stored->code()->data(), stored->code()->size());
  const Span<const std::int64_t> constants =
      stored->constants() == nullptr
          ? Span<const std::int64_t>()
          : Span<const std::int64_t>(stored->constants()->data(), stored->constants()->size());
  const std::string_view text =
      stored->text() == nullptr ? std::string_view() : stored->text()->string_view();
  Result<Expression> expression =
      Expression::load(code, constants, text, package.dimension_count(), 0);
  if (!expression.ok()) return std::nullopt;
  return std::move(*expression);
}

Result<KernelWork> work_of(const KernelPackage& package, const Shape& shape,
                           const Configuration& configuration) {
  KernelWork work;
  for (std::size_t i = 0; i < package.argument_count(); ++i) {
    const ArgumentSpec& argument = package.argument(i);
    if (argument.kind != ArgumentKind::buffer) continue;
    const Result<std::uint64_t> size = package.buffer_bytes(i, shape, configuration);
    if (!size.ok()) return size.status();
    const auto bytes = static_cast<double>(*size);
    work.compulsory_bytes += argument.access == Access::inout ? 2 * bytes : bytes;
    work.footprint_bytes += bytes;
  }
  if (const auto operations = operations_of(package)) {
    const Evaluation value = operations->evaluate(shape.values(), {});
    if (value.ok() && value.value >= 0) work.operations = static_cast<double>(value.value);
  }
  return work;
}

}  // namespace idletune
