// idletune explore K: measures a tuning space into a history.
#include <filesystem>

#include "agent/host/cli/captured_files.hpp"
#include "agent/host/cli/exploration_files.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/known_kernels.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/sparse_problem.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/explore/history_of.hpp"
#include "agent/host/report/numbers.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than anything that is measured, and far from where nanoseconds end.
constexpr double kMostMs = 1e9;

bool is_over(const ExploreArguments& arguments, Clock::time_point start) {
  return arguments.seconds && seconds_since(start) >= *arguments.seconds;
}

// What tells the problem of one history of a file from those of the others.
std::pair<Shape, std::string> problem_of(const History& history) {
  std::string text;
  for (const auto& [name, note] : history.notes) {
    const json told = json::parse(note, nullptr, /*allow_exceptions=*/false);
    if (!told.is_object()) continue;
    if (name == "explore") text += '/' + told.value("captured", "");
    if (name == SparseProblem::kNote) text += '/' + told.value("name", "");
  }
  return {history.shape, text};
}

class Explore : ExplorationTask {
 public:
  // `histories` are what is in the file, also of earlier calls.
  Explore(const ExploreArguments& arguments, const GivenProblem& problem, bool several,
          Clock::time_point start, CliContext& context, std::vector<History>& histories)
      : ExplorationTask(arguments, context),
        shape_(problem.text),
        kind_(problem.kind),
        several_(several),
        start_(start),
        histories_(histories) {
    if (!arguments.live.empty()) live_.emplace(arguments.live, context.insists());
  }

  void run() {
    open_kernel();
    take_problem();
    if (left_out_) return;
    ask_device();
    open_order();
    open_output();
    lend_matrix();
    const Status measured = measure_one();
    if (measured.ok() || !log_->results().empty()) write_all();
    must(measured);
  }

 private:
  void take_problem() {
    switch (kind_) {
      case GivenProblem::Kind::captured: return take_captured();
      case GivenProblem::Kind::matrix: return take_matrix();
      default: return take_shape();
    }
  }

  // A matrix that takes too much room in the package's format is left out where there are others.
  void take_matrix() {
    auto problem = sparse_problem(*package_, shape_, arguments_.scratch_mib << 20);
    if (problem.code() == StatusCode::out_of_memory && several_) {
      context_.warn(problem.status().message() + "; it is left out");
      left_out_ = true;
      return;
    }
    matrix_ = must(std::move(problem));
    settle(explore::Settings::of_one(matrix_->shape));
    if (matrix_->captured) settings_.captured_digest = matrix_->captured->digest();
  }

  // The program that tries configurations reads the arrays from a file.
  void lend_matrix() {
    if (!matrix_ || !matrix_->captured || remaining() == 0) return;
    settings_.captured = std::filesystem::absolute(folder_ + "/matrix.itcapture").string();
    must(write_file_atomically(settings_.captured, matrix_->captured->bytes()));
  }

  void take_captured() {
    const auto captured = must(read_captured(shape_));
    settle(explore::Settings::of_one(captured.shape()));
    settings_.captured = std::filesystem::absolute(shape_).string();
    settings_.captured_digest = captured.digest();
    const Status status = captured.check(*package_);
    if (!status.ok()) throw Failure(status.code(), "%: %", shape_, status.message());
  }

  void take_shape() {
    const Shape problem = must(parse_problem(shape_));
    if (problem.size() != package_->dimension_count()) {
      throw Failure(StatusCode::invalid_argument,
                    "shape '" + shape_ + "': " + std::string(package_->name()) + " has " +
                        std::to_string(package_->dimension_count()) + " dimensions");
    }
    if (problem.feature_count() != package_->inputs().given_feature_count()) {
      throw Failure(StatusCode::invalid_argument,
                    "shape '" + shape_ + "': " + std::string(package_->name()) + " takes " +
                        std::to_string(package_->inputs().given_feature_count()) +
                        " features from the application");
    }
    // What no configuration could be launched at.
    const auto plan = package_->plan(problem, package_->default_configuration());
    if (plan.code() == StatusCode::invalid_argument) throw Failure(plan.status());
    settle(explore::Settings::of_one(problem));
  }

