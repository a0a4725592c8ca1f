// idletune lab formats H...: how well formats, kernels and work groups are chosen for matrices that
// were left out.

#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/lab/learners/sparse_evaluation.hpp"
#include "agent/host/lab/learners/support_vectors.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/lab/verbs/published_tables.hpp"
#include "models/host/learners/nearest_neighbors.hpp"
#include "models/host/learners/tree_learners.hpp"

namespace idletune::cli {
namespace {

using sparse::ChoiceQuality;
using sparse::Chooser;
using sparse::Table;

std::vector<std::pair<std::string, Chooser>> choosers() {
  return {
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
       })},
      {"svm",
       sparse::choose_by_class([] { return std::make_unique<learners::SupportVectorLearner>(); })},
      {"one for all", sparse::choose_one_for_all}};
}

json object_of(const ChoiceQuality& quality) {
  return joined(IDLETUNE_FIELDS(quality, chooser, matrices, kept, worst, worst_matrix,
                                within_5_percent, format_kept, format_within_5_percent),
                {{"balanced_accuracy", positive_or_null(quality.balanced_accuracy)},
                 {"kernel_kept", positive_or_null(quality.kernel_kept)},
                 {"work_group_kept", positive_or_null(quality.work_group_kept)},
                 {"kept_in_other_samples", quality.kept_again},
                 {"within_5_percent_in_other_samples", quality.within_5_percent_again},
                 {"format_kept_in_other_samples", quality.format_kept_again}});
}

std::string known_percent(double share) { return share > 0 ? report::percent_text(share) : "-"; }

void print(const Table& table, const std::vector<ChoiceQuality>& qualities,
           const CliContext& context) {
  context.print("\nproducts on " + table.device + ", numbers of " +
                std::to_string(table.number_bytes) + " bytes, each of " +
                std::to_string(table.matrices.size()) +
                " matrices (of made-up ones each family) chosen for by the others:\n");
  TextTable text({"  learner", ">speed kept", ">worst", "on", ">within 5 %", ">balanced accuracy",
                  ">format alone", ">within 5 %", ">kernel alone", ">work group alone",
                  ">in other samples", ">within 5 %", ">format alone"});
  for (const ChoiceQuality& quality : qualities) {
    text.add_row(
        {"  " + quality.chooser, report::percent_text(quality.kept),
         report::percent_text(quality.worst), quality.worst_matrix,
         report::percent_text(quality.within_5_percent), known_percent(quality.balanced_accuracy),
         report::percent_text(quality.format_kept),
         report::percent_text(quality.format_within_5_percent), known_percent(quality.kernel_kept),
         known_percent(quality.work_group_kept), report::percent_text(quality.kept_again),
         report::percent_text(quality.within_5_percent_again),
         report::percent_text(quality.format_kept_again)});
  }
  context.print(text);
}

// By what the model has, and by other learners. Prints a table unless it is for JSON.
json report_choices(const std::vector<const History*>& histories, const CliContext& context) {
  json devices = json::array();
  for (const Table& table : sparse::tables_of(histories)) {
    std::vector<ChoiceQuality> qualities;
    qualities.push_back(sparse::evaluate_oracle(table));
    for (const auto& [name, chooser] : choosers())
      qualities.push_back(sparse::evaluate(table, name, chooser));
    if (!context.json()) print(table, qualities, context);
    devices.push_back(
        {{"device", table.device},
         {"number_bytes", table.number_bytes},
         {"matrices", table.matrices.size()},
         {"learners", list_of(qualities, [](const auto& one) { return object_of(one); })}});
  }
  return devices;
}

struct FormatsArguments {
  std::vector<std::string> histories;
  bool as_published = false;
  bool emulated = false;
};

void run_formats(const FormatsArguments& arguments, CliContext& context) {
  const auto histories = must(load_histories(arguments.histories, arguments.emulated));
  const auto pointers = pointers_to(histories);
  const json answer = arguments.as_published ? report_as_published(pointers, context)
                                             : report_choices(pointers, context);
  if (answer.empty()) {
    return context.fail(Status(StatusCode::invalid_argument,
                               "no history is of a sparse matrix (see explore --problem)"));
  }
  if (context.json())
    context.print_json({{arguments.as_published ? "as_published" : "products", answer}});
}

}  // namespace

void add_lab_formats_verb(Verb& lab, CliContext& context) {
  auto arguments = std::make_shared<FormatsArguments>();
  Verb verb = lab.add_verb(
      "formats", "tells how well formats of sparse matrices are chosen, for matrices left out");
  verb.required("histories", arguments->histories,
                "Histories of products with sparse matrices (explore --problem)");
  verb.flag("--as-published", arguments->as_published,
            "Learn as Li & Suda 2012 did, and print their tables 4 to 7 beside ours");
  add_emulated(verb, arguments->emulated);
  verb.example("lab formats histories");
  verb.runs([arguments, &context] { run_formats(*arguments, context); });
}

}  // namespace idletune::cli
