#include <algorithm>
#include <cmath>

#include "agent/host/cli/exploration_files.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/known_kernels.hpp"
#include "agent/host/explore/listed_configurations.hpp"
#include "agent/host/explore/shape_list.hpp"
#include "models/host/learn/selection.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Of --seconds; what is left is for timing the best again.
constexpr double kListShare = 0.75;

Status wrong_fixed(const std::string& text) {
  return Status(StatusCode::invalid_argument,
                "--set " + text + ": expected NAME=VALUE, such as BATCH=1");
}

class ExploreShapes : ExplorationTask {
 public:
  ExploreShapes(const ExploreArguments& arguments, CliContext& context)
      : ExplorationTask(arguments, context) {}

  void run() {
    open_kernel();
    ask_device();
    auto problems = read_list();  // which takes no time
    choose_configurations();
    auto settings = explore::Settings::of_list(std::move(problems));
    settings.chosen = chosen_;
    settle(std::move(settings));
    name_output("-shapes");
    order_ =
        std::make_unique<explore::Order>(explore::Order::of(package_->space(), configurations_));
    open_progress(output_ + ".progress");
    const Status measured = measure_list();
    if (log_->results().empty()) must(measured);
    write_list();
    if (!interrupted()) must(measured);
  }

 private:
  void choose_configurations() {
    if (!arguments_.covering.empty()) return take_covering();
    std::vector<explore::SpacePart> parts;
    for (const std::string& text : arguments_.parts) {
      parts.push_back(must_of("--part " + text, explore::read_space_part(package_->space(), text)));
      chosen_ += "part " + text + ' ';
    }
    configurations_ =
        must(explore::listed_configurations(*package_, arguments_.seed, arguments_.samples, parts));
  }

  // The defaults, and what covers the problems of a history best.
  void take_covering() {
    configurations_ = must(explore::listed_configurations(*package_, arguments_.seed, 0));
    const auto histories = must(load_histories({arguments_.covering}));
    const auto problems =
        must_of(arguments_.covering, selection::problems_of({histories.data(), histories.size()}));
    warn_unfit(problems.unfit, context_);
    if (!has_parameters(*package_, histories.front().parameter_names())) {
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
    chosen_ = "covering " + hexadecimal(digest_of(keys));
  }

  Result<explore::ShapeColumns> columns() const {
    explore::ShapeColumns columns;
    for (std::size_t d = 0; d < package_->dimension_count(); ++d) {
      columns.dimensions.emplace_back(package_->inputs().dimension_name(d));
    }
    for (std::size_t f = 0; f < package_->inputs().given_feature_count(); ++f) {
      columns.features.emplace_back(package_->inputs().feature_name(f));
    }
    for (const std::string& text : arguments_.fixed) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || equals + 1 == text.size()) return wrong_fixed(text);
      char* end = nullptr;
      const double value = std::strtod(text.c_str() + equals + 1, &end);
      if (*end != '\0' || !(value >= 0) || value > 1e12) return wrong_fixed(text);
      const std::string name = text.substr(0, equals);
      const auto has = [&name](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      if (has(columns.dimensions) && value != std::floor(value)) return wrong_fixed(text);
      if (!has(columns.dimensions) && !has(columns.features)) {
        return Status(StatusCode::invalid_argument, "--set %: % has no such dimension or feature",
                      text, package_->name());
      }
      if (std::any_of(columns.fixed.begin(), columns.fixed.end(),
                      [&name](const auto& other) { return other.first == name; })) {
        return Status(StatusCode::invalid_argument, "--set %: % is set twice", text, name);
      }
      columns.fixed.emplace_back(name, value);
    }
    return columns;
  }

  std::vector<Shape> read_list() const {
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
    auto problems = must(explore::read_shapes(bytes, list, must(columns())));
    const auto larger =
        std::remove_if(problems.begin(), problems.end(), [this](const Shape& problem) {
          return arguments_.largest > 0 && explore::extent(problem) > arguments_.largest;
        });
    problems.erase(larger, problems.end());
    if (problems.empty()) {
      throw Failure(StatusCode::invalid_argument,
                    list + ": every problem is larger than --largest allows");
    }
    return problems;
  }

  Status measure_list() {
    const Clock::time_point start = Clock::now();
    return measure(
        std::string(package_->name()) + " at " + std::to_string(settings_.problems.size()) +
            " problems",
        [](const Progress& far) { return far.again ? "the best are timed again" : ""; },
        [&](const Progress& far) {
          const double share = far.again ? 1 : kListShare;
          return far.done > 0 && arguments_.seconds &&
                 seconds_since(start) >= share * *arguments_.seconds;
        });
  }

  void write_list() {
    const std::vector<History> measured = histories();
    for (const History& history : measured) {
      rows_ += history.rows();
      correct_ += history.count(TrialStatus::correct);
    }
    write(measured);
  }

 public:
  json answer() {
    if (context_.json()) {
      return {{"file", output_},
              {"kernel", std::string(package_->name())},
              {"device", device_.name},
              {"problems", settings_.problems.size()},
              {"configurations", configurations_.size()},
              {"rows", rows_},
              {"correct", correct_},
              {"measured_now", measured_now_},
              {"left_out", far_.left_out},
              {"remaining", remaining()},
              {"complete", complete_}};
    }
    std::string text = output_ + ": " + std::to_string(configurations_.size()) +
                       " configurations of " + std::string(package_->name()) + " at " +
                       std::to_string(settings_.problems.size()) + " problems on " + device_.name +
                       ", " + std::to_string(correct_) + " of " + std::to_string(rows_) +
                       " pairs correct";
    if (far_.left_out > 0)
      text += ", " + std::to_string(far_.left_out) + " left out as far too slow";
    if (remaining() > 0) {
      text += ", " + std::to_string(remaining()) + " left (the same command goes on)";
    } else if (!complete_) {
      text += "; the best are still to be timed again (the same command goes on)";
    }
    context_.print_paragraph(text);
    return nullptr;
  }

 private:
  std::vector<Configuration> configurations_;
  std::string chosen_;  // how they were, if not drawn
  std::size_t rows_ = 0;
  std::size_t correct_ = 0;
};

}  // namespace

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
  if (well_begun([&] { explore.run(); }, context)) {
    const json answer = explore.answer();
    if (context.json()) context.print_json(answer);
  }
  if (interrupted()) context.stopped("stopped; the same command goes on");
}

}  // namespace idletune::cli
