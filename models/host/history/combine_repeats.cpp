#include "models/host/history/combine_repeats.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "models/core/digest.hpp"
#include "models/core/median.hpp"

namespace idletune {

namespace {

struct Gathered {
  Configuration configuration;
  std::vector<double> run_times_ns;
  std::vector<double> compile_times_ns;
  std::size_t rows = 0;
  TrialStatus failure = TrialStatus::constraints;  // if any row failed
  bool drawn = false;
};

double median_or_none(const std::vector<double>& values) {
  return values.empty() ? kNoTime : median_of(values);
}

class Gatherer {
 public:
  Gathered& at(const Configuration& configuration) {
    const std::uint64_t key = digest_of(configuration);
    const auto [first, last] = index_.equal_range(key);
    for (auto i = first; i != last; ++i) {
      if (all_[i->second].configuration == configuration) return all_[i->second];
    }
    index_.emplace(key, all_.size());
    all_.emplace_back();
    all_.back().configuration = configuration;
    return all_.back();
  }
  std::vector<Gathered>& all() { return all_; }

 private:
  std::unordered_multimap<std::uint64_t, std::size_t> index_;
  std::vector<Gathered> all_;
};

// Where each of `names` is among the history's parameters.
std::vector<const CellColumn*> columns_of(const History& history,
                                          const std::vector<std::string>& names) {
  std::vector<const CellColumn*> columns;
  for (const std::string& name : names) {
    for (const CellColumn& column : history.parameters) {
      if (column.name() == name) columns.push_back(&column);
    }
  }
  return columns;
}

void gather(const History& history, const std::vector<std::string>& names, Gatherer& gatherer,
            std::vector<CellColumn>& parameters) {
  const auto columns = columns_of(history, names);
  const CellColumn* proposals = history.proposals();
  for (std::size_t row = 0; row < history.rows(); ++row) {
    Configuration configuration;
    for (const CellColumn* column : columns) configuration.push_back(column->code(row));
    Gathered& gathered = gatherer.at(configuration);
    if (gathered.rows == 0) {
      for (std::size_t p = 0; p < columns.size(); ++p) parameters[p].push_from(*columns[p], row);
    }
    if (history.correct(row)) {
      gathered.run_times_ns.push_back(history.run_time_ns(row));
    } else if (gathered.failure == TrialStatus::constraints ||
               (history.status[row] != TrialStatus::constraints &&
                history.status[row] < gathered.failure)) {
      gathered.failure = history.status[row];
    }
    ++gathered.rows;
    gathered.drawn = gathered.drawn || drawn_uniformly(proposals, row);
    if (std::isfinite(history.compile_time[row])) {
      gathered.compile_times_ns.push_back(history.compile_time_ns(row));
    }
  }
}

}  // namespace

History combine_repeats(const std::vector<const History*>& repeats) {
  return combine_repeats(repeats, repeats.front()->parameter_names());
}

History combine_repeats(const std::vector<const History*>& repeats,
                        const std::vector<std::string>& names) {
  const History& first = *repeats.front();
  History combined;
  combined.kernel = first.kernel;
  combined.device = first.device;
  combined.driver = first.driver;
  combined.shape = first.shape;
  combined.inputs = first.inputs;
  for (const std::string& name : names) combined.parameters.emplace_back(name);
  Gatherer gatherer;
  bool chosen = false;
  bool whole = false;
  for (const History* history : repeats) {
    gather(*history, names, gatherer, combined.parameters);
    chosen = chosen || history->proposals() != nullptr;
    whole = whole || history->valid_count == 0;
    combined.valid_count = std::max(combined.valid_count, history->valid_count);
  }
  if (whole) combined.valid_count = 0;
  if (chosen) combined.extras.emplace_back(kProposalColumn);
  for (Gathered& gathered : gatherer.all()) {
    if (chosen) combined.extras[0].push_text(gathered.drawn ? kUniformDraw : "chosen");
    const bool correct = 2 * gathered.run_times_ns.size() >= gathered.rows;
    combined.status.push_back(correct ? TrialStatus::correct : gathered.failure);
    combined.run_time.push_back(correct ? median_or_none(gathered.run_times_ns) : kNoTime);
    combined.compile_time.push_back(median_or_none(gathered.compile_times_ns));
    combined.sample_count.push_back(0);
  }
  return combined;
}

}  // namespace idletune
