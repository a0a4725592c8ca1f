// idletune lab offload: how good predictions are for groups that nothing was learned from.

#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/offload_samples.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/lab/learners/support_vectors.hpp"
#include "agent/host/lab/offload/draws.hpp"
#include "agent/host/lab/offload/evaluation.hpp"
#include "agent/host/lab/offload/few_measured.hpp"
#include "agent/host/lab/offload/new_device.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/lab/verbs/offload_page.hpp"

namespace idletune::cli {

namespace {

// Support vectors, too.
offload::SpeedupOptions options_of(const LearnerArguments& arguments) {
  offload::SpeedupOptions options = speedup_options(arguments);
  options.make_other = [](std::string_view) {
    return std::make_unique<learners::SupportVectorLearner>();
  };
  return options;
}

struct DrawArguments {
  std::uint64_t draws = 0;  // 0: another protocol
  std::uint64_t tests = 10;
  bool derived = false;
};

// The publication's classes of speed-up end there.
constexpr double kClasses[] = {1, 4, 10, 25, 100, HUGE_VAL};

json classes_of(const offload::SampleSet& set, const offload::DrawResult& result) {
  json list = json::array();
  double from = 0;
  for (const double limit : kClasses) {
    std::size_t count = 0;
    std::size_t in_range = 0;
    double error = 0;
    double log_error = 0;
    for (const offload::DrawTest& test : result.tests) {
      const offload::Sample& sample = set.samples[test.sample];
      const double speedup = sample.cpu_ms / sample.best_gpu_ms();
      if (!(speedup > from && speedup <= limit)) continue;
      const double predicted = std::exp(test.log_speedup);
      const double off = std::abs(1 - predicted / speedup);
      ++count;
      in_range += predicted > from && predicted <= limit ? 1 : 0;
      error += off;
      log_error += std::log(std::max(1e-6, off));
    }
    if (count > 0) {
      const auto n = static_cast<double>(count);
      list.push_back({{"up_to", finite_or_null(limit)},
                      {"tests", count},
                      {"mean", error / n},
                      {"geometric", std::exp(log_error / n)},
                      {"range_right", static_cast<double>(in_range) / n}});
    }
    from = limit;
  }
  return list;
}

void print_classes(const json& classes, const CliContext& context) {
  TextTable by_class(
      {">speed-up up to", ">tests", ">mean error", ">geometric mean", ">range right"});
  for (const auto& one : classes) {
    by_class.add_row({one["up_to"].is_null() ? "any" : format_number(one["up_to"], 0),
                      report::count_text(one["tests"].get<std::uint64_t>()),
                      report::percent_text(one["mean"]), report::percent_text(one["geometric"]),
                      report::percent_text(one["range_right"])});
  }
  context.print(by_class);
}

Argument add_draw_options(Verb& verb, DrawArguments& arguments) {
  const Argument draws = verb.option("--draws", arguments.draws,
                                     "Instead of leaving out each group: so many times draw tests "
                                     "of different groups, and learn from the other groups")
                             .between(1, 10000);
  verb.option("--tests", arguments.tests, "Samples that are drawn each time")
      .between(1, 1000)
      .needs(draws);
  verb.flag("--derived", arguments.derived, "Draw samples of the suite 'derived', too")
      .needs(draws);
  return draws;
}

void evaluate_with_draws(const DrawArguments& arguments, const LearnerArguments& learner,
                         offload::GroupBy group, const offload::SampleSet& set,
                         CliContext& context) {
  offload::DrawOptions options;
  options.learner = options_of(learner);
  options.group = group;
  options.draws = static_cast<std::size_t>(arguments.draws);
  options.tests = static_cast<std::size_t>(arguments.tests);
  options.derived = arguments.derived;
  const bool sweeps = learner.method == "published" || learner.method == "logarithm";
  if (sweeps) options.inclusions = {0.6, 0, 0.2, 0.4, 0.8, 1};
  const KeepsPart keeps;
  Progress progress("draws", options.draws, context.json());
  const auto go_on = [&](std::size_t done, std::size_t) {
    progress.update(done);
    return !interrupted();
  };
  const auto result = must(offload::evaluate_draws(set, options, go_on));
  json errors = json::array();
  TextTable table({">share of models", ">mean error", ">least draw", ">worst draw"});
  for (const offload::DrawErrors& one : result.errors) {
    errors.push_back(IDLETUNE_FIELDS(one, inclusion, mean, least, worst));
    table.add_row({sweeps ? report::percent_text(one.inclusion) : "-",
                   report::percent_text(one.mean), report::percent_text(one.least),
                   report::percent_text(one.worst)});
  }
  const json classes = classes_of(set, result);
  if (interrupted())
    context.stopped("stopped early: the figures are of the draws that were finished");
  if (context.json()) {
    return context.print_json({{"set", set.name},
                               {"complete", !interrupted()},
                               {"draws", options.draws},
                               {"device", set.device},
                               {"samples", set.samples.size()},
                               {"learner", learner.method},
                               {"seed", learner.seed},
                               {"tests", options.tests},
                               {"tested", result.tests.size()},
                               {"derived", options.derived},
                               {"errors", errors},
                               {"classes", classes},
                               {"remarks", set.remarks}});
  }
  if (!set.device.empty()) context.print("GPU: " + set.device + "\n");
  for (const std::string& remark : set.remarks) context.print(remark + "\n");
  context.print(table);
  print_classes(classes, context);
}

using offload::Figures;
using offload::GroupBy;
using offload::LeftOut;
using offload::SampleSet;
using report::percent;

struct EvaluateArguments {
  SampleFiles files;
  LearnerArguments learner;
  std::string leave_out = "program";
  std::vector<std::uint64_t> measured{0, 3, 5, 10};
  std::uint64_t folds = 8;
  bool no_leaky = false;
  DrawArguments draws;
  std::string page;
};

json json_of(const Figures& f) {
  return joined(IDLETUNE_FIELDS(f, groups, samples, unknown, wrong),
                {{"error",
                  {{"mean", f.error_mean},
                   {"median", f.error_median},
                   {"published", f.error_published},
                   {"logarithm", f.error_log}}},
                 {"coverage",
                  {{"p80", f.coverage80},
                   {"p90", f.coverage90},
                   {"width80", finite_or_null(f.width80)},
                   {"p80_answered", finite_or_null(f.coverage80_answered)}}},
                 {"choice",
                  {{"ratio", f.ratio},
                   {"always_cpu", f.always_cpu},
                   {"always_gpu", f.always_gpu},
                   {"geometric", f.ratio_geometric},
                   {"always_cpu_geometric", f.always_cpu_geometric},
                   {"always_gpu_geometric", f.always_gpu_geometric},
                   {"right", f.right}}}});
}

// Of each part its figures, and what the part is called, as `name`.
template <class Parts>
json figures_of(const SampleSet& set, const Parts& parts, const char* name) {
  return list_of(parts, [&](const auto& part) {
    json figures = json_of(offload::figures_of(set, part.second));
    figures[name] = part.first;
    return figures;
  });
}

json parts_of(const SampleSet& set, const std::vector<LeftOut>& results, GroupBy by) {
  std::map<std::string, std::vector<LeftOut>> parts;
  for (const LeftOut& one : results)
    parts[offload::group_of(set.samples[one.sample], by)].push_back(one);
  return figures_of(set, parts, "group");
}

// By speed-up of the GPU, as the publication's classes.
json classes_of(const SampleSet& set, const std::vector<LeftOut>& results) {
  std::map<double, std::vector<LeftOut>> parts;  // by the end of the class
  for (const LeftOut& one : results) {
    const offload::Sample& sample = set.samples[one.sample];
    const double* limit = kClasses;
    while (sample.cpu_ms / sample.best_gpu_ms() > *limit) ++limit;
    parts[*limit].push_back(one);
  }
  json list = figures_of(set, parts, "up_to");
  for (json& figures : list) figures["up_to"] = finite_or_null(figures["up_to"]);
  return list;
}

json risk_of(const SampleSet& set, const std::vector<LeftOut>& results) {
  return list_of(offload::risk_curve(set, results), [](const offload::RiskPoint& point) -> json {
    return {{"answered", point.answered},
            {"wrong", point.wrong},
            {"regret_ms", point.regret},
            {"expected_ms", point.expected}};
  });
}

void print_figures(const json& result, const CliContext& context) {
  TextTable table({"samples of", ">number", ">median error", ">mean error", ">80 % covers",
                   ">time / best", ">CPU", ">GPU", ">per sample", ">unknown", ">wrong"});
  const auto row = [&](const std::string& name, const json& f) {
    table.add_row(
        {name, report::count_text(f["samples"].get<std::uint64_t>()), percent(f["error"]["median"]),
         percent(f["error"]["mean"]), percent(f["coverage"]["p80"]),
         format_number(f["choice"]["ratio"], 3), format_number(f["choice"]["always_cpu"], 2),
         format_number(f["choice"]["always_gpu"], 2), format_number(f["choice"]["geometric"], 3),
         percent(f["unknown"]), percent(f["wrong"])});
  };
  row("all, " + result["left_out"].get<std::string>() + " left out", result);
  if (result.contains("leaky")) row("all, random tenths left out (leaky)", result["leaky"]);
  for (const auto& part : result["parts"]) row(part["group"], part);
  context.print(table);
}

void print_few_measured(const json& list, const CliContext& context) {
  if (list.empty()) return;
  TextTable table({">measured, of " + list[0]["groups"].dump() + " groups", ">median error",
                   ">80 % covers", ">90 % covers", ">80 % width", ">per sample", ">unknown",
                   ">wrong"});
  for (const auto& f : list) {
    const auto& width = f["coverage"]["width80"];
    table.add_row(
        {f["measured"].dump(), percent(f["error"]["median"]), percent(f["coverage"]["p80"]),
         percent(f["coverage"]["p90"]), width.is_null() ? "-" : format_number(width, 1),
         format_number(f["choice"]["geometric"], 3), percent(f["unknown"]), percent(f["wrong"])});
  }
  context.print(table);
}

void answer_with(json result, const EvaluateArguments& arguments, const SampleSet& set,
                 CliContext& context) {
  result["remarks"] = set.remarks;
  result["device"] = set.device;
  if (!arguments.page.empty()) {
    const std::string html = report::html_of(report::offload_page(result));
    context.write({{arguments.page, FileKind::page, bytes_of(html)}});
  }
  if (context.json())
    return context.print_json(
        {{"complete", result.value("complete", true)}, {"results", {result}}});
  if (!set.device.empty()) context.print("GPU: " + set.device + "\n");
  for (const std::string& remark : set.remarks) context.print(remark + "\n");
  print_figures(result, context);
  if (result.contains("measured")) print_few_measured(result["measured"], context);
}

offload::PredictorOptions predictor_options(const EvaluateArguments& arguments) {
  offload::PredictorOptions options;
  options.learner = options_of(arguments.learner);
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

void say_if_stopped(CliContext& context) {
  if (interrupted())
    context.stopped("stopped early: the figures are of the samples that were finished");
}

void evaluate_groups(const EvaluateArguments& arguments, const SampleSet& set, GroupBy group,
                     CliContext& context) {
  const offload::PredictorOptions options = predictor_options(arguments);
  Progress progress("leaving out", 0, context.json());
  std::optional<KeepsPart> keeps(std::in_place);
  const auto go_on = [&](std::size_t done, std::size_t) {
    progress.update(done);
    return !interrupted();
  };
  const auto results = must(offload::leave_out(set, group, 0, options, go_on));
  json result = json_of(offload::figures_of(set, results));
  result["set"] = set.name;
  result["left_out"] = arguments.leave_out;
  result["learner"] = arguments.learner.method;
  result["seed"] = arguments.learner.seed;
  result["complete"] = !interrupted();
  if (!arguments.no_leaky && !interrupted()) {
    keeps.reset();
    context.keep_part({{"results", {result}}});
    result["leaky"] =
        json_of(offload::figures_of(set, must(offload::leave_random_out(set, options))));
  }
  result["parts"] = parts_of(set, results, told_by(group));
  result["by_group"] = parts_of(set, results, group);
  result["classes"] = classes_of(set, results);
  result["risk"] = risk_of(set, results);
  answer_with(std::move(result), arguments, set, context);
  say_if_stopped(context);
}

void evaluate_devices(const EvaluateArguments& arguments, const SampleSet& set,
                      CliContext& context) {
  const KeepsPart keeps;
  json results = json::array();
  TextTable table(
      {"device", ">measured on it", ">median error", ">mean |ln|", ">per sample", ">CPU", ">GPU"});
  for (std::size_t d = 0; d < set.variants.size() && !interrupted(); ++d) {
    for (const std::uint64_t measured : arguments.measured) {
      offload::NewDeviceOptions options;
      options.learner = options_of(arguments.learner);
      if (interrupted()) break;
      options.measured = static_cast<std::size_t>(measured);
      const auto result = must(offload::evaluate_new_device(set, d, options));
      results.push_back(
          {{"set", set.name},
           {"device", set.variants[d]},
           {"measured", options.measured},
           {"left_out", result.left_out},
           {"error", {{"median", result.error_median}, {"logarithm", result.error_log}}},
           {"choice",
            {{"geometric", result.ratio_geometric},
             {"always_cpu_geometric", result.always_cpu_geometric},
             {"always_gpu_geometric", result.always_gpu_geometric}}}});
      table.add_row({set.variants[d], std::to_string(options.measured),
                     percent(result.error_median), format_number(result.error_log, 2),
                     format_number(result.ratio_geometric, 3),
                     format_number(result.always_cpu_geometric, 2),
                     format_number(result.always_gpu_geometric, 2)});
    }
  }
  if (context.json()) {
    context.print_json({{"results", results}, {"complete", !interrupted()}});
    return say_if_stopped(context);
  }
  context.print(table);
  for (const std::string& device : set.variants) {
    const auto of_device = [&](const json& r) { return r["device"] == device; };
    const auto found = std::find_if(results.begin(), results.end(), of_device);
    if (found != results.end() && (*found)["left_out"] > 0)
      context.print(device + ": " + (*found)["left_out"].dump() +
                    " samples without a time there, or on all others, are left out.\n");
  }
  say_if_stopped(context);
}

// What some measured samples of the set would add to the model; empty where groups are too few.
json with_few_of(const EvaluateArguments& arguments, const SampleSet& set,
                 const std::vector<LeftOut>& results) {
  constexpr std::size_t kDraws = 100;
  std::vector<double> predicted;
  for (const LeftOut& one : results) predicted.push_back(one.prediction.log_speedup);
  json list = json::array();
  for (const std::uint64_t measured : arguments.measured) {
    const auto few = offload::with_few_measured(set, predicted, GroupBy::program,
                                                static_cast<std::size_t>(measured), kDraws,
                                                arguments.learner.seed);
    if (!few.ok()) continue;
    list.push_back(joined(IDLETUNE_FIELDS(*few, measured, groups, unknown, wrong),
                          {{"draws", kDraws},
                           {"error", {{"median", few->error_median}}},
                           {"coverage",
                            {{"p80", few->coverage80},
                             {"p90", few->coverage90},
                             {"width80", finite_or_null(few->width80)}}},
                           {"choice", {{"geometric", few->ratio_geometric}}}}));
  }
  return list;
}

void evaluate_model(const EvaluateArguments& arguments, CliContext& context) {
  const auto model = must(read_offload_file(arguments.files.set));
  SampleFiles files = arguments.files;
  files.set.clear();
  const auto set = must(read_samples(files));
  must(check_features(arguments.files.set, model.set.features, set.features));
  const auto predictor = must(offload::Predictor::learn(model.set, model.options));
  std::vector<LeftOut> results;
  std::size_t seen = 0;
  for (std::size_t i = 0; i < set.samples.size(); ++i) {
    const offload::Sample& sample = set.samples[i];
    results.push_back(
        {i, offload::group_of(sample, model.options.group), predictor.predict(sample)});
    seen += std::any_of(model.set.samples.begin(), model.set.samples.end(), [&](const auto& known) {
      return known.name == sample.name && known.features == sample.features;
    });
  }
  if (seen > 0)
    context.warn(report::count_text(seen) + " of " + report::count_text(results.size()) +
                 " samples are among what the model learned from: their figures say nothing about "
                 "others");
  json result = json_of(offload::figures_of(set, results));
  result["set"] = set.name;
  result["left_out"] = "nothing";
  result["parts"] = parts_of(set, results, told_by(model.options.group));
  result["measured"] = with_few_of(arguments, set, results);
  answer_with(std::move(result), arguments, set, context);
}

void run_evaluate(const EvaluateArguments& arguments, CliContext& context) {
  const std::string& name = arguments.files.set;
  if (has_ending(name, ".itmodel")) return evaluate_model(arguments, context);
  const auto set = must(read_samples(arguments.files));
  if (arguments.leave_out == "device") return evaluate_devices(arguments, set, context);
  const auto group = must(offload::group_by_name(arguments.leave_out));
  if (arguments.draws.draws > 0)
    return evaluate_with_draws(arguments.draws, arguments.learner, group, set, context);
  evaluate_groups(arguments, set, group, context);
}

}  // namespace

void add_lab_offload_verb(Verb& lab, CliContext& context) {
  auto arguments = std::make_shared<EvaluateArguments>();
  Verb verb =
      lab.add_verb("offload", "tells how good predictions of offloading are for what was left out");
  verb.option("set", arguments->files.set,
              "Table of kernels with features and times, profiles (.json) with --times, or a model "
              "(.itmodel) to try on --times and --shapes");
  add_sample_options(verb, arguments->files);
  const auto is_model = [arguments] { return has_ending(arguments->files.set, ".itmodel"); };
  const auto no_model = [is_model] { return !is_model(); };
  const auto devices = [arguments] { return arguments->leave_out == "device"; };
  const auto groups = [=] { return !is_model() && !devices() && arguments->draws.draws == 0; };
  verb.option("--leave-out", arguments->leave_out,
              "Groups that are left out in turn: kernel, program, suite, network, kind or device")
      .acts("without a model", no_model)
      .one_of({"kernel", "program", "suite", "network", "kind", "device"});
  verb.option("--measured", arguments->measured,
              "Kernels measured on a device that is left out, or of those that a model is tried on")
      .between(0, 1000000)
      .acts("with --leave-out device or a model", [=] { return is_model() || devices(); })
      .separated_by_commas()
      .one_at_a_time();
  verb.option("--folds", arguments->folds, "Parts that intervals are learned from")
      .between(2, 100)
      .acts("where groups are left out", groups);
  verb.flag("--no-leaky", arguments->no_leaky, "Without the random split beside the honest one")
      .acts("where groups are left out", groups);
  add_draw_options(verb, arguments->draws).acts("where groups of samples are drawn", [=] {
    return !is_model() && !devices();
  });
  verb.option("--page", arguments->page, "Also write a page (HTML) with tables and pictures")
      .writes(FileKind::page)
      .acts("where groups are left out, or a model is tried",
            [=] { return is_model() || (!devices() && arguments->draws.draws == 0); });
  const std::vector<Argument> learning = add_learner_options(verb, arguments->learner, {"svr"});
  for (const Argument& option : learning) option.acts("without a model", no_model);
  learning.back().acts("with another learner than svr",
                       [arguments] { return arguments->learner.method != "svr"; });
  verb.example("lab offload --times layers.csv.gz --shapes shapes.csv --leave-out network");
  verb.runs([arguments, &context] { run_evaluate(*arguments, context); });
}

}  // namespace idletune::cli
