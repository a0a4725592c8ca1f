#include "models/host/learn/selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "models/core/random.hpp"
#include "models/host/history/combine_repeats.hpp"
#include "models/host/learn/performance_table.hpp"
#include "models/host/pack/member_names.hpp"

namespace idletune::selection {
namespace {

constexpr std::size_t kLeastProblems = 5;
constexpr double kLeastCover = 0.0005;  // mean quality that a further method must add

double product(const std::vector<double>& sizes) {
  double result = 1;
  for (const double size : sizes) result *= size > 0 ? size : 1;
  return result;
}

// M, N and K where the inputs have such names; else all of them.
std::vector<std::size_t> cube_inputs(const Problems& problems) {
  std::vector<std::size_t> found;
  for (const char* name : {"M", "N", "K"}) {
    const auto at = std::find(problems.inputs.begin(), problems.inputs.end(), name);
    if (at != problems.inputs.end()) {
      found.push_back(static_cast<std::size_t>(at - problems.inputs.begin()));
    }
  }
  if (found.size() == 3) return found;
  found.resize(problems.inputs.size());
  std::iota(found.begin(), found.end(), std::size_t{0});
  return found;
}

std::size_t nearest_to(const Problems& problems, double side) {
  const std::vector<std::size_t> inputs = cube_inputs(problems);
  double least = std::numeric_limits<double>::infinity();
  std::size_t nearest = 0;
  for (std::size_t p = 0; p < problems.count(); ++p) {
    double distance = 0;
    for (const std::size_t i : inputs) {
      const double step = std::log2(std::max(problems.sizes[p][i], 1.0) / side);
      distance += step * step;
    }
    if (distance < least) {
      least = distance;
      nearest = p;
    }
  }
  return nearest;
}

// The fastest method of a member there, among those that run at the most problems.
std::size_t tuned_at(const Problems& problems, std::size_t problem, std::size_t member) {
  std::size_t chosen = 0;
  std::size_t most = 0;
  for (std::size_t m = 0; m < problems.methods(); ++m) {
    if (problems.member[m] != member || problems.ns[problem][m] <= 0) continue;
    const auto runs = static_cast<std::size_t>(std::count_if(
        problems.ns.begin(), problems.ns.end(), [m](const auto& ns) { return ns[m] > 0; }));
    const bool faster = problems.ns[problem][m] < problems.ns[problem][chosen];
    if (runs > most || (runs == most && faster)) {
      chosen = m;
      most = runs;
    }
  }
  return chosen;
}

class Reader {
 public:
  explicit Reader(const History& first) : first_(first) {
    const std::optional<FamilyNames> family = family_names(first.parameter_names());
    if (family) chooser_ = family->choice;
    problems_.members = family ? family->members : std::vector<std::string>{"direct"};
    problems_.dataset = first.kernel;
    problems_.device = first.device;
    problems_.inputs = first.inputs;
    for (std::size_t i = first.inputs.size(); i < first.shape.input_count(); ++i) {
      problems_.inputs.push_back("size_" + std::to_string(i));
    }
  }

  bool fits(const History& history) const {
    const std::vector<std::string> names = history.parameter_names();
    const std::vector<std::string> wanted = first_.parameter_names();
    return history.kernel == first_.kernel && history.device == first_.device &&
           history.shape.input_count() == first_.shape.input_count() &&
           names.size() == wanted.size() &&
           std::is_permutation(names.begin(), names.end(), wanted.begin());
  }

  // A problem that was measured several times is one problem.
  void add(const std::vector<const History*>& histories, bool seen) {
    for (const std::vector<std::size_t>& group : group_repeats(histories)) {
      std::vector<const History*> repeats;
      for (const std::size_t h : group) repeats.push_back(histories[h]);
      add(combine_repeats(repeats, first_.parameter_names()), seen);
    }
  }

  Problems finish() {
    for (std::vector<double>& ns : problems_.ns) ns.resize(problems_.methods(), 0.0);
    drop_constant_inputs();
    return std::move(problems_);
  }

