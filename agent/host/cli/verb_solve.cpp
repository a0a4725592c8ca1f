// `idletune solve`: solves a linear system with a sparse matrix, and tells what it ran with and
// why.

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <sstream>

#include <idletune/agent.hpp>
#include <idletune/krylov.hpp>
#include <idletune/notes.hpp>

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/matrix_description.hpp"
#include "agent/host/cli/open_device.hpp"
#include "agent/host/cli/solve_details.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "kernels/krylov/system_check.hpp"
#include "models/core/number_text.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

using krylov::Solver;
using krylov::SolveReport;
using krylov::SparseMatrix;

constexpr char kProducts[] = "spmv";  // a method that solves nothing

struct SolveVerbOptions {
  std::vector<std::string> matrices;
  std::string rhs;
  std::string method = "auto";
  std::string precondition = "none";
  std::string precision = "f64";
  std::string format = "auto";
  std::string choose = "pays";
  std::string programs;
  std::string model;
  std::string memory;
  std::string page;
  std::vector<std::uint8_t> model_bytes;
  Notes* notes = nullptr;  // in the folder of --memory
  double tolerance = 0;
  std::uint32_t max_iterations = 10000;
  std::uint32_t restart = 30;
  std::uint32_t repeat = 1;
  DeviceChoice device;
};

// One matrix, what is asked of it, and what came out.
struct Task {
  std::string path;
  SparseMatrix matrix;
  std::vector<double> b;
  bool symmetric = false;
  std::string method;
};

struct Answer {
  SolveReport report;
  json details = json::object();  // for the page alone
  std::uint32_t solves = 0;
};

bool is_single(const SolveVerbOptions& given) {
  return given.precision == "f32" || given.precision == "single";
}

const char* precision_name(const SolveVerbOptions& given) {
  return is_single(given) ? "f32" : given.precision == "mixed" ? "mixed" : "f64";
}

bool positive_diagonal(const SparseMatrix& matrix) {
  const auto reciprocals = krylov::reciprocal_diagonal(matrix);
  if (!reciprocals.ok()) return false;
  for (const double number : *reciprocals) {
    if (!(number > 0)) return false;
  }
  return true;
}

