// Ten boards tune for a day, their journals come home and are learned from: what that model is
// worth to an eleventh board, beside one of everything that there is to know of the ten.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/host/learn/learn.hpp"
#include "tests/unit/explore/played_fleet.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/repeats.hpp"

namespace idletune {
namespace {

using test::FleetDay;
using test::FleetHours;
using test::FleetKernel;

constexpr std::size_t kBoards = 10;

void write_model(const std::vector<History>& histories, const std::string& path) {
  std::vector<const History*> all;
  for (const History& each : histories) all.push_back(&each);
  LearnOptions options;
  options.cross_validate = false;
  const auto learned = learn(all, options);
  REQUIRE_MESSAGE(learned.ok(), learned.status().to_string());
  REQUIRE(write_file_atomically(path, learned->bytes).ok());
}

struct Eleventh {
  FleetDay alone, home, whole;
  double measured = 0;  // by each of the ten, in the mean
};

// Ten boards of the devices beside `target`, of each as many as of the others or one more.
Eleventh play_fleet(const FleetKernel& kernel, std::size_t target, std::uint64_t seed,
                    const FleetHours& hours) {
  std::mt19937_64 random(seed);
  std::vector<History> measured, whole;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  Eleventh eleventh;
  for (std::size_t i = 0; i < kBoards; ++i) {
    std::size_t device = i % (kernel.devices.size() - 1);
    device += device >= target ? 1 : 0;
    const std::vector<History>& runs = kernel.devices[device].runs;
    const auto run = static_cast<std::size_t>(random() % runs.size());
    test::FleetBoard board(kernel, runs[run], random());
    (void)board.play(kNoModel, hours);
    for (History& each : board.brought_home()) {
      eleventh.measured += static_cast<double>(each.rows()) / kBoards;
      measured.push_back(std::move(each));
    }
    if (seen.emplace(device, run).second) whole.push_back(runs[run]);
  }
  const test::TemporaryFolder folder;
  write_model(measured, folder.file("home.itmodel"));
  write_model(whole, folder.file("whole.itmodel"));
  const std::uint64_t identity = random();
  const auto play = [&](const std::string& model) {
    test::FleetBoard board(kernel, kernel.devices[target].runs.front(), identity);
    return board.play(model, hours);
  };
  eleventh.alone = play(kNoModel);
  eleventh.home = play(folder.file("home.itmodel"));
  eleventh.whole = play(folder.file("whole.itmodel"));
  return eleventh;
}

// What many eleventh boards take with one model, beside another, as means of logarithms.
struct Ratios {
  void add(double ratio) {
    sum += std::log(ratio);
    worst = std::max(worst, ratio);
    best = std::min(best, ratio);
    ++count;
  }
  double mean() const { return std::exp(sum / count); }
  std::string text() const {
    char text[80];
    std::snprintf(text, sizeof text, "%.4f (%.4f to %.4f)", mean(), best, worst);
    return text;
  }
  double sum = 0, best = 1e9, worst = 0;
  int count = 0;
};

// Each device is the eleventh board's once for each seed.
struct Elevenths {
  void play(const FleetKernel& kernel, std::uint64_t seeds, const FleetHours& hours) {
    for (std::size_t target = 0; target < kernel.devices.size(); ++target) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Eleventh eleventh = play_fleet(kernel, target, seed, hours);
        tell(kernel.name + " on " + kernel.devices[target].name, seed, eleventh);
        first.add(eleventh.whole.first / eleventh.home.first);
        hour.add(eleventh.home.hour / eleventh.whole.hour);
        day.add(eleventh.home.day / eleventh.whole.day);
        alone.add(eleventh.home.day / eleventh.alone.day);
      }
    }
  }
  void tell(const std::string& what, std::uint64_t seed, const Eleventh& eleventh) const {
    const auto told = [](const FleetDay& played) {
      char text[120];
      std::snprintf(text, sizeof text, "first %.3f, hour %.3f, day %.3f, tried %d", played.first,
                    played.hour, played.day, static_cast<int>(played.evaluated));
      return std::string(text);
    };
    MESSAGE(what, ", seed ", seed, ": ten measured ", eleventh.measured,
            " each; alone: ", told(eleventh.alone), "; home: ", told(eleventh.home),
            "; whole: ", told(eleventh.whole));
  }
  // The times of home over those of whole.
  std::string text() const {
    return std::to_string(day.count) + " elevenths, home over whole: first pick " + first.text() +
           ", hour " + hour.text() + ", day " + day.text() + "; over alone: day " + alone.text();
  }
  Ratios first, hour, day, alone;
};

