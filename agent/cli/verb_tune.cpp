// `idletune tune`: tunes a kernel for one shape now, in the foreground, within a budget.
#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include <idletune/agent.hpp>
#include <idletune/in_process.hpp>
#include <idletune/learning.hpp>

#include "agent/cli/explanation_output.hpp"
#include "agent/cli/kernel_file.hpp"
#include "agent/cli/open_device.hpp"
#include "agent/cli/places.hpp"
#include "agent/cli/progress.hpp"
#include "agent/cli/verbs.hpp"

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

AgentOptions options_from(const TuneOptions& given) {
  AgentOptions options;
  options.learner = forest_learner();
  options.log = log_to_standard_error;
  options.model = given.model;
  options.state = given.state;
  options.seed = given.seed;
  if (given.in_process) options.in_process = trials_in_process();
  return options;
}

// Why tuning ended, for people.
enum class Ending { budget, nothing_left, interrupted };

// "37 tried, 1.82x, 24 s of 60 s left".
std::string note_of(const TunedKernel& kernel, const Shape& shape, Nanoseconds left,
                    Nanoseconds budget) {
  const Result<Explanation> state = kernel.explain(shape);
  return (state.ok() ? format_number(state->speed_up, 2) + "x, " : std::string()) +
         readable(std::max(left, Nanoseconds(0))) + " of " + readable(budget) + " left";
}

// Until the budget is spent, nothing is left to try, or somebody interrupts.
Ending tune_within_budget(const TuneOptions& given, Agent& agent, const TunedKernel& kernel,
                          const Shape& shape, const CliContext& context) {
  catch_interrupts();
  const auto budget =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(given.budget_seconds));
  const Clock::time_point start = Clock::now();
  std::uint64_t steps = 0;
  // How many there will be nobody knows: the bar has no end, the note tells the time.
  Progress progress("tuning " + kernel.name() + ", configurations tried:", 0, context.json());
  for (;;) {
    const Nanoseconds used = Clock::now() - start;
    if (interrupted()) return Ending::interrupted;
    if (used >= budget) return Ending::budget;
    IdleReport report =
        agent.tune_now(std::min<Nanoseconds>(budget - used, std::chrono::milliseconds(250)));
    steps += report.steps;
    progress.update(steps, note_of(kernel, shape, budget - (Clock::now() - start), budget));
    // Stages of the foreground may be as long as they like: what does not fit a slice gets the
    // rest.
    if (report.needs.count() > 0) {
      report = agent.tune_now(budget - (Clock::now() - start));
      steps += report.steps;
    }
    if (report.stages == 0 && !report.waiting) {
      return Clock::now() - start >= budget ? Ending::budget : Ending::nothing_left;
    }
  }
}

std::string text_of(Ending ending, const TuneOptions& given) {
  switch (ending) {
    case Ending::budget:
      return "the budget of " + format_number(given.budget_seconds, 0) + " s is spent";
    case Ending::nothing_left: return "nothing is left to try, or nothing that fits the budget";
    case Ending::interrupted: return "interrupted";
  }
  return {};
}

// Without the decision, which is about an application's launches: here the user has decided.
Status report(const Agent& agent, const TunedKernel& kernel, const Shape& shape,
              const std::string& ending, CliContext& context) {
  const AgentStatus status = agent.status();
  if (!status.trials.ok()) return status.trials;
  if (!status.storage.ok()) context.warn("results are not kept: " + status.storage.message());
  if (!status.journal.ok()) context.warn(status.journal.message());
  if (!status.model.ok()) context.warn("model not used: " + status.model.message());
  Result<Explanation> result = kernel.explain(shape);
  if (!result.ok()) return result.status();
  if (context.json()) {
    nlohmann::json object = explanation_object(*result);
    object["ended"] = ending;
    context.print_json(object);
    return {};
  }
  context.print(explanation_text(*result));
  context.print_paragraph("  ended     ", ending);
  return {};
}

Status tune(const TuneOptions& given, CliContext& context) {
  const Result<Problem> problem = parse_problem(given.shape);
  if (!problem.ok()) return problem.status();
  const Shape& shape = *problem;
  Result<std::vector<std::uint8_t>> package = read_kernel(given.kernel);
  if (!package.ok()) return package.status();

  const auto opened = KernelPackage::open(*package, given.kernel);
  if (!opened.ok()) return opened.status();
  if (!given.state.empty()) {
    if (Status made = make_folders(given.state); !made.ok()) return made;
  }
  const std::string programs = given.state.empty() ? "" : given.state + "/programs";
  Result<std::unique_ptr<Device>> device =
      open_device(given.device, (*opened)->dialect(), programs);
  if (!device.ok()) return device.status();

  Result<Agent> agent = Agent::open(options_from(given));
  if (!agent.ok()) return agent.status();
  Result<TunedKernel> kernel = agent->kernel(**device, std::move(*package));
  if (!kernel.ok()) return kernel.status();
  kernel->expect_launches(shape, given.launches);
  if (Status status = kernel->prepare(shape); !status.ok()) return status;

  const Ending ending = tune_within_budget(given, *agent, *kernel, shape, context);
  return report(*agent, *kernel, shape, text_of(ending, given), context);
}

}  // namespace

void add_tune_verb(CommandLine& line, CliContext& context) {
  Verb verb = line.add_verb("tune", "tunes a kernel for one shape now, within a budget");
  auto options = std::make_shared<TuneOptions>();
  verb.option("kernel", options->kernel, "Kernel package or description").required();
  verb.option("--shape", options->shape,
              "Problem size, such as 256,256,256; features behind a colon")
      .value_name("SHAPE")
      .required();
  verb.option("--budget", options->budget_seconds, "Seconds that it may take")
      .positive()
      .shows_default();
  verb.option("--launches", options->launches, "Launches that the decision reckons with (100000)")
      .not_negative();
  verb.option("--state", options->state, "Folder that keeps what was measured")
      .value_name("FOLDER");
  verb.option("--model", options->model, "Model file; -: none")
      .value_name("FILE")
      .shows_default("the one that ships");
  add_device_options(verb, options->device);
  verb.option("--seed", options->seed, "Of the search").shows_default();
  verb.flag("--in-process", options->in_process,
            "Try configurations in this process instead of idletune-helper");
  verb.example("tune gemm.itkernel --shape 256,256,256 --budget 60 --state found");
  context.add_json_flag(verb);
  verb.runs([options, &context] {
    if (Status status = tune(*options, context); !status.ok()) context.fail(status);
  });
}

}  // namespace idletune::cli
