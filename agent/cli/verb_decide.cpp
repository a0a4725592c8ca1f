// idletune decide: does tuning pay for an application that launches a kernel N times?
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/explanation_output.hpp"
#include "agent/cli/histories.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/scheduler/nanoseconds.hpp"
#include "agent/scheduler/setup_decision.hpp"
#include "agent/src/model_file.hpp"
#include "agent/tuning/shape_search.hpp"
#include "models/insight/published_fractions.hpp"
#include "models/predict/model.hpp"

namespace idletune::cli {

namespace {

struct DecideArguments {
  std::string model;
  std::string kernel;
  std::string measured;
  double launches = 0;
  double run_us = 0;
  double step_ms = 0;
  double kappa = 1;
  double overhead_limit = 0.02;
  double threshold = 0.9;
  double probability = 0.9;
  bool first_pick_runs = false;
  double setup_ms = 0;
  double setup_run_us = 0;
};

nlohmann::json finite(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// Of several entries for kernels of that name (with other parameters), the first.
Result<const KernelKnowledge*> find_kernel(const Model& model, const DecideArguments& arguments) {
  std::string known;
  for (const KernelKnowledge& kernel : model.kernels()) {
    if (kernel.name() == arguments.kernel) return &kernel;
    known += (known.empty() ? "" : ", ") + std::string(kernel.name());
  }
  return Status(StatusCode::not_found,
                arguments.model + ": no kernel '" + arguments.kernel + "' (it has " + known + ")");
}

// A step with a typical configuration as the model's devices saw it: the mean of their median
// compile times, one run to check and three to screen at the median slow-down; 600 ms and four runs
// at half of the present speed where nothing is known.
double typical_step_ns(const KernelKnowledge* knowledge, double run_ns) {
  constexpr double kUnknownCompile = 6e8;
  constexpr double kRuns = 4;
  if (knowledge == nullptr) return kUnknownCompile + kRuns * 2 * run_ns;
  double compile = 0;
  double with_compile = 0;
  double slow_down = 0;
  const double sources = static_cast<double>(knowledge->source_count());
  for (std::size_t i = 0; i < knowledge->source_count(); ++i) {
    const HistoricalSource source = knowledge->source(i);
    compile += source.median_compile_ns;
    with_compile += source.median_compile_ns > 0 ? 1 : 0;
    slow_down += source.median_run_ns / source.best_time_ns / sources;
  }
  return (with_compile > 0 ? compile / with_compile : kUnknownCompile) +
         kRuns * std::max(1.0, slow_down) * run_ns;
}

// What is asked about, and the search that would go on from there.
struct Question {
  std::shared_ptr<const KernelModel> model;
  std::vector<History> measured;
  Space space;         // of what was measured, or of what the model names
  std::string source;  // of the knowledge, for people
};

// The configurations that the model names: all that is known of its space.
Result<Space> space_of_model(const KernelKnowledge& knowledge) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < knowledge.parameter_count(); ++i)
    names.emplace_back(knowledge.parameter(i));
  std::set<std::vector<std::int64_t>> named;
  const auto add = [&](Span<const std::int64_t> values) {
    named.insert(std::vector<std::int64_t>(values.begin(), values.end()));
  };
  for (std::size_t i = 0; i < knowledge.portfolio_size(); ++i) add(knowledge.portfolio_values(i));
  for (std::size_t i = 0; i < knowledge.first_pick_count(); ++i)
    add(knowledge.first_pick(i).values);
  std::vector<std::int64_t> rows;
  for (const auto& values : named) rows.insert(rows.end(), values.begin(), values.end());
  return Space::from_rows(names, {}, {}, rows);
}

std::uint64_t valid_configurations(const KernelKnowledge& knowledge) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < knowledge.source_count(); ++i)
    most = std::max(most, knowledge.source(i).valid_count);
  return most;
}

Status read_measured(const std::string& path, Question& question) {
  auto histories = load_histories(path);
  if (!histories.ok()) return histories.status();
  if (histories->empty()) return Status(StatusCode::invalid_argument, path + ": holds no history");
  question.measured = std::move(*histories);
  auto space = space_of(question.measured.front());
  if (!space.ok()) return space.status();
  question.space = std::move(*space);
  if (!SpaceMapping(*question.model->knowledge, question.space).possible()) {
    return Status(StatusCode::invalid_argument,
                  path + ": has other parameters than the model's kernel");
  }
  return {};
}

// Returns how many measurements it was told.
std::size_t tell_measured(const History& history, ShapeSearch& search) {
  std::size_t told = 0;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.status[row] == TrialStatus::constraints) continue;
    Observation seen;
    seen.status = history.status[row];
    if (history.correct(row)) seen.run_time = from_ns(std::max(1.0, history.run_time_ns(row)));
    (void)search.recall_explored({history.configuration(row), seen});
    ++told;
  }
  return told;
}