  void open_order() {
    order_ = std::make_unique<explore::Order>(
        must(explore::Order::make(package_->space(), settings_.seed, arguments_.samples)));
    if (order_->size() < arguments_.samples.value_or(0)) {
      context_.warn("the space has " + std::to_string(order_->size()) +
                    " configurations: all of them are measured");
    }
  }

  void open_output() {
    const std::string shape =
        matrix_ ? sparse_problem_name(shape_) : report::shape_text(settings_.problems.front());
    name_output(several_ ? "" : "-" + shape);
    folder_ = output_ + ".progress";
    if (several_) {
      if (histories_.empty() && file_stamp(output_) != 0)
        histories_ = must(load_histories(output_));
      must(make_folders(folder_));
      const bool named = kind_ == GivenProblem::Kind::shape;
      folder_ = progress_folder(folder_, shape, named ? "" : shape_);
    }
    open_progress(folder_);
  }

  Status measure_one() {
    const std::uint64_t before = far_.done;
    return measure(
        std::string(package_->name()),
        [&](const Progress& far) {
          if (far.last != nullptr) note(*far.last);
          return note_text(far, before);
        },
        [&](const Progress& far) {
          if (live_ && far.last != nullptr && live_->due()) write_live(false);
          return far.done > 0 && is_over(arguments_, start_);
        });
  }

  void note(const explore::ExploredConfiguration& result) {
    if (result.samples.empty()) return;
    const double time = explore::median_ns(result.samples);
    if (best_ns_ == 0 || time < best_ns_) best_ns_ = time;
  }

  std::string note_text(const Progress& state, std::uint64_t before) const {
    std::string text;
    if (before > 0) text = std::to_string(before) + " before; ";
    if (best_ns_ > 0) {
      text += "best " + report::time_text(best_ns_);
    }
    if (state.last != nullptr && state.last->status != TrialStatus::correct) {
      text += std::string("; last: ") + trial_status_name(state.last->status);
    }
    return text;
  }

  double default_ns() const {
    std::vector<Nanoseconds> medians;
    for (const auto& control : log_->controls()) {
      medians.emplace_back(static_cast<std::int64_t>(explore::median_ns(control.samples)));
    }
    return explore::median_ns(medians);
  }

  // A page that cannot be written is no reason to stop measuring.
  void write_live(bool over) {
    std::vector<double> times;
    for (const explore::ExploredConfiguration& result : log_->results()) {
      times.push_back(result.samples.empty() ? 0 : explore::median_ns(result.samples));
    }
    const std::vector<History> measured = histories();
    const History& history = measured.front();
    const auto work = work_of(*package_, history.shape, package_->default_configuration());
    const auto rates = rates_of(default_ns(), work.ok() ? std::optional(*work) : std::nullopt);
    const Status written = live_->write(history, times, order_->size(), rates, over);
    if (written.ok()) return;
    context_.warn("the live page is given up: " + written.message());
    live_.reset();
  }

  void write_all() {
    History history = histories().front();
    if (live_) write_live(true);
    if (matrix_) history.notes.emplace_back(SparseProblem::kNote, matrix_->note.dump());
    // The arrays are in the matrix; what is measured does not need them again.
    std::error_code error;
    if (matrix_ && remaining() == 0) std::filesystem::remove(settings_.captured, error);
    const auto same = [of = problem_of(history)](const History& one) {
      return problem_of(one) == of;
    };
    const auto old = std::find_if(histories_.begin(), histories_.end(), same);
    history_ = *(old != histories_.end() ? old : histories_.insert(old, History())) = history;
    if (!can_share_file(histories_.front(), history)) {
      throw Failure(StatusCode::invalid_argument, output_ + ": the device or driver has changed");
    }
    write(histories_);
  }

