#include "agent/cli/explore_shapes.hpp"

#include <idletune/options.hpp>

#include "agent/cli/exploration_files.hpp"
#include "agent/cli/histories.hpp"
#include "agent/cli/interrupts.hpp"
#include "agent/cli/kernel_file.hpp"
#include "agent/cli/places.hpp"
#include "agent/cli/progress.hpp"
#include "agent/explore/history_of.hpp"
#include "models/learn/selection.hpp"

namespace idletune::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Of --seconds; what is left is for timing the best again.
constexpr double kSweepShare = 0.75;

Status wrong_fixed(const std::string& text) {
  return Status(StatusCode::invalid_argument,
                "--set " + text + ": expected NAME=VALUE, such as BATCH=1");
}

// NAME=VALUE of a tuning parameter, both as the space has them.
Result<explore::SpacePart::value_type> pinned_parameter(const Space& space,
                                                        const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto parameter = space.parameter_index(text.substr(0, equals));
  if (!parameter || equals == std::string::npos) {
    return Status(StatusCode::invalid_argument,
                  "'" + text + "': expected NAME=VALUE of a tuning parameter");
  }
  for (const std::int64_t value : space.parameter_values(*parameter)) {
    if (std::to_string(value) == text.substr(equals + 1)) {
      return explore::SpacePart::value_type(*parameter, value);
    }
  }
  return Status(StatusCode::invalid_argument, "'" + text + "': the parameter has no such value");
}

class ExploreShapes {
 public:
  ExploreShapes(const ExploreArguments& arguments, CliContext& context)
      : arguments_(arguments), context_(context) {
    settings_.seed = arguments.settings.seed;
    settings_.give_up = interrupted;
    const explore::Settings& given = arguments.settings;
    if (arguments.repeats_given) settings_.repeats = given.repeats;
    if (arguments.measure_ms_given) settings_.measure_at_most = given.measure_at_most;
    if (arguments.run_ms_given) settings_.run_deadline = given.run_deadline;
    if (arguments.slow_too) settings_.far_too_slow = 0;
  }

  void run() {
    open_kernel();
    read_list();
    open_progress();
    const Status measured = measure();
    if (measured.ok() || !log_->results().empty()) write();
    must(measured);
  }

 private:
  void open_kernel() {
    package_ = must(KernelPackage::open(must(read_kernel(arguments_.kernel)), arguments_.kernel));
    // Only asked who it is: the helper has a driver of its own.
    device_ = must(open_device(arguments_.device, package_->dialect(), ""))->info();
    if (!arguments_.covering.empty()) return take_covering();
    configurations_ = must(explore::configurations_to_sweep(
        *package_, settings_.seed, arguments_.samples, must(parts_of_space())));
    for (const std::string& part : arguments_.parts) settings_.chosen += "part " + part + ' ';
  }