nlohmann::json resemblance(const DevicePosterior* beliefs) {
  nlohmann::json list = nlohmann::json::array();
  if (beliefs == nullptr) return list;
  for (std::size_t d = 0; d < beliefs->source_count(); ++d) {
    list.push_back({{"device", beliefs->device(d)}, {"weight", beliefs->weight(d)}});
  }
  list.push_back({{"device", nullptr}, {"weight", beliefs->weight_of_none()}});
  return list;
}

// Whether a variant with a setup, made once for the problem that is launched, pays: the agent's own
// answer where the application says how many launches are to come.
nlohmann::json setup_verdict(const DecideArguments& arguments) {
  SetupPrice price;
  price.setup = from_ns(arguments.setup_ms * 1e6);
  price.without = from_ns(arguments.run_us * 1e3);
  price.with = from_ns(arguments.setup_run_us * 1e3);
  SetupSituation situation;
  situation.launches = arguments.launches;
  situation.said = true;
  const double saved_ns = arguments.launches * real_ns(price.without - price.with);
  return {{"pays", setup_pays(price, situation)},
          {"break_even_launches", finite(break_even_launches(price))},
          {"gain_ms", (saved_ns - real_ns(price.setup)) * 1e-6}};
}

void print_readable(const nlohmann::json& report, const Decision& decision, CliContext& context) {
  const auto ms = [](double ns) { return format_milliseconds(ns * 1e-6); };
  context.print(std::string(verdict_name(decision.verdict)) + ": " + decision.reason_text + "\n\n");
  TextTable table({{"figure"}, {"value", Align::right}, {"unit"}});
  table.add_row({"p_b", format_number(decision.fraction, 5),
                 "80 % interval " + format_number(decision.fraction_low, 5) + " to " +
                     format_number(decision.fraction_high, 5) + ", from the " +
                     fraction_origin_name(decision.fraction_origin)});
  table.add_row({"expected steps", format_number(decision.expected_steps, 0), "random draws"});
  table.add_row({"steps looked ahead", format_number(decision.steps, 0), ""});
  table.add_row({"their cost", ms(decision.cost_ns), "ms"});
  table.add_row({"their gain", ms(decision.gain_ns), "ms"});
  table.add_row({"break-even", format_number(decision.break_even_launches, 0), "launches"});
  table.add_row({"estimate of the best", ms(decision.best_estimate_ns), "ms per launch"});
  for (const auto& entry : report["resembles"]) {
    const bool none = entry["device"].is_null();
    table.add_row(
        {none ? "resembles none of these" : "resembles " + entry["device"].get<std::string>(),
         format_number(100 * entry["weight"].get<double>(), 0), "%"});
  }
  context.print(table);
  const auto& assumed = report["assumed"];
  context.print("\nassumed: " + format_milliseconds(assumed["step_ms"]) +
                " ms per step, weighted " + format_number(assumed["kappa"], 2) +
                "; knowledge: " + assumed["knowledge"].get<std::string>() + "\n");
  if (!report.contains("setup")) return;
  const auto& setup = report["setup"];
  const auto& even = setup["break_even_launches"];
  context.print(std::string("the setup ") + (setup["pays"].get<bool>() ? "pays" : "does not pay") +
                ": break-even " +
                (even.is_null() ? "never" : "after " + format_number(even, 0) + " launches") +
                ", net gain over those to come " + format_milliseconds(setup["gain_ms"]) + " ms\n");
}

Status open_model(Question& question, const DecideArguments& arguments) {
  if (arguments.model.empty()) {
    question.source = "no model: a prior over spaces of other kernels";
    return {};
  }
  auto model = read_model(arguments.model);
  if (!model.ok()) return model.status();
  auto found = find_kernel(**model, arguments);
  if (!found.ok()) return found.status();
  question.model = KernelModel::of(*model, *found);
  question.source = "model of " + std::to_string((*found)->source_count()) + " histories";
  if (!arguments.measured.empty()) return read_measured(arguments.measured, question);
  auto space = space_of_model(**found);
  if (!space.ok()) return space.status();
  question.space = std::move(*space);
  return {};
}

SearchSubject subject_of(Question& question, const DecideArguments& arguments) {
  SearchSubject subject;
  subject.space = &question.space;
  subject.has_baseline = false;
  if (!question.measured.empty()) {
    subject.device = question.measured.front().device;
    subject.shape = question.measured.front().shape;
  }
  subject.target_ratio = arguments.threshold;
  subject.wanted_probability = arguments.probability;
  if (question.model != nullptr) {
    subject.valid_configurations = valid_configurations(*question.model->knowledge);
    return subject;
  }
  const auto published = published_prior(arguments.kernel, Processor::gpu);
  if (published && std::abs(arguments.threshold - kPublishedThreshold) < 1e-9) {
    subject.published_fraction = published->fraction;
    question.source += ", with the published fraction of the benchmark of this name";
  }
  return subject;
}

