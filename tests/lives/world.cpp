#include "tests/lives/world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "models/host/pack/pack.hpp"
#include "models/package/call_package.hpp"
#include "models/package/kernel_package.hpp"
#include "models/space/product_space.hpp"
#include "tests/lives/draw.hpp"
#include "tests/unit/predict/model_builder.hpp"

namespace idletune::lives {
namespace {

DescribedStep step_of(const char* entry, std::vector<std::string> arguments, const char* where) {
  DescribedStep step;
  step.entry = entry;
  step.arguments = std::move(arguments);
  step.condition = where;
  step.launch.global = {"N"};
  step.launch.local = {"1"};
  return step;
}

// Where A is 3 or more something is prepared once of w, which the application keeps as it is.
void add_setup(KernelDescription& description) {
  DescribedArgument w, p;
  w.name = "w";
  w.size = "N";
  w.fill = Fill::uniform;
  w.fill_high = 1;
  w.constant = true;
  p.name = "p";
  p.kind = ArgumentKind::prepared;
  p.access = Access::out;
  p.size = "A >= 3 ? N : 0";
  description.arguments.push_back(w);
  description.arguments.push_back(p);
  description.entry.clear();
  description.launch = {};
  description.steps = {step_of("direct", {"x", "w"}, "A < 3"),
                       step_of("scale", {"x", "p"}, "A >= 3")};
  description.setup = {step_of("convert", {"w", "p"}, "A >= 3")};
  description.reference.entry = "direct";
  description.reference.launch.global = {"N"};
  description.reference.launch.local = {"1"};
  description.tolerance.relative = 1e-5;
}

void add_captured(KernelDescription& description) {
  DescribedArgument i;
  i.name = "i";
  i.type = ScalarType::i32;
  i.size = "4";
  i.captured = true;
  description.arguments.push_back(i);
}

KernelDescription description_of(int a, int b, bool setups, bool captures, int version) {
  KernelDescription description;
  description.name = "play";
  description.source = "nobody compiles this, version " + std::to_string(version);
  description.entry = "play";
  description.dimensions = {"N"};
  for (const auto& [name, count] : {std::pair<const char*, int>{"A", a}, {"B", b}}) {
    DescribedParameter parameter{name, ParameterKind::other, {}, 1};
    for (std::int64_t value = 1; value <= count; ++value) parameter.values.push_back(value);
    description.parameters.push_back(parameter);
  }
  description.launch.global = {"round_up(N, 32 * A)"};
  description.launch.local = {"1"};
  DescribedArgument x;
  x.name = "x";
  x.type = ScalarType::f32;
  x.access = Access::inout;
  x.size = "N";
  description.arguments = {x};
  if (setups) add_setup(description);
  if (captures) add_captured(description);
  return description;
}

bool says(const std::string& words, const char* word) {
  return ("," + words + ",").find("," + std::string(word) + ",") != std::string::npos;
}

template <class T>
T must(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "lives: %s\n", result.status().to_string().c_str());
  std::abort();
}

// Others only tell in trials.
bool shows_in_calls(Nature nature) {
  switch (nature) {
    case Nature::wrong:
    case Nature::wrong_shape:
    case Nature::crash:
    case Nature::crash_shape:
    case Nature::crash_launch:
    case Nature::hang:
    case Nature::refused_launch: return true;
    default: return false;
  }
}

std::vector<std::uint8_t> call_package_of(int a, int b, int version) {
  std::vector<std::vector<std::int64_t>> values(2);
  for (std::int64_t value = 1; value <= a; ++value) values[0].push_back(value);
  for (std::int64_t value = 1; value <= b; ++value) values[1].push_back(value);
  const std::vector<std::string> names = {"A", "B"}, dimensions = {"N"};
  const char* const called[] = {"play", "play_2"};
  return must(
      call_package(called[version], must(product_space(names, values)), {1, 1}, dimensions, {}));
}

}  // namespace

const char* name_of(Nature nature) {
  static const char* const names[] = {
      "good",   "slow",         "wrong",       "wrong_shape",   "wrong_class",
      "crash",  "crash_shape",  "crash_often", "crash_late",    "crash_launch",
      "hang",   "hang_warm_up", "refused",     "refused_build", "refused_launch",
      "memory", "slow_launch",  "wrong_late",  "wrong_lent",    "crash_lent"};
  return names[static_cast<int>(nature)];
}

