#include "agent/cli/sparse_learning.hpp"

#include <memory>

#include <nlohmann/json.hpp>

#include "agent/cli/explanation_output.hpp"
#include "agent/cli/lab.hpp"
#include "models/forest/nearest_neighbors.hpp"
#include "models/forest/tree_learners.hpp"

namespace idletune::cli {
namespace {

using sparse::ChoiceQuality;
using sparse::Chooser;
using sparse::Table;

std::vector<std::pair<std::string, Chooser>> choosers() {
  std::vector<std::pair<std::string, Chooser>> all{
      {"times", sparse::choose_by_times},
      {"cart", sparse::choose_by_class([] { return std::make_unique<learners::CartLearner>(); })},
      {"forest",
       sparse::choose_by_class([] { return std::make_unique<learners::ForestLearner>(); })},
      {"forest, then for all",
       sparse::choose_in_two_stages([] { return std::make_unique<learners::ForestLearner>(); })},
      {"knn", sparse::choose_by_class([] {
         learners::NeighborOptions options;
         options.standardize = true;
         return std::make_unique<learners::NearestNeighbors>(options);
       })}};
  if (make_lab_learner("svr") != nullptr)
    all.emplace_back("svm", sparse::choose_by_class([] { return make_lab_learner("svr"); }));
  all.emplace_back("one for all", sparse::choose_one_for_all);
  return all;
}

nlohmann::json object_of(const ChoiceQuality& quality) {
  return {{"chooser", quality.chooser},
          {"matrices", quality.matrices},
          {"kept", quality.kept},
          {"worst", quality.worst},
          {"worst_matrix", quality.worst_matrix},
          {"within_5_percent", quality.within_5_percent},
          {"balanced_accuracy", quality.balanced_accuracy},
          {"format_kept", quality.format_kept},
          {"format_within_5_percent", quality.format_within_5_percent},
          {"kernel_kept", quality.kernel_kept},
          {"work_group_kept", quality.work_group_kept},
          {"kept_in_other_samples", quality.kept_again},
          {"within_5_percent_in_other_samples", quality.within_5_percent_again},
          {"format_kept_in_other_samples", quality.format_kept_again}};
}

std::string known_percent(double share) { return share > 0 ? format_percent(share) : "-"; }

void print(const Table& table, const std::vector<ChoiceQuality>& qualities,
           const CliContext& context) {
  context.print("\nproducts on " + table.device + ", numbers of " +
                std::to_string(table.number_bytes) + " bytes, each of " +
                std::to_string(table.matrices.size()) +
                " matrices (of made-up ones each family) chosen for by the others:\n");
  TextTable text({{"  learner"},
                  {"speed kept", Align::right},
                  {"worst", Align::right},
                  {"on"},
                  {"within 5 %", Align::right},
                  {"balanced accuracy", Align::right},
                  {"format alone", Align::right},
                  {"within 5 %", Align::right},
                  {"kernel alone", Align::right},
                  {"work group alone", Align::right},
                  {"in other samples", Align::right},
                  {"within 5 %", Align::right},
                  {"format alone", Align::right}});
  for (const ChoiceQuality& quality : qualities) {
    text.add_row(
        {"  " + quality.chooser, format_percent(quality.kept), format_percent(quality.worst),
         quality.worst_matrix, format_percent(quality.within_5_percent),
         known_percent(quality.balanced_accuracy), format_percent(quality.format_kept),
         format_percent(quality.format_within_5_percent), known_percent(quality.kernel_kept),
         known_percent(quality.work_group_kept), format_percent(quality.kept_again),
         format_percent(quality.within_5_percent_again),
         format_percent(quality.format_kept_again)});
  }
  context.print(text);
}

}  // namespace

nlohmann::json report_choices(const std::vector<const History*>& histories,
                              const CliContext& context) {
  nlohmann::json devices = nlohmann::json::array();
  for (const Table& table : sparse::tables_of(histories)) {
    std::vector<ChoiceQuality> qualities;
    nlohmann::json learners = nlohmann::json::array();
    qualities.push_back(sparse::evaluate_oracle(table));
    learners.push_back(object_of(qualities.back()));
    for (const auto& [name, chooser] : choosers()) {
      qualities.push_back(sparse::evaluate(table, name, chooser));
      learners.push_back(object_of(qualities.back()));
    }
    if (!context.json()) print(table, qualities, context);
    devices.push_back({{"device", table.device},
                       {"number_bytes", table.number_bytes},
                       {"matrices", table.matrices.size()},
                       {"learners", std::move(learners)}});
  }
  return devices.empty() ? nlohmann::json(nullptr) : devices;
}

}  // namespace idletune::cli