SearchSituation situation_of(const ShapeSearch& search, const DecideArguments& arguments,
                             double step_ns) {
  SearchSituation situation;
  situation.running_time = from_ns(arguments.run_us * 1e3);
  if (arguments.first_pick_runs && search.first_pick())
    situation.running = search.first_pick()->configuration;
  situation.expected_launches = arguments.launches;
  situation.step.charge = from_ns(arguments.kappa * step_ns);
  Promise promise;
  promise.share = arguments.overhead_limit;
  promise.untuned = situation.running_time;
  situation.promise = promise;
  return situation;
}

void run_decide(const DecideArguments& arguments, CliContext& context) {
  Question question;
  if (Status status = open_model(question, arguments); !status.ok()) return context.fail(status);
  ShapeSearch search(subject_of(question, arguments), question.model);
  std::size_t told = 0;
  if (!question.measured.empty()) told = tell_measured(question.measured.front(), search);
  const KernelKnowledge* knowledge = question.model ? question.model->knowledge : nullptr;
  const double step_ns = arguments.step_ms > 0 ? arguments.step_ms * 1e6
                                               : typical_step_ns(knowledge, arguments.run_us * 1e3);
  const Decision decision = search.decide(situation_of(search, arguments, step_ns));
  nlohmann::json report = {{"kernel", arguments.kernel},
                           {"verdict", verdict_name(decision.verdict)},
                           {"reason", decision.reason_text},
                           {"expected_steps", finite(decision.expected_steps)},
                           {"cost_ms", finite(decision.cost_ns * 1e-6)},
                           {"gain_ms", finite(decision.gain_ns * 1e-6)},
                           {"pessimistic_net_ms", finite(decision.pessimistic_net_ns * 1e-6)},
                           {"steps", finite(decision.steps)},
                           {"break_even_launches", finite(decision.break_even_launches)},
                           {"fraction", decision.fraction},
                           {"fraction_interval", {decision.fraction_low, decision.fraction_high}},
                           {"fraction_origin", fraction_origin_name(decision.fraction_origin)},
                           {"best_estimate_ms", decision.best_estimate_ns * 1e-6},
                           {"resembles", resemblance(search.outlook().beliefs)},
                           {"assumed",
                            {{"launches", arguments.launches},
                             {"run_ms", arguments.run_us * 1e-3},
                             {"step_ms", step_ns * 1e-6},
                             {"kappa", arguments.kappa},
                             {"overhead_limit", arguments.overhead_limit},
                             {"threshold", arguments.threshold},
                             {"probability", arguments.probability},
                             {"measurements", told},
                             {"knowledge", question.source}}}};
  if (arguments.setup_ms > 0) report["setup"] = setup_verdict(arguments);
  if (context.json()) return context.print_json(report);
  print_readable(report, decision, context);
}

}  // namespace

void add_decide_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<DecideArguments>();
  Verb verb = line.add_verb("decide", "tells whether tuning would pay, and why");
  const Argument model =
      verb.option("model", arguments->model, "Model (.itmodel); without one a prior serves");
  verb.option("--kernel", arguments->kernel, "Name of the kernel").value_name("NAME").required();
  verb.option("--launches", arguments->launches, "Launches still to come")
      .required()
      .between(0.0, 1e15);
  verb.option("--run-us", arguments->run_us, "Time of a launch as it runs now, in microseconds")
      .required()
      .between(1e-3, 1e12);
  verb.option("--step-ms", arguments->step_ms, "Cost of trying one configuration")
      .shows_default("as the model's devices saw it")
      .between(0.0, 1e9);
  verb.option("--kappa", arguments->kappa,
              "What a millisecond of tuning is worth against one of the application")
      .between(0.0, 1e6)
      .shows_default();
  verb.option("--overhead-limit", arguments->overhead_limit,
              "Share of the application's kernel time that tuning may cost in vain")
      .between(0.0, 1.0)
      .shows_default();
  verb.flag("--first-pick-runs", arguments->first_pick_runs,
            "What runs now is the model's first pick");
  verb.option("--measured", arguments->measured,
              "History of what was measured on this device so far, in order")
      .needs(model);
  verb.option("--threshold", arguments->threshold, "Relative performance that counts as good")
      .between(0.01, 1.0)
      .shows_default();
  verb.option("--probability", arguments->probability, "Wanted probability of finding a good one")
      .between(0.0, 0.999999999)
      .shows_default();
  const Argument setup =
      verb.option("--setup-ms", arguments->setup_ms,
                  "What a variant takes once per problem, such as a conversion; with "
                  "--setup-run-us, of the problem that is launched so often")
          .between(1e-6, 1e9);
  setup.needs(verb.option("--setup-run-us", arguments->setup_run_us, "Time of a launch after it")
                  .needs(setup)
                  .between(1e-3, 1e12));
  verb.example("decide board.itmodel --kernel gemm --launches 100000 --run-us 800");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run_decide(*arguments, context); });
}

}  // namespace idletune::cli
