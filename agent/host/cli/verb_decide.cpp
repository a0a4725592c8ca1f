// idletune decide: does tuning pay for an application that launches a kernel N times?

#include <idletune/aims.hpp>

#include "agent/api/model_file.hpp"
#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/recorded_board.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/scheduler/nanoseconds.hpp"
#include "agent/scheduler/setup_decision.hpp"
#include "agent/tuning/shape_search.hpp"

namespace idletune::cli {

namespace {

struct DecideArguments {
  std::string model;
  std::string kernel;
  std::string measured;
  std::string journal;
  double launches = 0;
  double run_us = 0;
  double step_ms = 0;
  double kappa = 1;
  double overhead_limit = 0.02;
  double threshold = kWellPerforming;
  double probability = kWantedProbability;
  bool first_pick_runs = false;
  double setup_ms = 0;
  double setup_run_us = 0;
};

// Of the options that change what an agent decides: which stood on the command line.
struct GivenOptions {
  Argument launches, kappa, overhead_limit, threshold, probability;
};

// Of several entries for kernels of that name (with other parameters), the first.
Result<const KernelKnowledge*> find_kernel(const Model& model, const DecideArguments& arguments) {
  for (const KernelKnowledge& kernel : model.kernels()) {
    if (kernel.name() == arguments.kernel) return &kernel;
  }
  const std::string known =
      listed(model.kernels(), ", ", [](const auto& kernel) { return std::string(kernel.name()); });
  return Status(StatusCode::not_found,
                arguments.model + ": no kernel '" + arguments.kernel + "' (it has " + known + ")");
}

// What compiling takes in the median on the model's devices, their mean; 0: they do not say.
Nanoseconds usual_compile(const KernelKnowledge& knowledge) {
  double sum = 0;
  double known = 0;
  for (std::size_t i = 0; i < knowledge.source_count(); ++i) {
    const double median = knowledge.source(i).median_compile_ns;
    sum += median;
    known += median > 0 ? 1 : 0;
  }
  return from_ns(known > 0 ? sum / known : 0);
}

// What is asked about, and the search that would go on from there.
struct Question {
  std::shared_ptr<const KernelModel> model;
  std::vector<History> measured;
  Space space;         // of what was measured and what the model names
  std::string source;  // of the knowledge, for people
};

// The configurations that the model names and those that were measured here: all that is known of
// its space. What the model does not know of a parameter has the value of the first row.
Result<Space> known_space(const KernelKnowledge& knowledge, const History* measured) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < knowledge.parameter_count(); ++i)
    names.emplace_back(knowledge.parameter(i));
  const std::vector<std::string> model_names = names;
  if (measured != nullptr) names = measured->parameter_names();
  std::set<std::vector<std::int64_t>> rows;
  const auto add = [&](Span<const std::int64_t> values) {
    std::vector<std::int64_t> row;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto column = std::find(model_names.begin(), model_names.end(), names[i]);
      row.push_back(column != model_names.end()
                        ? values[static_cast<std::size_t>(column - model_names.begin())]
                        : measured->configuration(0)[i]);
    }
    rows.insert(std::move(row));
  };
  for (std::size_t i = 0; i < knowledge.portfolio_size(); ++i) add(knowledge.portfolio_values(i));
  for (std::size_t i = 0; i < knowledge.first_pick_count(); ++i)
    add(knowledge.first_pick(i).values);
  for (std::size_t row = 0; measured != nullptr && row < measured->rows(); ++row) {
    const Configuration configuration = measured->configuration(row);
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < names.size(); ++i) all.push_back(configuration[i]);
    rows.insert(std::move(all));
  }
  std::vector<std::int64_t> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return Space::from_rows(names, {}, {}, values);
}

std::uint64_t valid_configurations(const KernelKnowledge& knowledge) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < knowledge.source_count(); ++i)
    most = std::max(most, knowledge.source(i).valid_count);
  return most;
}

void read_measured(const std::string& path, Question& question) {
  auto histories = must(load_histories(path));
  if (histories.size() != 1 || histories.front().rows() == 0) {
    throw Failure(StatusCode::invalid_argument, path + ": expected measurements of one problem");
  }
  question.measured = std::move(histories);
  const KernelKnowledge& knowledge = *question.model->knowledge;
  const std::vector<std::string> names = question.measured.front().parameter_names();
  std::size_t shared = 0;
  for (std::size_t i = 0; i < knowledge.parameter_count(); ++i) {
    shared += contains(names, knowledge.parameter(i));
  }
  if (shared > 0) return;
  throw Failure(StatusCode::invalid_argument,
                path + ": has other parameters than the model's kernel");
}

