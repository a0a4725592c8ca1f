// idletune offload evaluate: how good predictions are for groups that nothing was learned from.
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "agent/cli/explanation_output.hpp"
#include "agent/cli/offload_draws.hpp"
#include "agent/cli/offload_samples.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/report/offload_page.hpp"
#include "agent/cli/verbs_offload.hpp"
#include "models/offload/evaluation.hpp"
#include "models/offload/few_measured.hpp"
#include "models/offload/new_device.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

using offload::Figures;
using offload::GroupBy;
using offload::LeftOut;
using offload::SampleSet;

struct EvaluateArguments {
  SampleFiles files;
  LearnerArguments learner;
  std::string leave_out = "program";
  std::vector<double> measured{0, 3, 5, 10};
  std::uint64_t folds = 8;
  bool no_leaky = false;
  DrawArguments draws;
  std::string page;
};

nlohmann::json json_of(const Figures& f) {
  return {{"groups", f.groups},
          {"samples", f.samples},
          {"error",
           {{"mean", f.error_mean},
            {"median", f.error_median},
            {"published", f.error_published},
            {"logarithm", f.error_log}}},
          {"coverage",
           {{"p80", f.coverage80},
            {"p90", f.coverage90},
            {"width80", f.width80},
            {"p80_answered", number_or_null(f.coverage80_answered)}}},
          {"choice",
           {{"ratio", f.ratio},
            {"always_cpu", f.always_cpu},
            {"always_gpu", f.always_gpu},
            {"geometric", f.ratio_geometric},
            {"always_cpu_geometric", f.always_cpu_geometric},
            {"always_gpu_geometric", f.always_gpu_geometric},
            {"right", f.right}}},
          {"unknown", f.unknown},
          {"wrong", f.wrong}};
}

nlohmann::json parts_of(const SampleSet& set, const std::vector<LeftOut>& results, GroupBy by) {
  std::map<std::string, std::vector<LeftOut>> parts;
  for (const LeftOut& one : results)
    parts[offload::group_of(set.samples[one.sample], by)].push_back(one);
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, part] : parts) {
    nlohmann::json figures = json_of(offload::figures_of(set, part));
    figures["group"] = name;
    list.push_back(std::move(figures));
  }
  return list;
}

// By speed-up of the GPU, as the publication's classes.
nlohmann::json classes_of(const SampleSet& set, const std::vector<LeftOut>& results) {
  const std::vector<double> limits{1, 4, 10, 25, 100, HUGE_VAL};
  std::vector<std::vector<LeftOut>> parts(limits.size());
  for (const LeftOut& one : results) {
    const offload::Sample& sample = set.samples[one.sample];
    std::size_t k = 0;
    while (sample.cpu_ms / sample.best_gpu_ms() > limits[k]) ++k;
    parts[k].push_back(one);
  }
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].empty()) continue;
    nlohmann::json figures = json_of(offload::figures_of(set, parts[k]));
    figures["up_to"] = number_or_null(limits[k]);
    list.push_back(std::move(figures));
  }
  return list;
}

nlohmann::json risk_of(const SampleSet& set, const std::vector<LeftOut>& results) {
  nlohmann::json list = nlohmann::json::array();
  for (const offload::RiskPoint& point : offload::risk_curve(set, results)) {
    list.push_back({{"answered", point.answered},
                    {"wrong", point.wrong},
                    {"regret_ms", point.regret},
                    {"expected_ms", point.expected}});
  }
  return list;
}

std::string percent(const nlohmann::json& share) {
  return share.is_null() ? "-" : format_percent(share.get<double>());
}

void print_figures(const nlohmann::json& result, const CliContext& context) {
  TextTable table({{"samples of"},
                   {"number", Align::right},
                   {"median error", Align::right},
                   {"mean error", Align::right},
                   {"80 % covers", Align::right},
                   {"time / best", Align::right},
                   {"CPU", Align::right},
                   {"GPU", Align::right},
                   {"per sample", Align::right},
                   {"unknown", Align::right},
                   {"wrong", Align::right}});
  const auto row = [&](const std::string& name, const nlohmann::json& f) {
    table.add_row(
        {name, f["samples"].dump(), percent(f["error"]["median"]), percent(f["error"]["mean"]),
         percent(f["coverage"]["p80"]), format_number(f["choice"]["ratio"], 3),
         format_number(f["choice"]["always_cpu"], 2), format_number(f["choice"]["always_gpu"], 2),
         format_number(f["choice"]["geometric"], 3), percent(f["unknown"]), percent(f["wrong"])});
  };
  row("all, " + result["left_out"].get<std::string>() + " left out", result);
  if (result.contains("leaky")) row("all, random tenths left out (leaky)", result["leaky"]);
  for (const auto& part : result["parts"]) row(part["group"], part);
  context.print(table);
}

