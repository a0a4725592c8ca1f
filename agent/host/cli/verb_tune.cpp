// `idletune tune`: tunes a kernel for one shape now, in the foreground, within a budget.

#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>
#include <idletune/learning.hpp>
#include <idletune/options.hpp>

#include "agent/api/foreground.hpp"
#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/open_device.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/verbs.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct TuneOptions {
  std::string kernel;
  std::string shape;
  std::string model;
  std::string state;
  double budget_seconds = 30;
  double launches = 100000;
  DeviceChoice device;
  std::uint64_t seed = 1;
  bool in_process = false;
};

// The user's own words count, then the environment, then the defaults.
Result<AgentOptions> options_from(const TuneOptions& given) {
  AgentOptions options;
  options.learner = forest_learner();
  options.log = log_to_standard_error;
  must(apply_environment(options));
  options.read_environment = false;
  if (!given.model.empty()) options.model = given.model;
  if (!given.state.empty()) options.state = given.state;
  options.seed = given.seed;
  if (given.in_process) options.in_process = trials_in_process();
  return options;
}

Nanoseconds budget_of(const TuneOptions& given) {
  return std::chrono::duration_cast<Nanoseconds>(
      std::chrono::duration<double>(given.budget_seconds));
}

// "37 tried, 1.82x, 24 s of 60 s left".
std::string note_of(const TunedKernel& kernel, const Shape& shape, Nanoseconds left,
                    Nanoseconds budget) {
  const Result<Explanation> state = kernel.explain(shape);
  return (state.ok() ? format_number(state->speed_up, 2) + "x, " : std::string()) +
         readable(std::max(left, Nanoseconds(0))) + " of " + readable(budget) + " left";
}

detail::Ending tune_within_budget(const TuneOptions& given, Agent& agent, const TunedKernel& kernel,
                                  const Shape& shape, const CliContext& context) {
  const KeepsPart keeps;
  const Nanoseconds budget = budget_of(given);
  const Clock::time_point start = Clock::now();
  // How many there will be nobody knows: the bar has no end, the note tells the time.
  Progress progress("tuning " + kernel.name() + ", configurations tried:", 0, context.json());
  return detail::tune_within(agent, budget, [&](std::uint64_t steps) {
    progress.update(steps, note_of(kernel, shape, budget - (Clock::now() - start), budget));
    return !interrupted();
  });
}

std::string text_of(detail::Ending ending, const TuneOptions& given, const Explanation& now) {
  const bool failed =
      now.blocker == Blocker::trials || (now.verdict == Verdict::stop && now.default_ms <= 0);
  switch (ending) {
    case detail::Ending::budget: return "the budget of " + readable(budget_of(given)) + " is spent";
    case detail::Ending::nothing_left:
      return failed ? now.reason : "nothing is left to try, or nothing that fits the budget";
    case detail::Ending::interrupted: return "interrupted";
  }
  return {};
}

// Without the decision, which is about an application's launches: here the user has decided.
void report(const Agent& agent, const TunedKernel& kernel, const Shape& shape,
            const std::string& ending, CliContext& context) {
  const AgentStatus status = agent.status();
  if (!status.trials.ok()) return must(status.trials);
  if (!status.storage.ok()) context.warn("results are not kept: " + status.storage.message());
  if (!status.journal.ok()) context.warn(status.journal.message());
  if (!status.model.ok()) context.warn("model not used: " + status.model.message());
  auto result = must(kernel.explain(shape));
  if (context.json()) {
    json object = explanation_object(result);
    object["ended"] = ending;
    object["complete"] = !interrupted();
    context.print_json(object);
    return;
  }
  context.print(explanation_text(result));
  context.print_paragraph("  ended     ", ending);
}

void tune(const TuneOptions& given, CliContext& context) {
  const auto problem = must(parse_problem(given.shape));
  const Shape& shape = problem;
  auto package = must(read_kernel(given.kernel));

  const auto opened = must(KernelPackage::open(package, given.kernel));
  const auto options = must(options_from(given));
  const std::string& state = options.state;
  if (!state.empty()) {
    must(make_folders(state));
  }
  const std::string programs = state.empty() ? "" : state + "/programs";
  auto device = must(open_device(given.device, opened->dialect(), programs));

  auto agent = must(Agent::open(options));
  auto kernel = must(agent.kernel(*device, std::move(package)));
  kernel.expect_launches(shape, given.launches);
  must(kernel.prepare(shape));

  std::string ending = why_never(options);
  if (ending.empty()) {
    const detail::Ending how = tune_within_budget(given, agent, kernel, shape, context);
    ending = text_of(how, given, must(kernel.explain(shape)));
  }
  report(agent, kernel, shape, ending, context);
  if (interrupted()) context.stopped("stopped; the rest of the budget is not spent");
}

}  // namespace

void add_tune_verb(CommandLine& line, CliContext& context) {
  Verb verb = line.add_verb("tune", "tunes a kernel for one shape now, within a budget");
  auto options = std::make_shared<TuneOptions>();
  verb.required("kernel", options->kernel, "Kernel package or description");
  verb.required("--shape SHAPE", options->shape,
                "Problem size, such as 256,256,256; features behind a colon")
      .checked(wrong_with_problem);
  verb.option("--budget N[s]", options->budget_seconds, "Time that it may take").between(1e-3, 1e9);
  verb.option("--launches", options->launches, "Launches that the decision reckons with")
      .between(0.0, 1e15)
      .shows_default("100000");
  verb.option("--state", options->state, "Folder that keeps what was measured").writes_below();
  verb.option("--model FILE", options->model, "Model file; -: none")
      .shows_default("the one that ships");
  add_device_options(verb, options->device);
  verb.option("--seed", options->seed, "Of the search");
  verb.flag("--in-process", options->in_process,
            "Try configurations in this process instead of idletune-helper");
  verb.example("tune gemm.itkernel --shape 256,256,256 --budget 60 --state found");
  verb.runs([options, &context] { tune(*options, context); });
}

}  // namespace idletune::cli
