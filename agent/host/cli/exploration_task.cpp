#include "agent/host/cli/exploration_task.hpp"

#include <utility>

#include <idletune/options.hpp>

#include "agent/host/cli/exploration_files.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/explore/history_of.hpp"
#include "agent/trial/helper_trials.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {
namespace {

Nanoseconds from_ms(double ms) { return Nanoseconds(static_cast<std::int64_t>(ms * 1e6)); }

HelperTrialsOptions helper_options(const ExploreArguments& arguments, DeviceSource source) {
  HelperTrialsOptions options;
  AgentOptions environment;
  must(apply_environment(environment));
  options.program = environment.helper;
  options.source = std::move(source);
  options.executor.scratch_limit_bytes = arguments.scratch_mib << 20;
  if (!arguments.quirks.empty()) must(options.quirks.add_file(arguments.quirks));
  return options;
}

}  // namespace

bool well_begun(const std::function<void()>& run, CliContext& context) {
  try {
    run();
    return true;
  } catch (const Failure& failure) {
    // One that was asked to end has measured nothing yet, which is no failure.
    if (!failure.status().message().empty() && !interrupted()) context.fail(failure.status());
    return false;
  }
}

void ExplorationTask::open_kernel() {
  package_ = must(KernelPackage::open(must(read_kernel(arguments_.kernel)), arguments_.kernel));
}

// The helper has a driver of its own.
void ExplorationTask::ask_device() {
  const auto device = must(open_device(arguments_.device, package_->dialect(), ""));
  device_ = device->info();
  source_ = device->source();
}

void ExplorationTask::settle(explore::Settings settings) {
  settings.give_up = interrupted;
  settings.seed = arguments_.seed;
  const auto whole = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  if (arguments_.repeats) settings.repeats = whole(*arguments_.repeats);
  // One problem has no more to compare.
  const std::uint32_t most = settings.is_list ? settings.checks : explore::kInputs;
  if (arguments_.checks) settings.checks = std::min(whole(*arguments_.checks), most);
  if (arguments_.measure_ms) settings.measure_at_most = from_ms(*arguments_.measure_ms);
  if (arguments_.run_ms) settings.run_deadline = from_ms(*arguments_.run_ms);
  if (arguments_.control_seconds)
    settings.control_interval = from_ms(*arguments_.control_seconds * 1000);
  if (arguments_.slow_too) settings.far_too_slow = 0;
  settings_ = std::move(settings);
}

void ExplorationTask::name_output(const std::string& text) {
  output_ = arguments_.output;
  if (output_.empty()) {
    output_ =
        file_name_part(std::string(package_->name()) + "-" + device_.name + text) + ".ithistory";
  }
  if (!context_.check(output_, FileKind::history, /*beside=*/true)) must(kSaid);
  must(refuse_strange_output(output_, text.empty()));
}

void ExplorationTask::open_progress(const std::string& folder) {
  log_ = must_of(folder, explore::Log::open(must(open_posix_storage(folder)),
                                            explore::identity_of(*package_, device_, settings_)));
  const explore::Pairs known(*order_, settings_.problems, log_->results());
  far_.done = known.done();
  far_.total = known.total();
  complete_ = known.complete(settings_.finalists, settings_.rounds);
}

Status ExplorationTask::measure(const std::string& what,
                                const std::function<std::string(const Progress&)>& note,
                                const std::function<bool(const Progress&)>& is_over) {
  if (complete_) return {};
  HelperTrials trials(device_, package_, helper_options(arguments_, source_));
  Quarantine quarantine(arguments_.state, output_, context_);
  explore::Exploration exploration(package_, device_, *order_, settings_, trials,
                                   quarantine.journal(), *log_);
  const KeepsPart keeps;
  const std::uint64_t before = far_.done;
  cli::Progress line("exploring " + what, static_cast<std::size_t>(remaining()), context_.json());
  const Status status = exploration.run([&](const Progress& far) {
    line.update(static_cast<std::size_t>(far.done - before), note(far));
    return is_over(far) || interrupted();
  });
  far_ = exploration.progress();
  measured_now_ = far_.done - before;
  complete_ = exploration.complete();
  quarantine.close();
  return status;
}

std::vector<History> ExplorationTask::histories() const {
  return must(explore::histories_of(*package_, device_, *order_, settings_, *log_));
}

void ExplorationTask::write(const std::vector<History>& histories) {
  const std::vector<std::uint8_t> bytes = write_histories(histories);
  if (!context_.write({{output_, FileKind::history, bytes}})) must(kSaid);
}

}  // namespace idletune::cli