// Returns how many measurements it was told.
std::size_t tell_measured(const History& history, ShapeSearch& search) {
  std::size_t told = 0;
  for (const std::size_t row : history.valid_rows()) {
    Observation seen;
    seen.status = history.status[row];
    if (history.correct(row)) seen.run_time = from_ns(std::max(1.0, history.run_time_ns(row)));
    (void)search.recall({history.configuration(row), seen, {}}, true);
    ++told;
  }
  return told;
}

json resemblance(const DevicePosterior* beliefs) {
  json list = json::array();
  if (beliefs == nullptr) return list;
  for (std::size_t d = 0; d < beliefs->source_count(); ++d) {
    list.push_back({{"device", beliefs->device(d)}, {"weight", beliefs->weight(d)}});
  }
  list.push_back({{"device", nullptr}, {"weight", beliefs->weight_of_none()}});
  return list;
}

// Whether a variant with a setup, made once for the problem that is launched, pays: the agent's own
// answer where the application says how many launches are to come.
json setup_verdict(const DecideArguments& arguments) {
  SetupPrice price;
  price.setup = from_ns(arguments.setup_ms * 1e6);
  price.without = from_ns(arguments.run_us * 1e3);
  price.with = from_ns(arguments.setup_run_us * 1e3);
  SetupSituation situation;
  situation.launches = arguments.launches;
  situation.said = true;
  const double saved_ns = arguments.launches * real_ns(price.without - price.with);
  return {{"pays", setup_pays(price, situation)},
          {"break_even_launches", finite_or_null(break_even_launches(price))},
          {"gain_ms", (saved_ns - real_ns(price.setup)) * 1e-6}};
}

void print_readable(const json& report, const Decision& decision, CliContext& context) {
  using report::count_text;
  const auto ms = [](double ns) { return report::significant(ns * 1e-6); };
  const auto whole = [](double number) {
    return std::isfinite(number) ? count_text(static_cast<std::uint64_t>(std::llround(number)))
                                 : "-";
  };
  context.print_paragraph(std::string(verdict_name(decision.verdict)) + ": ", decision.reason_text);
  context.print("");
  TextTable table({"figure", ">value", "unit"});
  table.add_row({"p_b", report::significant(decision.fraction),
                 "80 % interval " + report::significant(decision.fraction_low) + " to " +
                     report::significant(decision.fraction_high) + ", from the " +
                     fraction_origin_name(decision.fraction_origin)});
  table.add_row({"expected steps", whole(decision.expected_steps), "random draws"});
  table.add_row({"steps looked ahead", whole(decision.steps), ""});
  table.add_row({"their cost", ms(decision.cost_ns), "ms"});
  table.add_row({"their gain", ms(decision.gain_ns), "ms"});
  table.add_row({"break-even", whole(decision.break_even_launches), "launches"});
  table.add_row({"estimate of the best", ms(decision.best_estimate_ns),
                 "ms per launch, 80 % interval " + ms(decision.best_low_ns) + " to " +
                     ms(decision.best_high_ns)});
  for (const auto& entry : report["resembles"]) {
    const bool none = entry["device"].is_null();
    table.add_row(
        {none ? "resembles none of these" : "resembles " + entry["device"].get<std::string>(),
         report::percent_text(entry["weight"].get<double>()), ""});
  }
  context.print(table);
  const auto& assumed = report["assumed"];
  context.print("");
  context.print_paragraph("assumed: ",
                          report::significant(assumed["step_ms"]) + " ms per step, weighted " +
                              report::significant(assumed["kappa"]) +
                              "; knowledge: " + assumed["knowledge"].get<std::string>());
  if (!report.contains("setup")) return;
  const auto& setup = report["setup"];
  const auto& even = setup["break_even_launches"];
  context.print_paragraph(
      std::string("the setup ") + (setup["pays"].get<bool>() ? "pays" : "does not pay") +
      ": break-even " +
      (even.is_null() ? "never" : "after " + whole(even.get<double>()) + " launches") +
      ", net gain over those to come " + report::significant(setup["gain_ms"]) + " ms");
}