 private:
  void add(const History& history, bool seen) {
    std::vector<double> ns(problems_.methods(), 0.0);
    for (std::size_t row = 0; row < history.rows(); ++row) {
      if (!history.correct(row)) continue;
      const std::size_t method = method_of(history.configuration(row));
      if (method >= ns.size()) ns.resize(method + 1, 0.0);
      ns[method] = history.run_time_ns(row);
    }
    if (std::all_of(ns.begin(), ns.end(), [](double time) { return time <= 0; })) return;
    std::vector<double> sizes;
    for (std::size_t i = 0; i < history.shape.input_count(); ++i) {
      sizes.push_back(history.shape.input(i));
    }
    const auto known_end = problems_.sizes.begin() + static_cast<std::ptrdiff_t>(problems_.seen);
    if (!seen && std::find(problems_.sizes.begin(), known_end, sizes) != known_end) return;
    problems_.seen += seen ? 1 : 0;
    problems_.sizes.push_back(std::move(sizes));
    problems_.group.push_back(problems_.group.size());
    problems_.ns.push_back(std::move(ns));
  }

  // What is the same everywhere tells nothing apart.
  void drop_constant_inputs() {
    for (std::size_t i = problems_.inputs.size(); i-- > 0 && problems_.inputs.size() > 1;) {
      const bool same =
          std::all_of(problems_.sizes.begin(), problems_.sizes.end(),
                      [&](const auto& sizes) { return sizes[i] == problems_.sizes.front()[i]; });
      if (!same) continue;
      const auto at = static_cast<std::ptrdiff_t>(i);
      problems_.inputs.erase(problems_.inputs.begin() + at);
      for (std::vector<double>& sizes : problems_.sizes) sizes.erase(sizes.begin() + at);
    }
  }

  std::size_t method_of(const Configuration& configuration) {
    const auto values = configuration.values();
    const auto [at, added] = numbers_.emplace(
        std::vector<std::int64_t>(values.begin(), values.end()), problems_.methods());
    if (added) {
      const std::int64_t member = chooser_ < configuration.size() ? configuration[chooser_] : 0;
      problems_.configurations.push_back(configuration);
      problems_.member.push_back(member < 0 ? 0 : static_cast<std::size_t>(member));
      while (problems_.members.size() <= problems_.member.back()) {
        problems_.members.push_back("member_" + std::to_string(problems_.members.size()));
      }
    }
    return at->second;
  }

