// idletune lab simulate T...: plays searchers on recorded histories.

#include "agent/api/model_file.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/lab/compared_searchers.hpp"
#include "agent/host/lab/held_out_model.hpp"
#include "agent/host/lab/known_kernel.hpp"
#include "agent/host/lab/performance_curve.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/lab/verbs/played_targets.hpp"
#include "agent/host/lab/verbs/standards_report.hpp"
#include "agent/host/report/numbers.hpp"

namespace idletune::cli {

namespace {

constexpr const char* kCurvesCsvTitle = "target,searcher,axis,at,mean,median,p10\n";

struct NamedAxis {
  CurveAxis axis;
  const char* name;
};
constexpr NamedAxis kAxes[] = {{CurveAxis::evaluations, "evaluations"},
                               {CurveAxis::tuning_ms, "tuning_ms"}};

// As RFC 4180 wants it: quoted where needed.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

json curves_json(const std::vector<SimulatedSearch>& searches) {
  json curves;
  for (const NamedAxis& each : kAxes) {
    curves[each.name] = list_of(
        performance_curve(searches, each.axis),
        [](const CurvePoint& point) { return IDLETUNE_FIELDS(point, at, mean, median, p10); });
  }
  return curves;
}

std::string curves_csv(const std::string& target, const std::string& searcher,
                       const std::vector<SimulatedSearch>& searches) {
  std::string lines;
  for (const NamedAxis& each : kAxes) {
    const std::string begin = csv_cell(target) + "," + csv_cell(searcher) + "," + each.name;
    for (const CurvePoint& point : performance_curve(searches, each.axis)) {
      char numbers[128];
      std::snprintf(numbers, sizeof numbers, ",%.9g,%.6f,%.6f,%.6f\n", point.at, point.mean,
                    point.median, point.p10);
      lines += begin + numbers;
    }
  }
  return lines;
}

struct SimulateArguments {
  std::vector<std::string> targets;
  std::string model;
  std::vector<std::string> searchers{"product", "random"};
  std::vector<std::string> training;
  bool leave_one_out = false;
  bool emulated = false;
  SimulationOptions options;
  std::size_t repeats = 20;
  std::uint64_t seed = 1;
  bool curves = false;
  std::string csv;
  bool standards = false;
  std::size_t iterations = StandardsOptions{}.iterations;
};

struct Target : PlayedTarget<Simulation> {
  KnownKernel kernel;