 public:
  bool has_answer() const { return history_.has_value(); }
  json answer() {
    const History& history = *history_;
    const double best = history.best_time_ns();
    const auto& controls = log_->controls();
    const double usual = default_ns();
    if (context_.json()) {
      json object = history_entry(history, output_);
      object["driver"] = history.driver;
      object["space"] =
          package_->space().indexed() ? json(package_->space().valid_count()) : json(nullptr);
      object["sample"] = !order_->is_whole_space();
      object["measured_now"] = measured_now_;
      object["remaining"] = remaining();
      object["complete"] = remaining() == 0;
      object["best_ns"] = positive_or_null(best);
      object["default_ns"] = positive_or_null(usual);
      object["control"] = {{"measurements", controls.size()},
                           {"spread", explore::control_spread(controls)}};
      return object;
    }
    std::string text = output_ + ": " + std::to_string(history.rows()) + " configurations of " +
                       history.kernel + " on " + history.device + ", " +
                       std::to_string(history.count(TrialStatus::correct)) + " correct";
    if (remaining() > 0)
      text += ", " + std::to_string(remaining()) + " left (the same command goes on)";
    context_.print_paragraph(text);
    text.clear();
    if (best > 0) text = "best: " + report::time_text(best);
    if (usual > 0) {
      text += std::string(text.empty() ? "" : "; ") + "default: " + report::time_text(usual) +
              " (timed " + report::counted(controls.size(), "time", "times");
      if (controls.size() > 1)
        text += ", spread " + report::percent_text(explore::control_spread(controls));
      text += ")";
    }
    if (!text.empty()) context_.print_paragraph(text);
    for (const std::string& warning : history.warnings) context_.warn(warning);
    return nullptr;
  }

 private:
  const std::string& shape_;
  GivenProblem::Kind kind_;
  bool several_;  // problems for one file
  Clock::time_point start_;
  bool left_out_ = false;
  std::optional<SparseProblem> matrix_;
  std::string folder_;  // of the progress
  std::vector<History>& histories_;
  std::optional<History> history_;
  std::optional<LivePage> live_;
  double best_ns_ = 0;
};

void explore_all(const ExploreArguments& arguments, CliContext& context) {
  const auto problems = must(given_problems(arguments));
  std::vector<History> histories;
  json answers = json::array();
  const Clock::time_point start = Clock::now();
  std::size_t begun = 0;
  for (const GivenProblem& problem : problems) {
    if (begun > 0 && interrupted()) break;
    if (!answers.empty() && is_over(arguments, start)) {
      context.warn("the time is over before '" + problem.text + "'; the same command goes on");
      break;
    }
    ++begun;
    Explore explore(arguments, problem, problems.size() > 1, start, context, histories);
    const bool went_well = well_begun([&] { explore.run(); }, context);
    if (explore.has_answer()) answers.push_back(explore.answer());
    if (!went_well) break;
  }
  if (interrupted()) context.stopped("stopped; the same command goes on");
  if (!context.json() || answers.empty()) return;
  context.print_json(answer_of(std::move(answers), problems.size() - begun));
}

// What a list of problems has not.
Argument one_by_one(Argument option, const ExploreArguments& arguments) {
  return option.acts("without --shapes", [&arguments] { return arguments.shape_list.empty(); });
}

void add_measuring_options(Verb verb, ExploreArguments& arguments) {
  verb.option("--repeats", arguments.repeats, "Timed runs per configuration and problem")
      .between(1u, explore::kMaxRepeats)
      .shows_default("10; of a list of problems 3");
  verb.option("--measure-ms N[ms]", arguments.measure_ms,
              "Fewer timed runs, but three, where they take longer than this together")
      .between(1e-3, kMostMs)
      .shows_default("100; of a list of problems 50");
  verb.option("--checks", arguments.checks,
              "How often a configuration's output is compared: with two sets of inputs, at as many "
              "problems as that takes")
      .between(1, 6)
      .shows_default("2; of a list of problems 6");
  verb.option("--timeout-ms N[ms]", arguments.run_ms, "Of one run")
      .between(1e-3, kMostMs)
      .shows_default("2000; of a list of problems 20,000");
  one_by_one(
      verb.option("--control-seconds N[s]", arguments.control_seconds,
                  "How often the default is timed, to see how steady the device is; 0: never")
          .between(0.0, kMostMs / 1e3)
          .shows_default("30"),
      arguments);
  verb.option("--scratch-mib N[MiB]", arguments.scratch_mib, "Device memory to use at most")
      .between(1u, 1u << 20);
}

