#include "models/host/pack/work.hpp"

#include <utility>

#include "models/package/kernel_package.hpp"
#include "models/schema/kernel_generated.h"
#include "models/schema/table_layout.hpp"

namespace idletune {

using table_layout::text_of;
using table_layout::values_of;

std::optional<Expression> operations_of(const KernelPackage& package) {
  // The package was verified when it was opened; bytecode is by load().
  const auto* stored = kernel_schema::GetKernelPackage(package.bytes().data())->operations();
  if (stored == nullptr || stored->code() == nullptr) return std::nullopt;
  Result<Expression> expression =
      Expression::load(values_of(stored->code()), values_of(stored->constants()),
                       text_of(stored->text()), package.dimension_count(), 0);
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
