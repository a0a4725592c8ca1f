#include "agent/host/explore/settings.hpp"

#include <algorithm>
#include <utility>

#include <idletune/text.hpp>

#include "agent/host/explore/shape_list.hpp"
#include "models/core/digest.hpp"
#include "models/core/random.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::explore {

Settings Settings::of_one(const Shape& problem) {
  Settings settings;
  settings.problems = {problem};
  return settings;
}

Settings Settings::of_list(std::vector<Shape> problems) {
  Settings settings;
  settings.problems = std::move(problems);
  settings.is_list = true;
  settings.checks = 6;
  settings.repeats = kLeastRepeats;
  settings.measure_at_most = std::chrono::milliseconds(50);
  settings.run_deadline = std::chrono::seconds(20);
  settings.control_interval = Nanoseconds{0};
  settings.finalists = 3;
  settings.rounds = 2;
  return settings;
}

Identity identity_of(const KernelPackage& package, const DeviceInfo& device,
                     const Settings& settings) {
  Identity identity = {{"kernel", std::string(package.name())},
                       {"package", hexadecimal(package.digest())},
                       {"backend", device.backend},
                       {"platform", device.platform},
                       {"device", device.name},
                       {"driver", device.driver},
                       {"driver_key", hexadecimal(device.driver_key())},
                       {"seed", settings.seed},
                       {"checks", settings.checks},
                       {"repeats", settings.repeats},
                       {"measure_at_most_ns", settings.measure_at_most.count()},
                       {"run_deadline_ns", settings.run_deadline.count()}};
  if (settings.is_list) {
    std::string bytes;
    for (const Shape& problem : settings.problems) {
      for (const std::int64_t word : problem.words()) bytes += std::to_string(word) + ',';
      bytes += ';';
    }
    identity["shapes"] = settings.problems.size();
    identity["shapes_digest"] = hexadecimal(digest_of(bytes));
    identity[kEstimator] = "median";
    if (!settings.chosen.empty()) identity["chosen"] = settings.chosen;
    return identity;
  }
  const Shape& problem = settings.problems.front();
  const auto dimensions = problem.values();
  identity["shape"] = std::vector<std::int64_t>(dimensions.begin(), dimensions.end());
  for (std::size_t i = 0; i < problem.feature_count(); ++i) {
    identity["features"].push_back(problem.feature(i));
  }
  if (settings.captured_digest != 0) identity["captured"] = hexadecimal(settings.captured_digest);
  return identity;
}

std::vector<Check> checks_of(const Settings& settings, const std::vector<std::size_t>& problems,
                             std::uint64_t seed) {
  std::vector<std::size_t> small;
  std::vector<std::size_t> large;
  for (const std::size_t s : problems) {
    const double size = extent(settings.problems[s]);
    if (size <= settings.small_extent || small.size() < kLeastSmallProblems) {
      small.push_back(s);
    } else if (size <= settings.largest_extent) {
      large.push_back(s);
    }
  }
  Random random(seed);
  const std::size_t wanted = settings.checks;
  for (std::size_t i = 1; i < std::min(wanted, small.size()); ++i) {
    const auto to = small.begin() + static_cast<std::ptrdiff_t>(i);
    const auto drawn = to + static_cast<std::ptrdiff_t>(random.below(small.size() - i));
    std::rotate(to, drawn, drawn + 1);
  }
  std::vector<Check> checks;
  for (std::size_t i = 0; i < std::min(wanted, kInputs * small.size()); ++i) {
    const std::size_t s = small[i % small.size()];
    checks.push_back({s, 1 + static_cast<std::uint32_t>((s + i / small.size()) % kInputs)});
  }
  if (!large.empty() && !checks.empty()) {
    const std::size_t s = large[static_cast<std::size_t>(random.below(large.size()))];
    checks.push_back({s, 1 + static_cast<std::uint32_t>(s % kInputs)});
  }
  return checks;
}

}  // namespace idletune::explore