void open_model(Question& question, const DecideArguments& arguments) {
  if (arguments.model.empty()) {
    question.source = "no model: a prior over spaces of other kernels";
    return;
  }
  auto model = must(read_model(arguments.model));
  auto found = must(find_kernel(*model, arguments));
  question.model = KernelModel::of(model, found);
  question.source = "model of " + std::to_string(found->source_count()) + " histories";
  if (!arguments.measured.empty()) read_measured(arguments.measured, question);
  question.space =
      must(known_space(*found, question.measured.empty() ? nullptr : &question.measured.front()));
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
    const KernelKnowledge& knowledge = *question.model->knowledge;
    subject.valid_configurations = valid_configurations(knowledge);
    const auto pick = first_pick(knowledge, question.space, subject.shape, subject.device);
    if (arguments.first_pick_runs && pick) {
      subject.untuned = pick->configuration;
      subject.has_baseline = true;
    }
  }
  return subject;
}

// The costs are the agent's own estimates before the first step, unless they are given.
SearchSituation situation_of(ShapeSearch& search, const DecideArguments& arguments,
                             Nanoseconds compile) {
  SearchSituation situation;
  situation.running_time = from_ns(arguments.run_us * 1e3);
  if (search.subject().has_baseline) {
    StepResult baseline;
    baseline.proposal = {search.subject().untuned, ProposalOrigin::application};
    baseline.time = situation.running_time;
    search.baseline_ended(baseline);
    situation.running = search.subject().untuned;
  }
  situation.expected_launches = arguments.launches;
  if (arguments.step_ms > 0) {
    situation.step.charge = from_ns(arguments.kappa * arguments.step_ms * 1e6);
  } else {
    StageContext context;
    context.incumbent_run = situation.running_time;
    TrialOutcome compiled;
    compiled.wall = compile;
    if (compile.count() > 0) search.estimates().observe(TrialRequest(), compiled, context);
    LedgerOptions weights;
    weights.kappa_idle = weights.kappa_cpu = arguments.kappa;
    situation.step = search.step_price(context, Ledger(weights));
  }
  Promise promise;
  promise.share = arguments.overhead_limit;
  promise.untuned = situation.running_time;
  situation.promise = promise;
  return situation;
}