  const History& first_;
  std::size_t chooser_ = std::numeric_limits<std::size_t>::max();  // of no family: there is none
  std::map<std::vector<std::int64_t>, std::size_t> numbers_;
  Problems problems_;
};

}  // namespace

std::size_t Problems::best(std::size_t problem) const {
  std::size_t best = methods();
  for (std::size_t m = 0; m < methods(); ++m) {
    if (ns[problem][m] <= 0) continue;
    if (best == methods() || ns[problem][m] < ns[problem][best]) best = m;
  }
  return best;
}

double Problems::quality(std::size_t problem, std::size_t method) const {
  const double time = ns[problem][method];
  return time > 0 ? ns[problem][best(problem)] / time : 0;
}

Rows all_rows(const Problems& problems) {
  Rows rows(problems.count());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

std::vector<std::size_t> covering_methods(const Problems& problems, const Rows& rows,
                                          std::size_t most) {
  std::vector<std::vector<float>> quality;
  for (const std::size_t p : rows) quality.push_back(qualities(problems, p));
  std::vector<float> covered(rows.size(), 0.0f);
  std::vector<std::size_t> chosen;
  while (chosen.size() < std::min(most, problems.methods())) {
    double best_gain = -1;
    std::size_t best = 0;
    for (std::size_t m = 0; m < problems.methods(); ++m) {
      double gain = 0;
      for (std::size_t r = 0; r < rows.size(); ++r) {
        gain += static_cast<double>(std::max(0.0f, quality[r][m] - covered[r]));
      }
      if (gain > best_gain) {
        best_gain = gain;
        best = m;
      }
    }
    if (!chosen.empty() && best_gain < kLeastCover * static_cast<double>(rows.size())) break;
    chosen.push_back(best);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      covered[r] = std::max(covered[r], quality[r][best]);
    }
  }
  return chosen;
}

std::vector<float> qualities(const Problems& problems, std::size_t problem) {
  std::vector<float> quality;
  const double best = problems.ns[problem][problems.best(problem)];
  for (const double time : problems.ns[problem]) {
    quality.push_back(time > 0 ? static_cast<float>(best / time) : 0.0f);
  }
  return quality;
}

Result<Problems> problems_of(Span<const History> histories, std::size_t seen) {
  if (histories.empty() || histories[0].shape.size() == 0) {
    return Status(StatusCode::invalid_argument,
                  "nothing to choose by: expected histories that know their problems' sizes");
  }
  Reader reader(histories[0]);
  std::vector<const History*> known;
  std::vector<const History*> others;
  for (std::size_t h = 0; h < histories.size(); ++h) {
    if (reader.fits(histories[h])) (h < seen ? known : others).push_back(&histories[h]);
  }
  reader.add(known, true);
  reader.add(others, false);
  Problems problems = reader.finish();
  problems.unfit = histories.size() - known.size() - others.size();
  if (problems.seen >= kLeastProblems) return problems;
  return Status(StatusCode::invalid_argument,
                std::to_string(problems.seen) +
                    (problems.seen == 1 ? " problem of " : " problems of ") + problems.dataset +
                    " on " + problems.device + ": expected at least 5 to learn and to test with");
}

std::size_t DefaultRoutine::at(const Problems& problems, std::size_t problem) const {
  const bool above = product(problems.sizes[problem]) > threshold;
  const std::vector<double>& times = problems.ns[problem];
  for (const std::size_t method : {above ? large : small, above ? small : large}) {
    if (times[method] > 0) return method;
  }
  return static_cast<std::size_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

double DefaultRoutine::ns(const Problems& problems, std::size_t problem) const {
  return problems.ns[problem][at(problems, problem)];
}

DefaultRoutine default_routine(const Problems& problems, const Rows& training) {
  DefaultRoutine usual;
  usual.small_at = nearest_to(problems, 256);
  usual.large_at = nearest_to(problems, 1024);
  const bool several = problems.members.size() > 1;
  usual.small = tuned_at(problems, several ? usual.small_at : usual.large_at, 0);
  usual.large = tuned_at(problems, usual.large_at, several ? 1 : 0);
  std::vector<double> cuts{0};
  for (const std::size_t p : training) cuts.push_back(product(problems.sizes[p]));
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  DefaultRoutine tried = usual;
  double best = -1;
  for (const double cut : cuts) {
    tried.threshold = cut;
    double sum = 0;
    for (const std::size_t p : training) {
      sum += problems.ns[p][problems.best(p)] / tried.ns(problems, p);
    }
    if (sum > best) {
      best = sum;
      usual.threshold = cut;
    }
  }
  return usual;
}

Score score(const Problems& problems, const Rows& rows, const std::vector<std::size_t>& choices,
            const DefaultRoutine& usual) {
  Score result;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t p = rows[i];
    const double before = usual.ns(problems, p);
    const std::size_t best = problems.best(p);
    const double chosen = problems.ns[p][choices[i]] > 0 ? problems.ns[p][choices[i]] : before;
    ratios.push_back(problems.ns[p][best] / chosen);
    result.accuracy += choices[i] == best ? 1 : 0;
    result.dtpr += ratios.back();
    result.dttr += before / chosen;
    result.peak += before / problems.ns[p][best];
  }
  if (rows.empty()) return result;
  const double count = static_cast<double>(rows.size());
  result.accuracy /= count;
  result.dtpr /= count;
  result.dttr /= count;
  result.peak /= count;
  std::sort(ratios.begin(), ratios.end());
  // Between the two neighbours, as NumPy does it.
  const double at = 0.1 * (count - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, ratios.size() - 1);
  result.p10 = ratios[low] + (at - std::floor(at)) * (ratios[high] - ratios[low]);
  return result;
}

std::vector<Split> folds_of(const Problems& problems, const Rows& rows, std::size_t folds,
                            std::uint64_t seed) {
  std::map<std::size_t, std::size_t> place;  // of a group
  for (const std::size_t p : rows) place.emplace(problems.group[p], place.size());
  const Permutation shuffled(place.size(), seed);
  std::vector<Split> splits(std::min(folds, place.size()));
  for (const std::size_t p : rows) {
    const std::size_t fold =
        static_cast<std::size_t>(shuffled(place[problems.group[p]])) % splits.size();
    for (std::size_t f = 0; f < splits.size(); ++f) {
      (f == fold ? splits[f].test : splits[f].training).push_back(p);
    }
  }
  return splits;
}

Split split_of(const Problems& problems, double share, std::uint64_t seed) {
  std::map<std::size_t, std::size_t> place;
  for (const std::size_t group : problems.group) place.emplace(group, place.size());
  const Permutation shuffled(place.size(), seed);
  const double wanted = share * static_cast<double>(place.size());
  Split split;
  for (std::size_t p = 0; p < problems.count(); ++p) {
    const auto at = static_cast<double>(shuffled(place[problems.group[p]]));
    (at + 0.5 < wanted ? split.training : split.test).push_back(p);
  }
  return split;
}

}  // namespace idletune::selection