FleetHours hours() {
  FleetHours hours;
  hours.gap = std::chrono::milliseconds(
      idletune::test::number_from_environment("IDLETUNE_TEST_FLEET_GAP_MS", 2000));
  return hours;
}

}  // namespace
}  // namespace idletune

using namespace idletune;

TEST_CASE("what ten boards measured in a day serves an eleventh as all that can be measured") {
  FleetKernel kernel;
  kernel.name = "stencil";
  kernel.constraints = {"block * tile <= 256"};
  for (const std::string name : {"One", "Two", "Three"})
    kernel.add(idletune::test::test_data("insight/stencil-Board_" + name + ".json"), name);
  kernel.pack();
  Elevenths elevenths;
  elevenths.play(kernel, idletune::test::number_from_environment("IDLETUNE_TEST_FLEET_SEEDS", 1),
                 hours());
  MESSAGE(elevenths.text());
  CHECK(elevenths.day.mean() < 1.02);
  CHECK(elevenths.alone.mean() < 1.02);
}

TEST_CASE("what ten recorded boards measured in a day serves an eleventh of another kind" *
          doctest::test_suite("recorded data")) {
  const std::map<std::string, std::vector<std::string>> kernels{
      {"gemm",
       {"KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0",
        "MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
        "KWG % ((MDIMC * NDIMC) / MDIMA) == 0", "KWG % ((MDIMC * NDIMC) / NDIMB) == 0"}},
      {"dedispersion_milo",
       {"block_size_x * block_size_y <= 1024", "block_size_x * block_size_y >= 32",
        "tile_stride_x == 0 or tile_size_x > 1", "tile_stride_y == 0 or tile_size_y > 1"}},
      {"pnpoly", {}}};
  // All of them take a quarter of an hour for each seed.
  const char* wanted = std::getenv("IDLETUNE_TEST_FLEET_KERNELS");
  const std::string only = wanted != nullptr ? wanted : "pnpoly ";
  std::map<std::string, FleetKernel> found;
  for (const std::string folder : {"kernel_tuner", "kernel_tuner_repeats"}) {
    for (const std::string& path : idletune::test::recorded_caches(folder)) {
      const std::string file = path.substr(path.rfind('/') + 1);
      const auto known = kernels.find(file.substr(0, file.find('-')));
      if (known == kernels.end()) continue;
      const std::string name = known->first + folder.substr(std::string("kernel_tuner").size());
      if (only != "all" && only.find(name + " ") == std::string::npos) continue;
      std::string device = file.substr(known->first.size() + 1);
      device.resize(std::min(device.find("-run"), device.find(".json")));
      FleetKernel& kernel = found[name];
      kernel.name = name;
      kernel.constraints = known->second;
      kernel.add(path, device);
    }
  }
  if (found.empty()) return idletune::test::skip(idletune::test::kNoRecordedData);
  Elevenths all;
  for (auto& [name, kernel] : found) {
    kernel.pack();
    // By chance alone one eleventh's day strays by 2 %: three are too few to tell 2 %.
    all.play(kernel, idletune::test::number_from_environment("IDLETUNE_TEST_FLEET_SEEDS", 2),
             hours());
  }
  MESSAGE(all.text());
  CHECK(all.day.mean() < 1.02);
}
