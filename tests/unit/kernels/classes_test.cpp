// Faults that show at some shapes only, as kernels have them: no class holds shapes that show one
// beside shapes that do not. So a check at any shape of the class finds it.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/core/random.hpp"
#include "models/package/kernel_package.hpp"
#include "models/package/pack.hpp"
#include "models/package/xml.hpp"
#include "tests/paths.hpp"

namespace {

using namespace idletune;

std::shared_ptr<const KernelPackage> kernel(const std::string& name) {
  const std::string path = IDLETUNE_SOURCE_FOLDER "/kernels/" + name + "/" + name + ".xml";
  const auto description = read_kernel_xml(path);
  REQUIRE_MESSAGE(description.ok(), description.status().message());
  const auto bytes = pack(*description);
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return *KernelPackage::open(*bytes, name);
}

struct Fault {
  const char* kernel;
  const char* what;
  // Dimensions and parameters by name.
  std::function<bool(const std::function<std::int64_t(const char*)>&)> shows;
};

using Get = std::function<std::int64_t(const char*)>;

const Fault kFaults[] = {
    {"gemm", "the last columns are not guarded",
     [](const Get& v) { return v("N") % v("MWG") != 0; }},
    {"gemm", "the last rows are not guarded", [](const Get& v) { return v("M") % v("NWG") != 0; }},
    {"gemm", "the second tile of columns is off", [](const Get& v) { return v("N") > v("MWG"); }},
    {"gemm", "the rest of the depth is lost", [](const Get& v) { return v("K") % v("KWG") != 0; }},
    {"gemm", "a depth below the tile is lost", [](const Get& v) { return v("K") < v("KWG"); }},
    {"gemm", "unrolled too far", [](const Get& v) { return v("K") % v("KWI") != 0; }},
    {"gemm", "vectors off the end", [](const Get& v) { return v("N") % v("VWM") != 0; }},
    {"gemm", "one column", [](const Get& v) { return v("N") == 1; }},
    {"gemm", "int offsets in bytes", [](const Get& v) { return v("M") * v("K") >= 1 << 29; }},
    {"transpose", "the last tile",
     [](const Get& v) { return v("M") % (v("WGY") * v("ROWS")) != 0; }},
    {"transpose", "less than a group", [](const Get& v) { return v("N") < v("WGX"); }},
    {"transpose", "rows that no vector divides",
     [](const Get& v) { return v("N") % v("VECTOR") != 0; }},
    {"transpose", "a wrap to the third tile",
     [](const Get& v) { return v("N") >= 2 * v("WGX") * v("COLUMNS"); }},
    {"conv2d", "narrower than a tile",
     [](const Get& v) { return v("WIDTH") < v("TBX") * v("WPTX"); }},
    {"conv2d", "rows beside those of an item",
     [](const Get& v) { return v("HEIGHT") % v("WPTY") != 0; }},
    {"conv2d", "exactly one tile", [](const Get& v) { return v("WIDTH") == v("TBX") * v("WPTX"); }},
    {"reduction", "fewer than items", [](const Get& v) { return v("N") < v("WG"); }},
    {"reduction", "what vectors leave", [](const Get& v) { return v("N") % v("VECTOR") != 0; }},
    {"reduction", "one row", [](const Get& v) { return v("ROWS") == 1; }},
    {"reduction", "a second round",
     [](const Get& v) { return v("N") >= 2 * v("GROUPS") * v("WG") * v("VECTOR"); }},
    {"nbody", "the last chunk", [](const Get& v) { return v("N") % (v("WG") * v("TILES")) != 0; }},
    {"nbody", "fewer bodies than a chunk",
     [](const Get& v) { return v("N") < v("WG") * v("TILES"); }},
    {"coulomb3d", "fewer atoms than a chunk", [](const Get& v) { return v("ATOMS") < v("CHUNK"); }},
    {"coulomb3d", "one plane", [](const Get& v) { return v("NZ") == 1; }},
    {"coulomb3d", "the last vectors", [](const Get& v) { return v("NX") % v("VECTOR") != 0; }},
};

std::int64_t draw_dimension(Random& random) {
  switch (random.below(5)) {
    case 0: return 1 + static_cast<std::int64_t>(random.below(4));
    case 1: return 8 << random.below(7);
    case 2: return 1 + static_cast<std::int64_t>(random.below(100));
    case 3: return 1 + static_cast<std::int64_t>(random.below(40000));
    default: return 1 + static_cast<std::int64_t>(random.below(1200));
  }
}

}  // namespace

TEST_CASE("Faults of some shapes only never share a class with shapes that do not show them") {
  Random random(13);
  for (const Fault& fault : kFaults) {
    CAPTURE(fault.kernel);
    CAPTURE(fault.what);
    const auto package = kernel(fault.kernel);
    REQUIRE(package->has_classes());
    int shown = 0, hidden = 0, met_again = 0;
    for (int c = 0; c < 20; ++c) {
      const Configuration configuration = package->space().sample(random);
      const std::vector<std::int64_t> tiles = package->class_tiles(configuration);
      std::map<std::uint64_t, bool> classes;
      for (int i = 0; i < 2000; ++i) {
        Shape shape;
        while (shape.size() < package->dimension_count()) shape.push_back(draw_dimension(random));
        const Get get = [&](const char* name) {
          for (std::size_t d = 0; d < shape.size(); ++d) {
            if (package->dimension_name(d) == name) return shape[d];
          }
          return configuration[*package->space().parameter_index(name)];
        };
        const bool shows = fault.shows(get);
        (shows ? shown : hidden) += 1;
        const auto added = classes.emplace(
            package->class_key(shape, configuration, {tiles.data(), tiles.size()}), shows);
        met_again += added.second ? 0 : 1;
        REQUIRE(added.first->second == shows);
      }
    }
    CHECK(met_again > 1000);
    CHECK((shown > 0 && hidden > 0));
  }
}
