// Faults that show at some shapes only, as kernels have them: no class holds shapes that show one
// beside shapes that do not. So a check at any shape of the class finds it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/random.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "tests/unit/kernels/kernel_path.hpp"
#include "tests/unit/required.hpp"

namespace {

using namespace idletune;

std::shared_ptr<const KernelPackage> kernel(const std::string& name) {
  const std::string path = test::kernel_path(name);
  return *KernelPackage::open(required(pack(required(read_kernel_xml(path)))), name);
}

struct Fault {
  const char* kernel;
  const char* what;
  // Dimensions and parameters by name.
  std::function<bool(const std::function<std::int64_t(const char*)>&)> shows;
  std::int64_t member = 0;  // of a family: the one that has it
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

// Of the members of the family sgemm: each in one of them only.
const std::int64_t kDirect = 0, kIndirect = 1, kSkinny = 2;
Fault of(std::int64_t member, const char* what, std::function<bool(const Get&)> shows) {
  return {"sgemm", what, std::move(shows), member};
}
std::int64_t parts(const Get& v) {
  const std::int64_t k = v("K"), chunk = (k + v("skinny_SPLIT") - 1) / v("skinny_SPLIT");
  return (k + chunk - 1) / chunk;
}
std::int64_t wide(const Get& v) { return v("skinny_TURN") == 0 ? v("N") : v("M"); }
std::int64_t thin(const Get& v) { return v("skinny_TURN") == 0 ? v("M") : v("N"); }
std::int64_t panel_rows(const Get& v) { return v("indirect_DIMM") * v("indirect_WPM"); }
std::int64_t panel_columns(const Get& v) { return v("indirect_DIMN") * v("indirect_WPN"); }
std::int64_t stride(const Get& v) { return std::max(v("indirect_KWI"), v("indirect_TILE")); }

const Fault kFamilyFaults[] = {
    of(kDirect, "the last columns", [](const Get& v) { return v("N") % v("direct_COLS") != 0; }),
    of(kDirect, "the last rows", [](const Get& v) { return v("M") % v("direct_ROWS") != 0; }),
    of(kDirect, "the rest of the depth",
       [](const Get& v) { return v("K") % v("direct_KWI") != 0; }),
    of(kDirect, "the last tile in depth",
       [](const Get& v) { return v("K") % v("direct_DEEP") != 0; }),
    of(kDirect, "a second tile in depth", [](const Get& v) { return v("K") > v("direct_DEEP"); }),
    of(kDirect, "columns below a vector", [](const Get& v) { return v("N") < v("direct_VX"); }),
    of(kDirect, "a transposed A", [](const Get& v) { return v("TA") == 1; }),
    of(kDirect, "both transposed", [](const Get& v) { return v("TA") == 1 && v("TB") == 1; }),
    of(kDirect, "a second product", [](const Get& v) { return v("BATCH") > 1; }),
    of(kDirect, "the same B for all", [](const Get& v) { return v("LINKS") / 4 == 1; }),
    of(kIndirect, "rows that fill no panel",
       [](const Get& v) { return v("M") % panel_rows(v) != 0; }),
    of(kIndirect, "a second panel of columns",
       [](const Get& v) { return v("N") > panel_columns(v); }),
    of(kIndirect, "the padded depth", [](const Get& v) { return v("K") % stride(v) != 0; }),
    of(kIndirect, "an A that is not packed",
       [](const Get& v) {
         return v("indirect_PACK") == 0 && v("TA") == 1 && v("M") % panel_rows(v) == 0 &&
                v("K") % stride(v) == 0;
       }),
    of(kIndirect, "the last lanes", [](const Get& v) { return v("N") % v("indirect_WPN") != 0; }),
    of(kSkinny, "the last vector", [](const Get& v) { return wide(v) % v("skinny_VW") != 0; }),
    of(kSkinny, "one row of its own", [](const Get& v) { return thin(v) % v("skinny_THIN") != 0; }),
    of(kSkinny, "one column", [](const Get& v) { return v("N") == 1; }),
    of(kSkinny, "an empty part", [](const Get& v) { return parts(v) < v("skinny_SPLIT"); }),
    of(kSkinny, "the rest of a part",
       [](const Get& v) {
         const std::int64_t split = v("skinny_SPLIT");
         return (v("K") + split - 1) / split % v("skinny_VW") != 0;
       }),
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

// Of the family also the form of the operands, few products most often.
Shape draw_shape(const KernelPackage& package, Random& random) {
  Shape shape;
  while (shape.size() < package.dimension_count()) {
    const std::string_view name = package.inputs().dimension_name(shape.size());
    if (name == "TA" || name == "TB") {
      shape.push_back(static_cast<std::int64_t>(random.below(2)));
    } else if (name == "LINKS") {
      shape.push_back(random.below(3) > 0 ? 0 : static_cast<std::int64_t>(random.below(8)));
    } else if (name == "BATCH") {
      shape.push_back(random.below(3) > 0 ? 1 : 1 + static_cast<std::int64_t>(random.below(9)));
    } else {
      shape.push_back(draw_dimension(random));
    }
  }
  return shape;
}

template <std::size_t Count>
void look_for(const Fault (&faults)[Count], std::size_t shapes, int again) {
  Random random(13);
  std::string name;
  std::shared_ptr<const KernelPackage> package;
  for (const Fault& fault : faults) {
    CAPTURE(std::string(fault.kernel));
    CAPTURE(std::string(fault.what));
    if (name != fault.kernel) package = kernel(name = fault.kernel);
    REQUIRE(package->has_classes());
    const bool is_family = package->space().parameter_name(0) == "ALGORITHM";
    int shown = 0, hidden = 0, met_again = 0;
    for (int c = 0; c < 20; ++c) {
      Configuration configuration = package->space().sample(random);
      while (is_family && configuration[0] != fault.member) {
        configuration = package->space().sample(random);
      }
      const auto fixed = package->where(configuration);
      std::map<std::uint64_t, bool> classes;
      for (std::size_t i = 0; i < shapes; ++i) {
        const Shape shape = draw_shape(*package, random);
        const Get get = [&](const char* of) {
          for (std::size_t d = 0; d < shape.size(); ++d) {
            if (package->inputs().dimension_name(d) == of) return shape[d];
          }
          return configuration[*package->space().parameter_index(of)];
        };
        const bool shows = fault.shows(get);
        (shows ? shown : hidden) += 1;
        const auto added = classes.emplace(fixed->class_key(shape, {}), shows);
        met_again += added.second ? 0 : 1;
        REQUIRE(added.first->second == shows);
      }
    }
    CHECK(met_again > again);
    CHECK((shown > 0 && hidden > 0));
  }
}

}  // namespace

TEST_CASE("Faults of some shapes only never share a class with shapes that do not show them") {
  look_for(kFaults, 2000, 1000);
}

TEST_CASE("Faults of one member of a family share no class with shapes that do not show them") {
  look_for(kFamilyFaults, 4000, 200);
}

TEST_CASE("A package in one configuration plans what it plans when it is asked with that one") {
  Random random(17);
  for (const char* name : {"gemm", "transpose", "conv2d", "reduction", "coulomb3d", "sgemm"}) {
    CAPTURE(name);
    const auto package = kernel(name);
    int planned = 0;
    for (int c = 0; c < 20; ++c) {
      const Configuration configuration = package->space().sample(random);
      const Shape like = draw_shape(*package, random);
      const auto fixed = package->where(configuration, c % 2 == 0 ? &like : nullptr);
      for (int i = 0; i < 50; ++i) {
        const Shape shape = draw_shape(*package, random);
        CHECK(fixed->class_key(shape, {}) == package->class_key(shape, configuration));
        const auto plan = package->plan(shape, configuration), same = fixed->plan(shape, {});
        REQUIRE(plan.ok() == same.ok());
        if (!plan.ok()) continue;
        ++planned;
        REQUIRE(plan->all().size() == same->all().size());
        for (std::size_t s = 0; s < plan->all().size(); ++s) {
          const PlannedStep &a = plan->all()[s], &b = same->all()[s];
          CHECK((a.index == b.index && a.range.global == b.range.global &&
                 a.range.local == b.range.local && a.local_memory_bytes == b.local_memory_bytes));
        }
        std::array<std::int64_t, kMaxArguments> sizes;
        REQUIRE(fixed->sizes(shape, {}, sizes).ok());
        for (std::size_t a = 0; a < package->argument_count(); ++a) {
          const ArgumentKind kind = package->argument(a).kind;
          if (kind == ArgumentKind::scalar) {
            CHECK(sizes[a] == 0);
          } else if (is_memory(kind)) {
            CHECK(*package->buffer_bytes(a, shape, configuration) ==
                  static_cast<std::uint64_t>(sizes[a]));
          } else {
            CHECK(*package->derived_value(a, shape, configuration) == sizes[a]);
          }
        }
      }
    }
    CHECK(planned > 100);
  }
}