void run_decide(const DecideArguments& arguments, CliContext& context) {
  Question question;
  open_model(question, arguments);
  ShapeSearch search(subject_of(question, arguments), question.model);
  std::size_t told = 0;
  if (!question.measured.empty()) told = tell_measured(question.measured.front(), search);
  const KernelKnowledge* knowledge = question.model ? question.model->knowledge : nullptr;
  const SearchSituation situation = situation_of(
      search, arguments, knowledge != nullptr ? usual_compile(*knowledge) : Nanoseconds{0});
  const Decision decision = search.decide(situation);
  const double step_ms = arguments.step_ms > 0
                             ? arguments.step_ms
                             : real_ns(situation.step.time.cpu + situation.step.time.device) * 1e-6;
  json report = {{"kernel", arguments.kernel},
                 {"verdict", verdict_name(decision.verdict)},
                 {"reason", decision.reason_text},
                 {"expected_steps", finite_or_null(decision.expected_steps)},
                 {"cost_ms", finite_or_null(decision.cost_ns * 1e-6)},
                 {"gain_ms", finite_or_null(decision.gain_ns * 1e-6)},
                 {"steps", finite_or_null(decision.steps)},
                 {"break_even_launches", finite_or_null(decision.break_even_launches)},
                 {"fraction", decision.fraction},
                 {"fraction_interval", {decision.fraction_low, decision.fraction_high}},
                 {"fraction_origin", fraction_origin_name(decision.fraction_origin)},
                 {"best_estimate_ms", decision.best_estimate_ns * 1e-6},
                 {"best_interval_ms", {decision.best_low_ns * 1e-6, decision.best_high_ns * 1e-6}},
                 {"resembles", resemblance(search.outlook().beliefs)},
                 {"assumed",
                  {{"launches", arguments.launches},
                   {"run_ms", arguments.run_us * 1e-3},
                   {"step_ms", step_ms},
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

void print_recorded(const Explanation& e, CliContext& context) {
  const auto ms = [](double value) { return report::significant(value); };
  context.print(explanation_text(e));
  context.print_paragraph("  verdict   ", std::string(verdict_name(e.verdict)) + ": " + e.reason);
  if (e.fraction <= 0) return;
  context.print_paragraph(
      "  figures   ",
      "p_b " + report::significant(e.fraction) + " (" + report::significant(e.fraction_low) +
          " to " + report::significant(e.fraction_high) + ", " + e.fraction_origin + "), " +
          format_number(e.expected_launches, 0) + " launches to come, a step " + ms(e.step_ms) +
          " ms as charged; to come: cost " + ms(e.cost_ms) + " ms, gain " + ms(e.gain_ms) +
          " ms, break-even " + format_number(e.break_even_launches, 0) +
          " launches; estimate of the best " + ms(e.best_estimate_ms) + " ms");
}

// What the agent of a state folder says.
void decide_recorded(const DecideArguments& arguments, const GivenOptions& given,
                     CliContext& context) {
  AgentOptions options;
  options.model = arguments.model.empty() ? kNoModel : arguments.model;
  if (given.kappa.given()) options.idle_cost = options.compile_cost = arguments.kappa;
  if (given.overhead_limit.given()) options.overhead_limit = arguments.overhead_limit;
  if (given.threshold.given()) options.well_performing_ratio = arguments.threshold;
  if (given.probability.given()) options.wanted_probability = arguments.probability;
  if (!arguments.model.empty()) must(read_model(arguments.model));
  auto package = must(read_kernel(arguments.kernel));
  const double launches = given.launches.given() ? arguments.launches : -1;
  const auto answers =
      must(explain_recorded(arguments.journal, options, std::move(package), launches));
  json problems = json::array();
  for (const Explanation& answer : answers) {
    problems.push_back(explanation_object(answer));
    if (!context.json()) print_recorded(answer, context);
  }
  if (context.json()) context.print_json({{"journal", arguments.journal}, {"problems", problems}});
}

// Returns the first of them.
Argument add_setup_options(Verb& verb, DecideArguments& arguments) {
  const Argument setup =
      verb.option("--setup-ms N[ms]", arguments.setup_ms,
                  "What a variant takes once per problem, such as a conversion; with "
                  "--setup-run-us, of the problem that is launched so often")
          .between(1e-6, 1e9);
  setup.needs(
      verb.option("--setup-run-us N[us]", arguments.setup_run_us, "Time of a launch after it")
          .needs(setup)
          .between(1e-3, 1e12));
  return setup;
}

}  // namespace

void add_decide_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<DecideArguments>();
  Verb verb = line.add_verb("decide", "tells whether tuning would pay, and why");
  const Argument model =
      verb.option("model", arguments->model, "Model (.itmodel); without one a prior serves");
  verb.required("--kernel NAME", arguments->kernel,
                "Name of the kernel; with --journal its package");
  const Argument launches =
      verb.option("--launches", arguments->launches, "Launches still to come").between(0.0, 1e15);
  const Argument run =
      verb.option("--run-us N[us]", arguments->run_us, "Time of a launch as it runs now")
          .between(1e-3, 1e12);
  const Argument step =
      verb.option("--step-ms N[ms]", arguments->step_ms,
                  "Cost of trying one configuration; 0: what an agent expects of it")
          .shows_default()
          .between(0.0, 1e9);
  const Argument kappa =
      verb.option("--kappa", arguments->kappa,
                  "What a millisecond of tuning is worth against one of the application")
          .between(0.0, 1e6);
  const Argument limit =
      verb.option("--overhead-limit", arguments->overhead_limit,
                  "Share of the application's kernel time that tuning may cost in vain")
          .between(0.0, 1.0);
  const Argument pick = verb.flag("--first-pick-runs", arguments->first_pick_runs,
                                  "What runs now is the model's first pick")
                            .needs(model);
  const Argument measured =
      verb.option("--measured", arguments->measured,
                  "History of what was measured on this device so far, in order")
          .needs(model);
  const Argument threshold = add_threshold(verb, arguments->threshold, 0.01);
  const Argument probability = add_probability(verb, arguments->probability);
  const Argument setup = add_setup_options(verb, *arguments);
  const Argument journal = verb.option("--journal", arguments->journal,
                                       "An agent's state folder: what the agent itself would say");
  for (const Argument& other : {run, step, pick, measured, setup}) journal.excludes(other);
  verb.example("decide board.itmodel --kernel gemm --launches 100000 --run-us 800");
  const GivenOptions given{launches, kappa, limit, threshold, probability};
  verb.runs([arguments, given, journal, run, &context] {
    if (journal.given()) return decide_recorded(*arguments, given, context);
    if (!given.launches.given() || !run.given()) {
      return context.used_wrongly("--launches and --run-us are needed, or --journal");
    }
    run_decide(*arguments, context);
  });
}

}  // namespace idletune::cli
