// idletune offload learn: a model of what CPU code would take on a GPU.

#include "agent/host/cli/offload_samples.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

namespace {

struct OffloadLearnArguments {
  SampleFiles files;
  LearnerArguments learner;
  std::string group = "program";
  std::string output;
};

// The terms that most of the models have, and how many terms a model has.
json terms_of(const learners::StepwiseEnsemble& ensemble, const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> counts;
  std::size_t terms = 0;
  for (const learners::StepwiseModel& model : ensemble.models) {
    terms += model.terms.size();
    for (const learners::StepwiseTerm& term : model.terms) {
      ++counts[term.other == learners::StepwiseTerm::kNone
                   ? names[term.feature]
                   : names[term.feature] + ":" + names[term.other]];
    }
  }
  std::multimap<std::size_t, std::string, std::greater<>> by_count;
  for (const auto& [term, count] : counts) by_count.emplace(count, term);
  json frequent = json::array();
  for (const auto& [count, term] : by_count) {
    if (frequent.size() < 10) frequent.push_back({{"term", term}, {"models", count}});
  }
  return {{"per_model", static_cast<double>(terms) / static_cast<double>(ensemble.models.size())},
          {"frequent", frequent}};
}

void run_learn(const OffloadLearnArguments& arguments, CliContext& context) {
  auto set = must(read_samples(arguments.files));
  const auto group = must(offload::group_by_name(arguments.group));
  offload::OffloadModel model{std::move(set), {}};
  model.options.learner = speedup_options(arguments.learner);
  model.options.group = group;
  const auto predictor = must(offload::Predictor::learn(model.set, model.options));
  const auto bytes = offload::write_offload_model(model);
  const bool written = context.write({{arguments.output, FileKind::model, bytes}});

  std::vector<std::string> remarks = model.set.remarks;
  for (const std::string& remark : predictor.learner().remarks()) remarks.push_back(remark);
  json answer = {{"file", arguments.output},
                 {"bytes", bytes.size()},
                 {"set", model.set.name},
                 {"device", model.set.device},
                 {"samples", model.set.samples.size()},
                 {"features", model.set.features.names},
                 {"remarks", remarks}};
  if (const auto* ensemble = predictor.learner().ensemble())
    answer["terms"] = terms_of(*ensemble, predictor.learner().columns());
  if (context.json()) return context.print_json(answer);
  for (const std::string& remark : remarks) context.print(remark + "\n");
  if (answer.contains("terms")) {
    TextTable table({"term", ">models"});
    for (const auto& term : answer["terms"]["frequent"])
      table.add_row({term["term"].get<std::string>(), term["models"].dump()});
    context.print(table);
  }
  context.print_paragraph(
      "Learned from " + report::counted(model.set.samples.size(), "sample", "samples") +
      (written
           ? "; " + report::count_text(bytes.size()) + " bytes written to " + arguments.output + "."
           : "."));
}

}  // namespace

void add_offload_learn_verb(Verb& offload, CliContext& context) {
  auto arguments = std::make_shared<OffloadLearnArguments>();
  Verb verb = offload.add_verb("learn", "makes a model of what CPU code would take on a GPU");
  verb.option("set", arguments->files.set,
              "Table of kernels with features and times, or profiles (.json) with --times");
  add_sample_options(verb, arguments->files);
  verb.option("--group", arguments->group,
              "What samples that resemble each other share: kernel, program, suite, network, kind");
  add_learner_options(verb, arguments->learner);
  verb.required("-o,--output", arguments->output, "Model to write").writes(FileKind::model);
  verb.example(
      "offload learn --times layers.csv.gz --shapes shapes.csv --group network -o m.itmodel");
  verb.runs([arguments, &context] { run_learn(*arguments, context); });
}

}  // namespace idletune::cli