  Result<std::vector<explore::SpacePart>> parts_of_space() const {
    const Space& space = package_->space();
    std::vector<explore::SpacePart> parts;
    for (const std::string& text : arguments_.parts) {
      explore::SpacePart part;
      for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        part.push_back(
            must_of("--part " + text, pinned_parameter(space, text.substr(at, end - at))));
        at = end + 1;
      }
      parts.push_back(std::move(part));
    }
    return parts;
  }

  // The defaults, and what covers the problems of a history best.
  void take_covering() {
    configurations_ = must(explore::configurations_to_sweep(*package_, settings_.seed, 0));
    const auto histories = must(load_histories({arguments_.covering}));
    const auto problems =
        must_of(arguments_.covering, selection::problems_of({histories.data(), histories.size()}));
    if (histories.front().parameter_names() != names_of(package_->space())) {
      throw Failure(StatusCode::invalid_argument,
                    arguments_.covering + ": has other parameters than " +
                        std::string(package_->name()) + ", expected a history of this kernel");
    }
    const std::size_t most = arguments_.samples.value_or(problems.methods());
    for (const std::size_t method :
         selection::covering_methods(problems, selection::all_rows(problems), most)) {
      const Configuration& configuration = problems.configurations[method];
      if (!contains(configurations_, configuration) && package_->space().contains(configuration)) {
        configurations_.push_back(configuration);
      }
    }
    std::string keys;
    for (const Configuration& configuration : configurations_) {
      keys += std::to_string(package_->space().key(configuration)) + ',';
    }
    settings_.chosen = "covering " + hexadecimal(digest_of(keys));
  }

  static std::vector<std::string> names_of(const Space& space) {
    std::vector<std::string> names;
    for (std::size_t p = 0; p < space.parameter_count(); ++p) {
      names.emplace_back(space.parameter_name(p));
    }
    return names;
  }

  Result<explore::ShapeColumns> columns() const {
    explore::ShapeColumns columns;
    for (std::size_t d = 0; d < package_->dimension_count(); ++d) {
      columns.dimensions.emplace_back(package_->dimension_name(d));
    }
    for (std::size_t f = 0; f < package_->given_feature_count(); ++f) {
      columns.features.emplace_back(package_->feature_name(f));
    }
    std::size_t known = 0;
    for (const std::string& text : arguments_.fixed) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || equals + 1 == text.size()) return wrong_fixed(text);
      char* end = nullptr;
      const double value = std::strtod(text.c_str() + equals + 1, &end);
      if (*end != '\0' || !(value >= 0) || value > 1e12) return wrong_fixed(text);
      columns.fixed.emplace_back(text.substr(0, equals), value);
      for (const auto* names : {&columns.dimensions, &columns.features})
        known += std::count(names->begin(), names->end(), columns.fixed.back().first);
      if (known == columns.fixed.size()) continue;
      return Status(StatusCode::invalid_argument, "--set %: % has no such dimension or feature",
                    text, package_->name());
    }
    return columns;
  }

  void read_list() {
    const std::string& list = arguments_.shape_list;
    const std::string table = explore::named_shape_table(list);
    std::vector<std::uint8_t> bytes(table.begin(), table.end());
    if (table.empty()) {
      auto file = read_file(list, explore::kMaxShapeListBytes);
      if (!file.ok()) {
        throw Failure(file.code(), file.status().message() +
                                       " (sets known by name: " + explore::kNamedShapeTables + ")");
      }
      bytes = std::move(*file);
    }
    settings_.shapes = must(explore::read_shapes(bytes, list, must(columns())));
    if (arguments_.largest <= 0) return;
    const auto larger = std::remove_if(
        settings_.shapes.begin(), settings_.shapes.end(),
        [this](const Shape& shape) { return explore::extent(shape) > arguments_.largest; });
    settings_.shapes.erase(larger, settings_.shapes.end());
    if (!settings_.shapes.empty()) return;
    throw Failure(StatusCode::invalid_argument,
                  list + ": every problem is larger than --largest allows");
  }

  void open_progress() {
    output_ = arguments_.output;
    if (output_.empty()) {
      output_ =
          file_name_part(std::string(package_->name()) + "-" + device_.name) + "-shapes.ithistory";
    }
    const std::string folder = output_ + ".progress";
    if (!context_.check(output_, FileKind::history, /*beside=*/true)) must(kSaid);
    must(refuse_strange_output(output_, folder));
    log_ = must(open_progress_log(folder, explore::sweep_identity(*package_, device_, settings_)));
  }

  Status measure() {
    HelperTrials trials(device_, package_, helper_options(arguments_));
    Quarantine quarantine(arguments_.state, output_, context_);
    explore::Sweep sweep(package_, device_, configurations_, settings_, trials,
                         quarantine.journal(), *log_);
    const KeepsPart keeps;
    const std::uint64_t before = sweep.progress().done;
    Progress progress("exploring " + std::string(package_->name()) + " at " +
                          std::to_string(settings_.shapes.size()) + " problems",
                      static_cast<std::size_t>(sweep.progress().total - before), context_.json());
    const Clock::time_point start = Clock::now();
    bool again = false;
    const Status status = sweep.run([&](const explore::Sweep::Progress& far) {
      if (!far.again || !again) {
        progress.update(static_cast<std::size_t>(far.done - before),
                        far.again ? "the best are timed again" : "");
      }
      again = far.again;
      const double share = far.again ? 1 : kSweepShare;
      return interrupted() ||
             (arguments_.seconds && seconds_since(start) >= share * *arguments_.seconds);
    });
    measured_now_ = sweep.progress().done - before;
    remaining_ = sweep.progress().total - sweep.progress().done;
    left_out_ = sweep.progress().left_out;
    complete_ = sweep.complete();
    quarantine.close();
    return status;
  }

  void write() {
    const auto histories = must(explore::histories_of(*package_, device_, settings_, *log_));
    for (const History& history : histories) {
      rows_ += history.rows();
      correct_ += history.count(TrialStatus::correct);
    }
    const std::vector<std::uint8_t> bytes = write_histories(histories);
    if (!context_.write({{output_, FileKind::history, bytes}})) must(kSaid);
  }

 public:
  json answer() {
    if (context_.json()) {
      return {{"file", output_},
              {"kernel", std::string(package_->name())},
              {"device", device_.name},
              {"problems", settings_.shapes.size()},
              {"configurations", configurations_.size()},
              {"rows", rows_},
              {"correct", correct_},
              {"measured_now", measured_now_},
              {"left_out", left_out_},
              {"remaining", remaining_},
              {"complete", complete_}};
    }
    std::string text = output_ + ": " + std::to_string(configurations_.size()) +
                       " configurations of " + std::string(package_->name()) + " at " +
                       std::to_string(settings_.shapes.size()) + " problems on " + device_.name +
                       ", " + std::to_string(correct_) + " of " + std::to_string(rows_) +
                       " pairs correct";
    if (left_out_ > 0) text += ", " + std::to_string(left_out_) + " left out as far too slow";
    if (remaining_ > 0) {
      text += ", " + std::to_string(remaining_) + " left (the same command goes on)";
    } else if (!complete_) {
      text += "; the best are still to be timed again (the same command goes on)";
    }
    context_.print_paragraph(text);
    return nullptr;
  }

 private:
  const ExploreArguments& arguments_;
  CliContext& context_;
  explore::SweepSettings settings_;
  std::shared_ptr<const KernelPackage> package_;
  DeviceInfo device_;
  std::vector<Configuration> configurations_;
  std::unique_ptr<explore::Log> log_;
  std::string output_;
  std::uint64_t measured_now_ = 0;
  std::uint64_t left_out_ = 0;
  std::uint64_t remaining_ = 0;
  bool complete_ = false;
  std::size_t rows_ = 0;
  std::size_t correct_ = 0;
};

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