  const KernelKnowledge* knowledge() const {
    return kernel.model ? kernel.model->knowledge : nullptr;
  }
};

// One target with one searcher, all its repeats.
struct Series {
  const Target* target = nullptr;
  std::string searcher;
  std::vector<SimulatedSearch> searches;  // finished ones
};

std::vector<double> evaluations_of(const Series& series) {
  std::vector<double> values;
  for (const SimulatedSearch& s : series.searches)
    values.push_back(static_cast<double>(s.evaluations));
  return values;
}

json result_of(const Series& series, bool curves) {
  std::vector<double> tuning_ms;
  std::vector<double> firsts;
  std::size_t reached = 0;
  for (const SimulatedSearch& search : series.searches) {
    tuning_ms.push_back(search.tuning_ms);
    firsts.push_back(search.first_relative);
    if (search.reached) ++reached;
  }
  const Summary evaluations = summarize(evaluations_of(series));
  const Summary time = summarize(tuning_ms);
  const Target& target = *series.target;
  json result{
      {"target", target.name},
      {"kernel", target.history->kernel},
      {"device", target.history->device},
      {"shape", report::shape_object(target.history->shape)},
      {"searcher", series.searcher},
      {"model", target.kernel.model != nullptr},
      {"learned_from", target.seen},
      {"no_first_pick", or_null(!target.kernel.no_first_pick.empty(), target.kernel.no_first_pick)},
      {"repeats", series.searches.size()},
      {"reached", static_cast<double>(reached) / static_cast<double>(series.searches.size())},
      {"evaluations",
       {{"median", evaluations.median}, {"p90", evaluations.p90}, {"max", evaluations.max}}},
      {"tuning_ms", {{"median", time.median}, {"p90", time.p90}}},
      {"first_pick", summarize(firsts).median}};
  if (curves) result["curves"] = curves_json(series.searches);
  return result;
}

std::string curves_of(const std::vector<Series>& series) {
  std::string csv = kCurvesCsvTitle;
  for (const Series& one : series) csv += curves_csv(one.target->name, one.searcher, one.searches);
  return csv;
}

void run_standards(const std::vector<Target>& targets, const SimulateArguments& arguments,
                   CliContext& context) {
  StandardsOptions options;
  options.until = arguments.options.until;
  options.repeats = arguments.repeats;
  options.seed = arguments.seed;
  options.iterations = arguments.iterations;
  std::vector<StandardsTarget> played;
  played.reserve(targets.size());
  for (const Target& target : targets) played.push_back({target.name, target.recorded.get()});
  report_standards(played, arguments.searchers, options, context);
}

// Over all targets and seeds, per searcher; every target weighs the same.
json summary_of(const std::vector<Series>& series, const std::vector<std::string>& searchers) {
  json summaries = json::array();
  for (const std::string& searcher : searchers) {
    std::vector<double> all;
    std::vector<double> firsts;
    for (const Series& one : series) {
      if (one.searcher != searcher) continue;
      const std::vector<double> values = evaluations_of(one);
      all.insert(all.end(), values.begin(), values.end());
      for (const SimulatedSearch& search : one.searches) firsts.push_back(search.first_relative);
    }
    if (all.empty()) continue;
    const Summary evaluations = summarize(all);
    summaries.push_back(
        {{"searcher", searcher},
         {"searches", all.size()},
         {"evaluations",
          {{"median", evaluations.median}, {"p90", evaluations.p90}, {"max", evaluations.max}}},
         {"first_pick", summarize(firsts).median}});
  }
  return summaries;
}

void print_readable(const json& report, const std::vector<std::string>& problems,
                    const CliContext& context) {
  using report::percent_text;
  TextTable table(
      with_problem(problems, {"kernel", "device", "searcher", ">reached", ">evaluations median",
                              ">p90", ">max", ">tuning s median", ">first pick"}));
  const auto count = [](const json& n) { return report::mean_count_text(n.get<double>()); };
  for (std::size_t i = 0; i < report["results"].size(); ++i) {
    const auto& r = report["results"][i];
    const auto& e = r["evaluations"];
    const std::string mark = r["learned_from"].get<bool>() ? " *" : "";
    table.add_row(with_problem(
        problems, i,
        {r["kernel"], r["device"].get<std::string>() + mark, r["searcher"],
         percent_text(r["reached"]), count(e["median"]), count(e["p90"]), count(e["max"]),
         report::significant(r["tuning_ms"]["median"].get<double>() / 1000),
         percent_text(r["first_pick"])}));
  }
  for (const auto& s : report["summary"]) {
    const auto& e = s["evaluations"];
    table.add_row(with_problem(problems, problems.size(),
                               {"(all)", "", s["searcher"], "", count(e["median"]), count(e["p90"]),
                                count(e["max"]), "", percent_text(s["first_pick"])}));
  }
  context.print(table);
}

void prepare_models(std::vector<Target>& targets, const SimulateArguments& arguments,
                    const std::vector<const History*>& training, CliContext& context) {
  std::shared_ptr<const Model> given;
  if (!arguments.model.empty()) given = must(read_model(arguments.model));
  Progress progress("learn", targets.size(), context.json() || !arguments.leave_one_out);
  std::size_t done = 0;
  for (Target& target : targets) {
    if (arguments.leave_one_out) {
      progress.update(done++, "without " + target.history->device);
      auto model = learn_held_out(*target.history, without_device_of(*target.history, training));
      if (model.ok()) target.model = *model;
    } else {
      target.model = given;
    }
    target.kernel = known_kernel(target.model, *target.history, target.recorded->space());
    if (!target.kernel.model && (given || arguments.leave_one_out)) {
      context.warn(target.name, "every searcher draws at random: " + target.kernel.no_first_pick);
    }
  }
}

void answer(const std::vector<Series>& series, const SimulateArguments& arguments,
            const LoadedHistories& loaded, bool complete, CliContext& context) {
  json results = json::array();
  const std::vector<std::string> all = problem_column(loaded);
  std::vector<std::string> problems;
  for (const Series& one : series) {
    results.push_back(result_of(one, arguments.curves));
    results.back()["file"] = loaded.files[one.target->row];
    if (!all.empty()) problems.push_back(all[one.target->row]);
  }
  const json report = {{"results", results},
                       {"summary", summary_of(series, arguments.searchers)},
                       {"until", arguments.options.until},
                       {"complete", complete}};
  if (!arguments.csv.empty())
    context.write({{arguments.csv, FileKind::curves, bytes_of(curves_of(series))}});
  if (context.json()) {
    context.print_json(report);
  } else {
    print_readable(report, problems, context);
  }
  if (complete) return;
  context.stopped("stopped early: the figures are of the searches that were finished");
  context.end_now();
}

void run_simulate(const SimulateArguments& arguments, CliContext& context) {
  const auto loaded =
      must(load_with_files(arguments.targets, arguments.emulated || !arguments.leave_one_out));
  const auto more = must(load_histories(arguments.training, arguments.emulated));
  auto targets = open_targets<Target>(loaded, context);
  if (arguments.standards) return run_standards(targets, arguments, context);
  const auto training = pointers_to(arguments.training.empty() ? loaded.histories : more);
  prepare_models(targets, arguments, training, context);
  mark_seen(targets, arguments.model, loaded.histories, context);
  std::vector<Series> series;
  for (const Target& target : targets) {
    for (const std::string& searcher : arguments.searchers)
      series.push_back({&target, searcher, {}});
  }
  const auto play = [&](const Series& one, std::size_t repeat) {
    return one.target->recorded->run(one.searcher, one.target->knowledge(), arguments.seed + repeat,
                                     arguments.options);
  };
  const bool complete =
      play_all("simulate", series, &Series::searches, arguments.repeats, context.json(), play);
  series.erase(std::remove_if(series.begin(), series.end(),
                              [](const Series& s) { return s.searches.empty(); }),
               series.end());
  answer(series, arguments, loaded, complete, context);
}

// Where models come from, and what is written.
void add_source_options(Verb verb, SimulateArguments& arguments, Argument model, Argument most,
                        const CliContext& context) {
  const Argument leave =
      add_leaving_out(verb, model, arguments.leave_one_out, arguments.training, arguments.emulated);
  const Argument curves =
      verb.flag("--curves", arguments.curves,
                "With --json: performance over evaluations and over tuning time")
          .acts("with --json", [&context] { return context.json(); });
  const Argument csv =
      verb.option("--csv", arguments.csv, "Write these curves there as comma-separated values")
          .writes(FileKind::curves);
  const Argument standards = verb.flag("--standards", arguments.standards,
                                       "Samples until the median and the 5th percentile are good, "
                                       "beside random search's (Cui & Feng 2019); without a model")
                                 .excludes(model)
                                 .excludes(leave)
                                 .excludes(curves)
                                 .excludes(csv)
                                 .excludes(most);
  verb.option("--iterations", arguments.iterations,
              "With --standards: picks of IterML that share the samples")
      .between(1, 100)
      .needs(standards)
      .acts("with a searcher iterml", [&arguments] {
        return std::any_of(arguments.searchers.begin(), arguments.searchers.end(),
                           [](const std::string& name) { return name.rfind("iterml", 0) == 0; });
      });
}

}  // namespace

void add_lab_simulate_verb(Verb& lab, CliContext& context) {
  auto arguments = std::make_shared<SimulateArguments>();
  Verb verb = lab.add_verb("simulate", "plays searchers on recorded histories");
  verb.required("targets", arguments->targets,
                "Histories to search (.ithistory, or what import reads)");
  const Argument model =
      verb.option("--model FILE", arguments->model, "Model for the searchers that use one");
  verb.option("--searcher NAME,...", arguments->searchers,
              "random, product, portfolio, forest, annealing, iterml with, after colons, "
              "LEARNER, pick=RATIO, cut=RATIO, iterations=N, samples=own|all, dropped=last|never; "
              "separated by commas")
      .separated_by_commas()
      .checked(wrong_with_searcher);
  verb.option("--until", arguments->options.until, "Relative performance that ends a search")
      .between(0.0, 1.0);
  verb.option("--repeat", arguments->repeats,
              "Searches per target and searcher, each with its own seed")
      .between(1, 1000000);
  verb.option("--seed", arguments->seed, "Seed of the first repeat");
  const Argument most =
      verb.option("--max-evaluations", arguments->options.max_evaluations,
                  "Give a search up after so many; 0: when the space is exhausted")
          .shows_default();
  add_source_options(verb, *arguments, model, most, context);
  verb.example("lab simulate histories --leave-one-out --repeat 50");
  verb.runs([arguments, &context] {
    if (arguments->searchers.empty()) return context.used_wrongly("--searcher names none");
    run_simulate(*arguments, context);
  });
}

}  // namespace idletune::cli