void print_few_measured(const nlohmann::json& list, const CliContext& context) {
  if (list.empty()) return;
  TextTable table({{"measured, of " + list[0]["groups"].dump() + " groups", Align::right},
                   {"median error", Align::right},
                   {"80 % covers", Align::right},
                   {"90 % covers", Align::right},
                   {"80 % width", Align::right},
                   {"per sample", Align::right},
                   {"unknown", Align::right},
                   {"wrong", Align::right}});
  for (const auto& f : list) {
    const auto& width = f["coverage"]["width80"];
    table.add_row(
        {f["measured"].dump(), percent(f["error"]["median"]), percent(f["coverage"]["p80"]),
         percent(f["coverage"]["p90"]), width.is_null() ? "-" : format_number(width, 1),
         format_number(f["choice"]["geometric"], 3), percent(f["unknown"]), percent(f["wrong"])});
  }
  context.print(table);
}

Status write_page(const nlohmann::json& result, const std::string& path) {
  const std::string html = report::html_of(report::offload_page(result));
  return write_file_atomically(
      path, Bytes(reinterpret_cast<const std::uint8_t*>(html.data()), html.size()));
}

void answer_with(nlohmann::json result, const EvaluateArguments& arguments, const SampleSet& set,
                 CliContext& context) {
  result["remarks"] = set.remarks;
  result["device"] = set.device;
  if (!arguments.page.empty()) {
    if (Status s = write_page(result, arguments.page); !s.ok()) return context.fail(s);
  }
  if (context.json()) return context.print_json({{"results", {result}}});
  if (!set.device.empty()) context.print("GPU: " + set.device + "\n");
  for (const std::string& remark : set.remarks) context.print(remark + "\n");
  print_figures(result, context);
  if (result.contains("measured")) print_few_measured(result["measured"], context);
}

offload::PredictorOptions predictor_options(const EvaluateArguments& arguments) {
  offload::PredictorOptions options;
  options.learner = speedup_options(arguments.learner);
  options.folds = static_cast<std::size_t>(arguments.folds);
  return options;
}

// Which finer groups a result is told by.
GroupBy told_by(GroupBy left_out) {
  switch (left_out) {
    case GroupBy::program: return GroupBy::suite;
    case GroupBy::network: return GroupBy::kind;
    default: return left_out;
  }
}

void evaluate_groups(const EvaluateArguments& arguments, const SampleSet& set, GroupBy group,
                     CliContext& context) {
  const offload::PredictorOptions options = predictor_options(arguments);
  Progress progress("leaving out", 0, context.json());
  const auto results =
      offload::leave_out(set, group, 0, options, [&](std::size_t done, std::size_t) {
        progress.update(done);
        return !interrupted();
      });
  progress.clear();
  if (!results.ok()) return context.fail(results.status());
  nlohmann::json result = json_of(offload::figures_of(set, *results));
  result["set"] = set.name;
  result["left_out"] = arguments.leave_out;
  result["learner"] = arguments.learner.method;
  result["seed"] = arguments.learner.seed;
  if (!arguments.no_leaky && !interrupted()) {
    const auto leaky = offload::leave_random_out(set, options);
    if (!leaky.ok()) return context.fail(leaky.status());
    result["leaky"] = json_of(offload::figures_of(set, *leaky));
  }
  result["parts"] = parts_of(set, *results, told_by(group));
  result["by_group"] = parts_of(set, *results, group);
  result["classes"] = classes_of(set, *results);
  result["risk"] = risk_of(set, *results);
  answer_with(std::move(result), arguments, set, context);
}

void evaluate_devices(const EvaluateArguments& arguments, const SampleSet& set,
                      CliContext& context) {
  nlohmann::json results = nlohmann::json::array();
  TextTable table({{"device"},
                   {"measured on it", Align::right},
                   {"median error", Align::right},
                   {"mean |ln|", Align::right},
                   {"per sample", Align::right},
                   {"CPU", Align::right},
                   {"GPU", Align::right}});
  for (std::size_t d = 0; d < set.variants.size() && !interrupted(); ++d) {
    for (const double measured : arguments.measured) {
      offload::NewDeviceOptions options;
      options.learner = speedup_options(arguments.learner);
      options.measured = static_cast<std::size_t>(measured);
      const auto result = offload::evaluate_new_device(set, d, options);
      if (!result.ok()) return context.fail(result.status());
      results.push_back(
          {{"set", set.name},
           {"device", set.variants[d]},
           {"measured", options.measured},
           {"error", {{"median", result->error_median}, {"logarithm", result->error_log}}},
           {"choice",
            {{"geometric", result->ratio_geometric},
             {"always_cpu_geometric", result->always_cpu_geometric},
             {"always_gpu_geometric", result->always_gpu_geometric}}}});
      table.add_row({set.variants[d], std::to_string(options.measured),
                     percent(result->error_median), format_number(result->error_log, 2),
                     format_number(result->ratio_geometric, 3),
                     format_number(result->always_cpu_geometric, 2),
                     format_number(result->always_gpu_geometric, 2)});
    }
  }
  if (context.json()) return context.print_json({{"results", results}});
  context.print(table);
}