HelperTrialsOptions helper_options(const ExploreArguments& arguments) {
  HelperTrialsOptions options;
  AgentOptions environment;
  must(apply_environment(environment));
  options.program = environment.helper;
  options.opencl_library = environment_opencl_library();
  options.cuda_library = environment_cuda_library();
  options.nvrtc_library = environment_nvrtc_library();
  options.executor.scratch_limit_bytes = arguments.scratch_mib << 20;
  options.quirks = QuirkTable::builtin();
  if (!arguments.quirks.empty()) must(options.quirks.add_file(arguments.quirks));
  return options;
}

void add_shape_list_options(Verb verb, ExploreArguments& arguments) {
  const Argument shapes =
      verb.option("--shapes LIST", arguments.shape_list,
                  "A list of problems: a file of values separated by commas below a line with the "
                  "names of the kernel's dimensions, or a set known by name (go2, go2/8, po2). "
                  "Each configuration is compiled once for all of them, and --samples counts for "
                  "each member of a family, its default besides");
  verb.option("--set NAME=VALUE", arguments.fixed,
              "With --shapes: a dimension or feature that is the same in all problems, such as "
              "BATCH=1. May be repeated")
      .needs(shapes)
      .one_at_a_time();
  verb.option("--largest PRODUCT", arguments.largest,
              "With --shapes: leave out problems whose dimensions' product is larger (a matrix "
              "product of 2 GFLOP has 1e9)")
      .needs(shapes)
      .between(1.0, 1e18);
  const Argument part =
      verb.option("--part NAME=VALUE,...", arguments.parts,
                  "With --shapes: besides, as many draws among the configurations with these "
                  "values, such as DIMM=1,DIMN=1: for a corner of the space that draws of the "
                  "whole would hardly meet. May be repeated")
          .needs(shapes)
          .one_at_a_time();
  verb.option("--covering HISTORY", arguments.covering,
              "With --shapes: instead of draws the configurations of this history that cover its "
              "problems best, --samples of them at most, and the defaults")
      .needs(shapes)
      .excludes(part);
  verb.flag("--slow-too", arguments.slow_too,
            "With --shapes: measure a configuration also where it took more than 8 times the best "
            "time at the four problems most like it")
      .needs(shapes);
}

void explore_shape_list(const ExploreArguments& arguments, CliContext& context) {
  ExploreShapes explore(arguments, context);
  if (!well_begun([&] { explore.run(); }, context)) return;
  const json answer = explore.answer();
  if (context.json()) context.print_json(answer);
  if (interrupted()) context.stopped("stopped; the same command goes on");
}

}  // namespace idletune::cli