void add_problem_options(Verb verb, ExploreArguments& arguments) {
  verb.option("--captured FILE", arguments.captured,
              "A file of arguments that an application lent (see capture): its problem is measured "
              "on these. May be repeated, also beside --shape")
      .one_at_a_time();
  verb.option("--problem MATRIX", arguments.problems,
              "A sparse matrix for a product's or a vectors' kernel: a Matrix Market file, a "
              "folder of them, or a made-up one such as 5-point:10000 or random:10000:SEED (also "
              "7-point, 27-point, banded, fem-blocks, power-law, dense-rows). May be repeated")
      .one_at_a_time();
  add_shape_list_options(verb, arguments);
}

void add_output_options(Verb verb, ExploreArguments& arguments) {
  verb.option("-o,--output", arguments.output,
              "The history; progress is kept beside it in FILE.progress, which may be deleted when "
              "all is measured")
      .writes(FileKind::history, /*beside=*/true)
      .shows_default(
          "KERNEL-DEVICE-SHAPE.ithistory; of several problems KERNEL-DEVICE.ithistory, of a list "
          "KERNEL-DEVICE-shapes.ithistory");
  one_by_one(verb.option("--live", arguments.live,
                         "A page (HTML) that shows how far it is, written anew every few seconds")
                 .writes(FileKind::page, /*beside=*/true),
             arguments);
}

}  // namespace

void add_explore_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<ExploreArguments>();
  Verb verb =
      line.add_verb("explore", "measures a tuning space into a history; called again, it goes on");
  verb.required("kernel", arguments->kernel, "Kernel package or description");
  verb.option("--shape SHAPE", arguments->shapes,
              "Problem size, such as 256,256,256; features behind a colon, such as 4096,65536:16. "
              "May be repeated: all problems go into one file")
      .checked(wrong_with_problem)
      .one_at_a_time();
  add_problem_options(verb, *arguments);
  add_output_options(verb, *arguments);
  verb.option("--samples", arguments->samples,
              "A uniform sample of so many configurations, without "
              "repetition; all of them if not given")
      .at_least(1);
  verb.option("--seed", arguments->seed, "Of the order");
  verb.option("--seconds N[s]", arguments->seconds, "Begin no further configuration after so long")
      .between(0.0, kMostMs / 1e3);
  add_measuring_options(verb, *arguments);
  verb.option("--state", arguments->state,
              "Folder of an agent's journal: what is quarantined there is not tried, and what "
              "crashes or hangs here is put there")
      .writes_below()
      .shows_default("in the progress");
  verb.option("--quirks FILE", arguments->quirks, "File of further known-bad patterns");
  add_device_options(verb, arguments->device);
  verb.example("explore gemm.itkernel --shape 256,256,256 --samples 200");
  verb.example("explore gemm_adaptive.itkernel --shapes po2 --samples 64");
  verb.runs([arguments, &context] {
    const bool one_by_one =
        !arguments->shapes.empty() || !arguments->captured.empty() || !arguments->problems.empty();
    if (one_by_one != arguments->shape_list.empty()) {
      return context.used_wrongly("expected --shape, --captured or --problem, or --shapes alone");
    }
    if (!arguments->shape_list.empty()) return explore_shape_list(*arguments, context);
    explore_all(*arguments, context);
  });
}

}  // namespace idletune::cli