// What some measured samples of the set would add to the model; empty where groups are too few.
nlohmann::json with_few_of(const EvaluateArguments& arguments, const SampleSet& set,
                           const std::vector<LeftOut>& results) {
  constexpr std::size_t kDraws = 100;
  std::vector<double> predicted;
  for (const LeftOut& one : results) predicted.push_back(one.prediction.log_speedup);
  nlohmann::json list = nlohmann::json::array();
  for (const double measured : arguments.measured) {
    const auto few = offload::with_few_measured(set, predicted, GroupBy::program,
                                                static_cast<std::size_t>(measured), kDraws,
                                                arguments.learner.seed);
    if (!few.ok()) continue;
    list.push_back({{"measured", few->measured},
                    {"groups", few->groups},
                    {"draws", kDraws},
                    {"error", {{"median", few->error_median}}},
                    {"coverage",
                     {{"p80", few->coverage80},
                      {"p90", few->coverage90},
                      {"width80", number_or_null(few->width80)}}},
                    {"choice", {{"geometric", few->ratio_geometric}}},
                    {"unknown", few->unknown},
                    {"wrong", few->wrong}});
  }
  return list;
}

void evaluate_model(const EvaluateArguments& arguments, CliContext& context) {
  const auto model = read_model(arguments.files.set);
  if (!model.ok()) return context.fail(model.status());
  SampleFiles files = arguments.files;
  files.set.clear();
  const auto set = read_samples(files);
  if (!set.ok()) return context.fail(set.status());
  if (Status s = check_features(arguments.files.set, model->set.features, set->features); !s.ok())
    return context.fail(s);
  const auto predictor = offload::Predictor::learn(model->set, model->options);
  if (!predictor.ok()) return context.fail(predictor.status());
  std::vector<LeftOut> results;
  for (std::size_t i = 0; i < set->samples.size(); ++i) {
    const offload::Sample& sample = set->samples[i];
    results.push_back(
        {i, offload::group_of(sample, model->options.group), predictor->predict(sample)});
  }
  nlohmann::json result = json_of(offload::figures_of(*set, results));
  result["set"] = set->name;
  result["left_out"] = "nothing";
  result["parts"] = parts_of(*set, results, told_by(model->options.group));
  result["measured"] = with_few_of(arguments, *set, results);
  answer_with(std::move(result), arguments, *set, context);
}

void run_evaluate(const EvaluateArguments& arguments, CliContext& context) {
  catch_interrupts();
  const std::string& name = arguments.files.set;
  if (name.size() > 8 && name.compare(name.size() - 8, 8, ".itmodel") == 0)
    return evaluate_model(arguments, context);
  const auto set = read_samples(arguments.files);
  if (!set.ok()) return context.fail(set.status());
  if (arguments.leave_out == "device") return evaluate_devices(arguments, *set, context);
  const auto group = offload::group_by_name(arguments.leave_out);
  if (!group.ok()) return context.fail(group.status());
  if (arguments.draws.draws > 0)
    return evaluate_with_draws(arguments.draws, arguments.learner, *group, *set, context);
  evaluate_groups(arguments, *set, *group, context);
}

}  // namespace

void add_offload_evaluate_verb(Verb& offload, CliContext& context) {
  auto arguments = std::make_shared<EvaluateArguments>();
  Verb verb = offload.add_verb("evaluate", "tells how good predictions are for what was left out");
  verb.option("set", arguments->files.set,
              "Table of kernels with features and times, profiles (.json) with --times, or a model "
              "(.itmodel) to try on --times and --shapes");
  add_sample_options(verb, arguments->files);
  verb.option("--leave-out", arguments->leave_out,
              "Groups that are left out in turn: kernel, program, suite, network, kind or device")
      .one_of({"kernel", "program", "suite", "network", "kind", "device"})
      .shows_default();
  verb.option("--measured", arguments->measured,
              "Kernels measured on a device that is left out, or of those that a model is tried on")
      .separated_by_commas()
      .one_at_a_time();
  verb.option("--folds", arguments->folds, "Parts that intervals are learned from")
      .between(2, 100)
      .shows_default();
  verb.flag("--no-leaky", arguments->no_leaky, "Without the random split beside the honest one");
  add_draw_options(verb, arguments->draws);
  verb.option("--page", arguments->page, "Also write a page (HTML) with tables and pictures")
      .value_name("FILE");
  add_learner_options(verb, arguments->learner);
  verb.example("offload evaluate --times layers.csv.gz --shapes shapes.csv --leave-out network");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run_evaluate(*arguments, context); });
}

}  // namespace idletune::cli
