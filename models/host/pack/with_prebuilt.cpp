#include <memory>
#include <string>
#include <utility>

#include "models/host/pack/pack.hpp"
#include "models/host/pack/work.hpp"
#include "models/package/kernel_package.hpp"
#include "models/package/package_contents.hpp"
#include "models/package/package_writer.hpp"

namespace idletune {

Result<std::vector<std::uint8_t>> with_prebuilt(
    std::vector<std::uint8_t> package, const std::vector<BinaryOfConfiguration>& binaries) {
  const auto opened = KernelPackage::open(package, "the package");
  if (!opened.ok()) return opened.status();
  auto contents =
      package::read_package(std::make_shared<const std::vector<std::uint8_t>>(std::move(package)));
  if (!contents.ok()) return contents.status();
  package::PackageContents& c = **contents;
  c.binaries.clear();
  for (const BinaryOfConfiguration& made : binaries) {
    if (!c.space.contains(made.configuration)) {
      return Status(StatusCode::invalid_argument,
                    "a binary's configuration is not in the space of the kernel");
    }
    const std::uint64_t key = c.space.key(made.configuration);
    auto place = c.binaries.begin();
    while (place != c.binaries.end() && place->configuration_key != key) ++place;
    if (place == c.binaries.end()) place = c.binaries.insert(place, {key, {}});
    place->binaries.push_back(made.binary);
  }
  return package::readable(
      package::write_package(c, operations_of(**opened).value_or(Expression())),
      std::string(c.name));
}

}  // namespace idletune