// Where numbers begin behind the banner and the sizes of so many in one column; 0: it is none.
std::size_t column_begins(const std::string& text, std::size_t wanted) {
  std::istringstream lines(text);
  std::string banner, kinds[5], line;
  std::getline(lines, banner);
  std::transform(banner.begin(), banner.end(), banner.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::istringstream words(banner);
  for (std::string& kind : kinds) words >> kind;
  while (std::getline(lines, line) && (line.empty() || line[0] == '%')) {
  }
  std::istringstream sizes(line);
  std::size_t rows = 0, columns = 0;
  sizes >> rows >> columns >> std::ws;
  const bool column = kinds[1] == "matrix" && kinds[2] == "array" &&
                      (kinds[3] == "real" || kinds[3] == "integer") && kinds[4] == "general" &&
                      rows == wanted && columns == 1 && sizes.eof();
  if (!column) return 0;
  return lines.eof() ? text.size() : static_cast<std::size_t>(lines.tellg());
}

void numbers_in(const std::string& path, std::size_t wanted, std::vector<double>& numbers) {
  const auto bytes = must(read_file(path, kMaxFileBytes));
  const std::string text(bytes.begin(), bytes.end());
  const bool market = text.rfind("%%MatrixMarket", 0) == 0;
  const std::size_t begin = market ? column_begins(text, wanted) : 0;
  if (market && begin == 0) {
    throw Failure(StatusCode::corrupt,
                  "%: expected a Matrix Market array, real and general, of % rows and 1 column",
                  path, wanted);
  }
  const char* at = text.c_str() + begin;
  while (*at == '%') {
    while (*at != '\0' && *at != '\n') ++at;
    if (*at == '\n') ++at;
  }
  char* end = nullptr;
  for (double number = std::strtod(at, &end); end != at; number = std::strtod(at, &end)) {
    numbers.push_back(number);
    at = end;
  }
  while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') ++at;
  if (*at == '\0' && numbers.size() == wanted) return;
  throw Failure(StatusCode::corrupt,
                "%: % numbers, expected %, one per row (plain, or a Matrix Market array)", path,
                numbers.size(), wanted);
}

Task task_of(const std::string& path, const SolveVerbOptions& given) {
  Task task;
  task.path = path;
  const auto bytes = must(read_file(path, kMaxFileBytes));
  auto read = must(read_matrix(bytes, path));
  task.matrix = std::move(read.matrix);
  const krylov::SparsityPattern& pattern = task.matrix.pattern;
  task.symmetric = pattern.square() && krylov::check_symmetric(task.matrix).ok();
  task.method = given.method;
  if (given.method == "auto") {
    task.method = task.symmetric && positive_diagonal(task.matrix) ? "cg" : "bicgstab";
  }
  if (!given.rhs.empty()) {
    numbers_in(given.rhs, static_cast<std::size_t>(pattern.rows), task.b);
  } else {
    const std::vector<double> ones(static_cast<std::size_t>(pattern.columns), 1.0);
    task.b.resize(static_cast<std::size_t>(pattern.rows));
    krylov::multiply(pattern, task.matrix.values, ones, task.b);
  }
  return task;
}

krylov::SolverOptions solver_options(const SolveVerbOptions& given) {
  krylov::SolverOptions options;
  options.precision = is_single(given)             ? krylov::Precision::f32
                      : given.precision == "mixed" ? krylov::Precision::mixed
                                                   : krylov::Precision::f64;
  options.choosing = given.choose == "never"    ? krylov::Choosing::none
                     : given.choose == "always" ? krylov::Choosing::always
                                                : krylov::Choosing::when_pays;
  options.model = given.model_bytes;
  options.notes = given.notes;
  options.memory_folder = given.memory;
  const char* const names[] = {"csr", "coo", "dia", "ell", "hyb", "sell"};
  for (std::size_t i = 0; i < krylov::kSparseFormats; ++i) {
    if (given.format != names[i]) continue;
    options.fixed_format = true;
    options.format = static_cast<krylov::SparseFormat>(i);
  }
  return options;
}

krylov::SolveOptions solve_options(const SolveVerbOptions& given, const Task& task) {
  krylov::SolveOptions options;
  options.method = task.method == "cg"         ? krylov::Method::cg
                   : task.method == "bicgstab" ? krylov::Method::bicgstab
                                               : krylov::Method::gmres;
  if (given.precondition == "jacobi") options.preconditioner = krylov::Preconditioner::jacobi;
  options.tolerance = given.tolerance > 0 ? given.tolerance : is_single(given) ? 1e-6 : 1e-8;
  options.max_iterations = given.max_iterations;
  options.restart = given.restart;
  return options;
}

// Products alone: `iterations` of them, and how far the last one is from that of the rows.
void multiply(Solver& solver, const Task& task, std::uint32_t repeat, Answer& answer) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<double> ones(static_cast<std::size_t>(task.matrix.pattern.columns), 1.0);
  std::vector<double> y(static_cast<std::size_t>(task.matrix.pattern.rows));
  for (std::uint32_t i = 0; i < repeat; ++i) {
    must(solver.multiply(ones, y, repeat - i - 1));
  }
  SolveReport& report = answer.report;
  report.solve_seconds = seconds_since(begin);
  std::vector<double> expected(y.size());
  krylov::multiply(task.matrix.pattern, task.matrix.values, ones, expected);
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    error += (y[i] - expected[i]) * (y[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  report.true_residual = size > 0 ? std::sqrt(error / size) : std::sqrt(error);
  report.iterations = repeat;
  report.chosen = solver.chosen();
  report.csr_us = solver.csr_us();
  report.conversion = solver.conversion();
  report.tuning_seconds = solver.tuning_seconds();
  answer.solves = repeat;
}

Answer run(const SolveVerbOptions& given, const Task& task, Device& device,
           ApplicationQueue& queue) {
  const auto begin = std::chrono::steady_clock::now();
  auto solver = must(Solver::make(device, queue, task.matrix, solver_options(given)));
  Answer answer;
  answer.report.setup_seconds = seconds_since(begin);
  ResidualCurve curve(solver);
  if (task.method == kProducts) {
    curve.add_to(answer.details);
    multiply(solver, task, given.repeat, answer);
    return answer;
  }
  krylov::SolveOptions options = solve_options(given, task);
  SolveReport total;
  if (!given.page.empty()) curve.watch(options);
  for (std::uint32_t i = 0; i < given.repeat; ++i) {
    std::vector<double> x(task.b.size(), 0.0);
    options.solves_to_come = given.repeat - i - 1;
    curve.begin_solve();
    auto report = must(solver.solve(task.b, x, options));
    total.solve_seconds += report.solve_seconds;
    total.setup_seconds += report.setup_seconds;
    total.tuning_seconds += report.tuning_seconds;
    answer.report = std::move(report);
  }
  answer.report.solve_seconds = total.solve_seconds;
  answer.report.setup_seconds = total.setup_seconds;
  answer.report.tuning_seconds = total.tuning_seconds;
  answer.solves = given.repeat;
  curve.add_to(answer.details);
  return answer;
}

// One word.
std::string kernel_word(const krylov::Chosen& chosen) {
  std::string text = chosen_kernel_text(chosen);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

json object_of(const Task& task, const SolveVerbOptions& given, const Answer& answer) {
  const SolveReport& report = answer.report;
  const krylov::Chosen& chosen = report.chosen;
  const bool multiplies = task.method == kProducts;  // nothing is solved
  const auto of_solve = [&](const json& value) { return multiplies ? json() : value; };
  return joined(
      IDLETUNE_FIELDS(report, iterations, refinements, reason, true_residual, memory),
      {{"matrix",
        {{"file", task.path},
         {"rows", task.matrix.pattern.rows},
         {"columns", task.matrix.pattern.columns},
         {"nonzeros", task.matrix.pattern.entries()},
         {"symmetric", task.symmetric},
         {"features", features_object(task.matrix.pattern)}}},
       {"method", task.method},
       {"precondition", given.precondition},
       {"precision", precision_name(given)},
       {"solves", answer.solves},
       {"residual", of_solve(report.residual)},
       {"converged", of_solve(report.ended == krylov::Ended::converged)},
       {"stagnated", of_solve(report.ended == krylov::Ended::stagnated)},
       {"ended", of_solve(krylov::ended_name(report.ended))},
       {"chosen",
        {{"format", krylov::sparse_format_name(chosen.format)},
         {"kernel", kernel_word(chosen)},
         {"work_group", chosen.work_group},
         {"fused", chosen.fused},
         {"predicted_us", positive_or_null(chosen.predicted_us)},
         {"measured_us", positive_or_null(chosen.measured_us)},
         {"times_measured", chosen.times_measured}}},
       {"csr_us", positive_or_null(report.csr_us)},
       {"conversion",
        {{"verdict", krylov::verdict_name(report.conversion.verdict)},
         {"cost_ms", positive_or_null(report.conversion.cost_ms)},
         {"break_even_iterations", positive_or_null(report.conversion.break_even_iterations)},
         {"iterations_left",
          {{"low", report.conversion.left_low}, {"expected", report.conversion.left_expected}}},
         {"reason", report.conversion.reason}}},
       {"seconds",
        {{"solve", report.solve_seconds},
         {"setup", report.setup_seconds},
         {"tuning", report.tuning_seconds}}}});
}

std::string ended_text(const Task& task, const SolveReport& report) {
  using report::counted;
  const std::string off = number_text(report.true_residual, 3);
  if (task.method == kProducts)
    return counted(report.iterations, "product", "products") + ", the last one off by " + off;
  return std::string(krylov::ended_name(report.ended)) + " after " +
         counted(report.iterations, "iteration", "iterations") + "; residual " +
         number_text(report.residual, 3) + ", truly " + off;
}

void print_answer(const Task& task, const Answer& answer, const CliContext& context) {
  using report::counted;
  using report::time_text;
  const SolveReport& report = answer.report;
  const auto& pattern = task.matrix.pattern;
  const krylov::Chosen& chosen = report.chosen;
  context.print_paragraph(task.path);
  context.print_paragraph(
      "  matrix      ",
      report::matrix_text(static_cast<std::uint64_t>(pattern.rows),
                          static_cast<std::uint64_t>(pattern.columns),
                          static_cast<std::uint64_t>(pattern.entries()), task.symmetric));
  context.print_paragraph("  " + task.method + std::string(12 - task.method.size(), ' '),
                          ended_text(task, report));
  if (!report.reason.empty()) context.print_paragraph("  because     ", report.reason);
  context.print_paragraph(
      "  chosen      ",
      std::string(krylov::sparse_format_name(chosen.format)) + ", " + chosen_kernel_text(chosen) +
          ", groups of " + std::to_string(chosen.work_group) +
          (chosen.fused ? ", fused steps" : "") +
          (chosen.measured_us > 0
               ? ", " + time_text(chosen.measured_us * 1e3) +
                     (chosen.times_measured > 1 ? " a product"
                                                : " in the one product that was timed")
               : "") +
          (report.csr_us > 0 ? " (CSR " + time_text(report.csr_us * 1e3) + ")" : ""));
  context.print_paragraph("  conversion  ",
                          std::string(krylov::verdict_name(report.conversion.verdict)) +
                              (report.conversion.reason.empty() ? "" : ": ") +
                              report.conversion.reason);
  if (!report.memory.empty()) context.print_paragraph("  memory      ", report.memory);
  context.print_paragraph("  time        ",
                          time_text(report.solve_seconds * 1e9) + " for " +
                              counted(answer.solves, "solve", "solves") + ", of which " +
                              time_text(report.tuning_seconds * 1e9) + " of tuning; " +
                              time_text(report.setup_seconds * 1e9) + " of setup");
}

// Keeps what solves find out, and does nothing else.
Agent open_memory(const std::string& folder, const CliContext& context) {
  AgentOptions options;
  options.state = folder;
  options.mode = Mode::cached;
  options.model = kNoModel;
  options.read_environment = false;
  Agent agent = must(Agent::open(options));
  const Status kept = agent.status().storage;
  if (!kept.ok()) context.warn(folder + ": " + kept.message() + "; nothing is kept");
  return agent;
}

void solve(SolveVerbOptions given, CliContext& context) {
  std::optional<Agent> memory;
  std::unique_ptr<Notes> notes;
  if (!given.memory.empty()) {
    memory.emplace(open_memory(given.memory, context));
    notes = open_notes(*memory);
    given.notes = notes.get();
  }
  auto device = must(open_device(given.device, Dialect::portable, given.programs));
  const auto queue = must(queue_of(*device));
  json results = json::array();
  for (const std::string& path : given.matrices) {
    if (!results.empty()) context.keep_part({{"results", results}});
    Task task;
    Answer answer;
    try {
      task = task_of(path, given);
      answer = run(given, task, *device, *queue);
    } catch (const Failure& failure) {
      // Readers name the file themselves.
      const std::string message = failure.status().message();
      const bool named = message.rfind(path, 0) == 0;
      const Status status(failure.status().code(), named ? message : path + ": " + message);
      if (given.matrices.size() == 1) throw Failure(status);
      results.push_back({{"matrix", {{"file", path}}}, {"error", status.message()}});
      context.fail(status);
      continue;
    }
    if (!context.json()) print_answer(task, answer, context);
    results.push_back(object_of(task, given, answer));
    if (given.page.empty()) continue;
    results.back().update(answer.details);
    add_matrix_details(task.matrix, solver_options(given), *device, *queue, results.back());
  }
  if (!given.page.empty()) {
    const std::string html = report::html_of(report::solve_page(results));
    context.write({{given.page, FileKind::page, bytes_of(html)}});
  }
  if (context.json()) {
    context.print_json(given.matrices.size() == 1 ? results.front() : json{{"results", results}});
  }
}

void add_choice_options(Verb& verb, SolveVerbOptions& options) {
  verb.option("--method", options.method,
              "auto, cg, bicgstab, gmres, or spmv: products alone. auto is CG where the matrix is "
              "symmetric with a positive diagonal, else BiCGStab")
      .one_of({"auto", "cg", "bicgstab", "gmres", kProducts});
  verb.option("--precondition", options.precondition, "none or jacobi")
      .one_of({"none", "jacobi"})
      .acts("where something is solved", [&options] { return options.method != kProducts; });
  verb.option("--precision", options.precision,
              "Of the numbers on the device: f64 or f32, also double or single; mixed is f32, and "
              "residuals in double to refine it")
      .one_of({"f64", "f32", "mixed", "double", "single"});
  verb.option("--format", options.format, "auto, or csr, coo, dia, ell, hyb, sell from the start")
      .one_of({"auto", "csr", "coo", "dia", "ell", "hyb", "sell"});
  verb.option("--choose WHEN", options.choose,
              "Try other kernels and formats where it pays, never, or always")
      .one_of({"pays", "never", "always"});
}

}  // namespace

void add_solve_verb(CommandLine& line, CliContext& context) {
  Verb verb = line.add_verb("solve", "solves a sparse linear system, and says what it ran with");
  auto options = std::make_shared<SolveVerbOptions>();
  const auto solves = [options] { return options->method != kProducts; };
  verb.required("matrix", options->matrices, "Matrix Market files, also gzipped");
  verb.option("--rhs FILE", options->rhs,
              "File of the right-hand side, a number per row; else the rows' sums")
      .acts("where something is solved", solves);
  add_choice_options(verb, *options);
  verb.option("--tolerance", options->tolerance,
              "Of the residual, as a share of the right-hand side (1e-8, f32 1e-6)")
      .between(1e-300, 1.0)
      .acts("where something is solved", solves);
  verb.option("--max-iterations", options->max_iterations,
              "Of one solve. That it did not converge is an answer, too, with exit status 0")
      .at_least(1)
      .acts("where something is solved", solves);
  verb.option("--restart", options->restart, "GMRES begins anew after so many")
      .between(std::uint32_t{1}, std::uint32_t{1000})
      .acts("with --method gmres", [options] { return options->method == "gmres"; });
  verb.option("--repeat", options->repeat, "Solve so many times, and choose for all of them")
      .between(std::uint32_t{1}, std::uint32_t{1000000});
  verb.option("--model FILE", options->model,
              "A model of learn that says which formats, kernels and work groups to try");
  verb.option("--memory", options->memory,
              "Folder of an agent's journal, which keeps what is found out about a structure")
      .writes_below();
  verb.option("--html", options->page,
              "Writes a page: the matrix's pattern, its formats side by side, the residual's curve")
      .writes(FileKind::page);
  verb.option("--programs", options->programs, "Folder that keeps compiled programs")
      .writes_below();
  add_device_options(verb, options->device);
  verb.example("solve A.mtx.gz --precondition jacobi --repeat 100");
  verb.runs([options, &context] {
    if (!options->model.empty()) {
      options->model_bytes = must(read_file(options->model, kMaxFileBytes));
    }
    solve(*options, context);
  });
}

}  // namespace idletune::cli
