#include "agent/host/lab/verbs/retrained_selection.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/host/cli/interrupts.hpp"
#include "agent/retraining/measured_trees.hpp"

namespace idletune::cli {
namespace {

using detail::MeasuredRow;
using selection::Problems;
using selection::Rows;
using Methods = std::vector<std::size_t>;

// A tree's answer as a configuration.
struct Tree {
  detail::MeasuredLesson measured;
  selector::Grown grown;
  const Configuration& choose(const std::vector<double>& sizes) const {
    return measured.configurations[grown.choose(sizes)];
  }
};

MeasuredRow row_at(const Problems& problems, std::size_t problem, const Methods& methods,
                   const Configuration& old_pick) {
  std::vector<std::pair<std::uint64_t, double>> times;
  for (const std::size_t m : methods) {
    times.emplace_back(digest_of(problems.configurations[m]), problems.ns[problem][m]);
  }
  MeasuredRow row = detail::row_of(times, digest_of(old_pick));
  for (const double size : problems.sizes[problem]) {
    row.inputs.push_back(static_cast<std::int64_t>(size));
  }
  return row;
}

detail::MeasuredLesson lesson_of(const Problems& problems, const std::vector<MeasuredRow>& rows) {
  const std::vector<detail::Candidate> candidates = detail::candidates_of(rows);
  std::vector<Configuration> configurations;
  for (const detail::Candidate& candidate : candidates) {
    const auto same = [&](const Configuration& c) {
      return digest_of(c) == candidate.configuration;
    };
    configurations.push_back(
        *std::find_if(problems.configurations.begin(), problems.configurations.end(), same));
  }
  return detail::lesson_of(rows, candidates, std::move(configurations));
}

Rows first_of(Rows rows) {
  if (rows.size() > detail::kMaxRows) rows.resize(detail::kMaxRows);
  return rows;
}

// Of all methods at those problems; its kind by what trees do at those that they were grown without.
Tree tree_of(const Problems& problems, const Rows& learned) {
  Methods all(problems.methods());
  for (std::size_t m = 0; m < all.size(); ++m) all[m] = m;
  std::vector<MeasuredRow> rows;
  for (const std::size_t p : first_of(learned)) {
    rows.push_back(row_at(problems, p, all, problems.configurations[problems.best(p)]));
  }
  Tree tree{lesson_of(problems, rows), {}};
  detail::Contest contest(rows.size());
  while (contest.next(tree.measured, rows)) continue;
  tree.grown = contest.winner(tree.measured);
  return tree;
}

// The method of the configuration, else the default's at that problem.
std::size_t method_of(const Problems& problems, std::size_t problem,
                      const Configuration& configuration, const selection::DefaultRoutine& usual) {
  const auto found =
      std::find(problems.configurations.begin(), problems.configurations.end(), configuration);
  return found == problems.configurations.end()
             ? usual.at(problems, problem)
             : static_cast<std::size_t>(found - problems.configurations.begin());
}

selection::Score score_of(const Problems& problems, const Rows& test, const Tree& tree,
                          const selection::DefaultRoutine& usual) {
  Methods choices;
  for (const std::size_t p : test) {
    choices.push_back(method_of(problems, p, tree.choose(problems.sizes[p]), usual));
  }
  return selection::score(problems, test, choices, usual);
}

// What the board measured, and the tree that it uses then; nothing: the one that it began with.
bool replace(const Problems& here, const Rows& learned, const Tree& before, std::size_t measured,
             const selection::DefaultRoutine& usual, std::uint64_t seed, Tree& after) {
  Random random(seed);
  std::vector<MeasuredRow> rows;
  for (const std::size_t p : first_of(learned)) {
    const Configuration& pick = before.choose(here.sizes[p]);
    Methods tried{usual.small, usual.large, method_of(here, p, pick, usual)};
    for (std::size_t i = 0; i < measured; ++i) {
      tried.push_back(static_cast<std::size_t>(random.below(here.methods())));
    }
    std::sort(tried.begin(), tried.end());
    tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
    rows.push_back(row_at(here, p, tried, pick));
  }
  after.measured = lesson_of(here, rows);
  detail::Contest contest(rows.size());
  while (contest.next(after.measured, rows)) continue;
  if (!contest.comparison().better()) return false;
  after.grown = contest.winner(after.measured);
  return true;
}

}  // namespace

RetrainedScores retrained_selection(const Problems& here, const Problems& there,
                                    std::size_t measured,
                                    const selection::EvaluationOptions& options) {
  RetrainedScores scores;
  const Tree before = tree_of(there, selection::all_rows(there));
  for (std::size_t s = 0; s < options.splits && (s == 0 || !interrupted()); ++s) {
    ++scores.splits;
    const selection::Split split = selection::split_of(here, options.share, options.seed + s);
    const selection::DefaultRoutine usual = selection::default_routine(here, split.training);
    Tree after;
    const bool better =
        replace(here, split.training, before, measured, usual, options.seed + s, after);
    scores.replaced += better;
    scores.before.add(score_of(here, split.test, before, usual));
    scores.after.add(score_of(here, split.test, better ? after : before, usual));
    scores.native.add(score_of(here, split.test, tree_of(here, split.training), usual));
  }
  return scores;
}

}  // namespace idletune::cli