World::World(std::uint64_t s, const WorldLimits& limits) : seed(s) {
  const auto draw = [&](std::uint64_t what) { return mix(s, 1000 + what); };
  const int na = 3 + static_cast<int>(draw(0) % 3), nb = 3 + static_cast<int>(draw(1) % 3);
  for (int a = 1; a <= na; ++a)
    for (int b = 1; b <= nb; ++b) configurations.push_back({a, b});
  sizes = {64, 128, 256, 96, 100, 1000};
  sizes.resize(3 + draw(2) % 4);
  friendly = limits.natures == "friendly" || (limits.natures.empty() && draw(3) % 4 == 0);
  in_place = (draw(4) % 3 == 0 || says(limits.force, "in-place")) && !says(limits.force, "no-race");
  isolated =
      (draw(5) % 8 != 0 || says(limits.force, "helper")) && !says(limits.force, "in-process");
  worker = (draw(6) % 2 == 0 || says(limits.force, "worker")) && !says(limits.force, "caller");
  profiling = draw(7) % 5 != 0 || says(limits.force, "profiling");
  has_model = draw(8) % 3 != 0;
  slots = has_model && (draw(14) % 3 == 0 || says(limits.force, "slots")) &&
          !says(limits.force, "no-slots");
  if (slots) options.model_check_interval = std::chrono::seconds(1);
  options.max_shapes = draw(9) % 3 == 0 ? 2 : draw(9) % 3 == 1 ? 4 : 64;
  options.seed = 1 + draw(10) % 1000;
  options.read_environment = false;
  options.model = kNoModel;
  setups = draw(11) % 6 == 0;
  captures = !setups && draw(12) % 4 == 0;
  options.state = "played";
  called = !setups && !captures && (draw(13) % 8 == 0 || says(limits.force, "calls"));
  if (called) {
    isolated = false;
    profiling = true;
  }
  solves = worker && (draw(16) % 3 == 0 || says(limits.force, "solve"));
  methods = solves && draw(17) % 2 == 0 && !says(limits.force, "cg");
  mixed = methods && draw(18) % 2 == 0;
  large = methods && draw(19) % 8 == 0;
  const bool alike = !profiling || called || says(limits.force, "alike");
  if (!alike && draw(15) % 3 == 0) colder = 2;
  make_packages(na, nb);
  for (int c = 0; c < count(); ++c) {
    odd_shapes_.push_back(static_cast<int>(mix(seed, 32, static_cast<std::uint64_t>(c)) %
                                           static_cast<std::uint64_t>(shapes())));
  }
  for (int driver = 0; driver < kDrivers; ++driver)
    for (int c = 0; c < count(); ++c)
      natures_.push_back(draw_nature(driver, c, limits.natures == "sound"));
  for (int c = 0; c < count(); ++c) {
    for (int i = 0; i < shapes(); ++i) {
      const double size = 0.5 + static_cast<double>(sizes[static_cast<std::size_t>(i)]) / 128;
      times_.emplace_back(static_cast<std::int64_t>(2e6 * std::min(size, 3.0) * ratio(c, i)));
      classes_.push_back(packages[0]->read->class_key(shape(i), configuration(c)));
    }
  }
}

void World::make_packages(int a, int b) {
  static std::map<std::tuple<int, int, bool, bool, bool, int>, Package> all;
  for (int i = 0; i < kPackages; ++i) {
    Package& made = all[{a, b, setups, captures, called, i}];
    if (made.read == nullptr) {
      made.bytes =
          called ? call_package_of(a, b, i) : must(pack(description_of(a, b, setups, captures, i)));
      made.read = must(KernelPackage::open(made.bytes, "played"));
    }
    packages[i] = &made;
  }
}

int World::index_of(const Configuration& wanted) const {
  for (int c = 0; c < count(); ++c)
    if (configuration(c) == wanted) return c;
  return -1;
}

int World::index_of(const Shape& wanted) const {
  for (int s = 0; s < shapes(); ++s)
    if (sizes[static_cast<std::size_t>(s)] == wanted[0]) return s;
  return -1;
}

std::string World::text(int driver, int c) const {
  const Configuration& values = configuration(c);
  return "{" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "}(" +
         name_of(nature(driver, c)) + ")";
}

Nature World::draw_nature(int driver, int c, bool sound_only) const {
  if (c == 0) return Nature::good;
  const auto u = static_cast<std::uint64_t>(c);
  const bool changes = mix(seed, 31, u) % 4 == 0;
  const std::uint64_t h = mix(seed, 30, u, changes ? static_cast<std::uint64_t>(driver) : 0);
  if (friendly) return h % 4 == 0 ? Nature::slow : Nature::good;
  if (h % 100 < 45) return h % 100 < 35 ? Nature::good : Nature::slow;
  const auto hostile = static_cast<unsigned>(Nature::count) - 2;
  const auto drawn = static_cast<Nature>(2 + (h / 128) % hostile);
  if (called && !shows_in_calls(drawn)) return Nature::good;
  switch (drawn) {
    case Nature::slow_launch:
    case Nature::refused_launch:
    case Nature::wrong_late:
    case Nature::crash_late:
    case Nature::crash_launch:
    case Nature::crash_often: return sound_only ? Nature::good : drawn;
    case Nature::wrong_lent:
    case Nature::crash_lent: return captures ? drawn : Nature::good;
    default: return drawn;
  }
}

bool World::sound(int driver, int c, int s) const {
  switch (nature(driver, c)) {
    case Nature::good:
    case Nature::slow: return true;
    case Nature::wrong_shape:
    case Nature::wrong_class: return !wrong(driver, c, s);
    default: return false;
  }
}

bool World::wrong(int driver, int c, int s, bool lent) const {
  switch (nature(driver, c)) {
    case Nature::wrong: return true;
    case Nature::wrong_lent: return lent;
    case Nature::wrong_shape: return s == odd_shape(c);
    case Nature::wrong_class: return class_of(c, s) == class_of(c, odd_shape(c));
    default: return false;
  }
}

bool World::crashes(int driver, int c, int s, bool lent) const {
  const Nature n = nature(driver, c);
  return n == Nature::crash || (n == Nature::crash_shape && s == odd_shape(c)) ||
         (n == Nature::crash_lent && lent);
}

std::uint64_t World::lateness(int c) const {
  return 1 + mix(seed, 33, static_cast<std::uint64_t>(c)) % 12;
}

double World::ratio(int c, int s) const {
  if (c == 0) return 1;
  const auto u = static_cast<std::uint64_t>(c), v = static_cast<std::uint64_t>(s);
  const double drawn = unit(mix(seed, 40, u));
  const double base = nature(0, c) == Nature::slow ? 1.2 + 3 * drawn : 0.2 + 0.9 * drawn;
  const bool uneven = mix(seed, 41, u) % 6 == 0;
  return uneven ? 0.3 + 1.7 * unit(mix(seed, 42, u, v))
                : base * (0.92 + 0.16 * unit(mix(seed, 43, u, v)));
}

bool World::has_setup(int c) const { return setups && configuration(c)[0] >= 3; }

// As description_of says.
std::size_t World::items(std::int64_t a, int s) const {
  const auto n = static_cast<std::size_t>(sizes[static_cast<std::size_t>(s)]);
  const auto whole = static_cast<std::size_t>(32 * a);
  return setups ? n : (n + whole - 1) / whole * whole;
}

Nanoseconds World::launch_time(int driver, int c, int s) const {
  return nature(driver, c) == Nature::slow_launch ? 2 * in_launches(0, s) : in_launches(c, s);
}

TrialStatus World::status_of_call(int driver, int c, int s, int times) const {
  if (!called || c <= 0) return TrialStatus::correct;
  const Nature is = nature(driver, c);
  if (is == Nature::hang) return TrialStatus::timeout;
  const bool late = is == Nature::refused_launch && c % 2 == 0 && times <= 12;
  if (is == Nature::refused_launch && !late) return TrialStatus::runtime;
  return wrong(driver, c, s) ? TrialStatus::correctness : TrialStatus::correct;
}

std::shared_ptr<const QuirkTable> World::quirks_naming(int c) const {
  auto quirks = std::make_shared<QuirkTable>();
  const std::string values = "A == " + std::to_string(configuration(c)[0]) +
                             ", B == " + std::to_string(configuration(c)[1]);
  for (const char* const kernel : {"play", "play_2"}) {
    const std::string line =
        std::string("kernel=\"") + kernel + "\": " + values + ": known to be bad";
    if (!quirks->add_text(line, "played").ok()) std::abort();
  }
  return quirks;
}

std::shared_ptr<const Model> World::model_saying(int c, int other) const {
  return must(Model::open(model_saying(c, other, 1), "played"));
}

std::vector<std::uint8_t> World::model_saying(int c, int other, std::uint64_t generation) const {
  const Configuration &a = configuration(c), &b = configuration(other);
  test::ModelContent content;
  content.generation = generation;
  content.kernel = "play";
  content.parameters = {"A", "B"};
  content.sources[0].device = "Board Nine";
  content.sources[0].shape = {64};
  content.sources[0].valid = content.sources[0].measured = configurations.size();
  content.portfolio_values = {a[0], a[1], b[0], b[1]};
  content.portfolio_relative = {1.0f, 0.8f};
  content.portfolio_score = {0.9f, 0.7f};
  content.picks = {{-1, {}, {a[0], a[1]}, 0.9f}};
  return test::build_model(content);
}

}  // namespace idletune::lives
