#include "agent/host/cli/exploration_files.hpp"

#include <filesystem>

#include <unistd.h>

#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/sparse_problem.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "platform/os/boot.hpp"

namespace idletune::cli {

Status refuse_strange_output(const std::string& output, bool several) {
  const auto exists = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; };
  const std::string folder = output + ".progress";
  const bool one = exists(folder + "/results");
  if (!exists(output) || (several ? !one && exists(folder) : one)) return {};
  return Status(StatusCode::invalid_argument, output +
                                                  " exists, and there is no progress beside it to "
                                                  "go on with: remove it or name another output");
}

std::string progress_folder(const std::string& folder, const std::string& problem,
                            const std::string& source) {
  const std::string plain = folder + "/" + file_name_part(problem);
  if (source.empty()) return plain;
  std::error_code error;
  const auto path = std::filesystem::canonical(source, error);
  return plain + "-" + hexadecimal(digest_of(error ? source : path.string())).substr(0, 8);
}

json answer_of(json answers, std::size_t problems_left) {
  if (answers.size() == 1 && problems_left == 0) return answers[0];
  json all = {{"problems_left", problems_left}};
  for (const char* sum : {"configurations", "measured_now", "remaining"}) {
    std::uint64_t total = 0;
    for (const json& answer : answers) total += answer[sum].get<std::uint64_t>();
    all[sum] = total;
  }
  all["complete"] = problems_left == 0 && all["remaining"] == 0;
  all["histories"] = std::move(answers);
  return all;
}

Quarantine::Quarantine(const std::string& chosen, const std::string& output, CliContext& context)
    : context_(context) {
  const std::string folder = chosen.empty() ? output + ".progress/state" : chosen;
  must(make_folders(folder));
  journal::JournalOptions options;
  options.boot = boot_identity();
  journal_ = journal::Journal::open(open_posix_storage(folder), options);
  if (!journal_->storage_status().ok()) {
    context.warn("quarantine is not kept: " + journal_->storage_status().message());
  }
  if (const Status damage = journal_->damage(); !damage.ok()) {
    context.warn(damage.message());
  }
}

void Quarantine::close() {
  const Status closed = journal_->shutdown();
  if (!closed.ok() && journal_->storage_status().ok()) {
    context_.warn("quarantine is not kept: " + closed.message());
  }
}

namespace {

// "64x64x64" is "64,64,64", and a file is a file by whatever name.
std::string key_of(const GivenProblem& problem) {
  if (problem.kind != GivenProblem::Kind::shape) {
    std::error_code error;
    const auto path = std::filesystem::canonical(problem.text, error);
    return error ? problem.text : path.string();
  }
  const auto parsed = parse_problem(problem.text);
  if (!parsed.ok()) return problem.text;
  std::string key;
  for (const std::int64_t word : parsed->words()) key += std::to_string(word) + ',';
  return key;
}

}  // namespace

Result<std::vector<GivenProblem>> given_problems(const ExploreArguments& arguments) {
  std::vector<GivenProblem> problems;
  for (const std::string& text : arguments.shapes)
    problems.push_back({GivenProblem::Kind::shape, text});
  for (const std::string& text : arguments.captured)
    problems.push_back({GivenProblem::Kind::captured, text});
  for (const std::string& text : arguments.problems) {
    const auto matrices = must(sparse_problems_of(text));
    for (const std::string& matrix : matrices)
      problems.push_back({GivenProblem::Kind::matrix, matrix});
  }
  // One that is said twice is one problem.
  std::set<std::pair<GivenProblem::Kind, std::string>> seen;
  problems.erase(std::remove_if(problems.begin(), problems.end(),
                                [&seen](const GivenProblem& problem) {
                                  return !seen.insert({problem.kind, key_of(problem)}).second;
                                }),
                 problems.end());
  return problems;
}

// The page of explore --live.
namespace {

// The best so far, as a share of what is best by now, the default included; failures change nothing.
report::Figure convergence_figure(const std::vector<double>& times_ns, double best_ns,
                                  double default_ns) {
  if (default_ns > 0) best_ns = std::min(best_ns, default_ns);
  report::CurvePlot plot{{"configurations measured", report::Axis::logarithmic},
                         {"performance, relative to the best by now", report::Axis::shares, 0, 1},
                         {},
                         default_ns > 0 ? best_ns / default_ns : 0};
  report::Curve curve;
  double best = INFINITY;
  for (std::size_t i = 0; i < times_ns.size(); ++i) {
    const bool better = times_ns[i] > 0 && times_ns[i] < best;
    if (better) best = times_ns[i];
    if (!std::isfinite(best) || (!better && i + 1 < times_ns.size())) continue;
    const auto at = static_cast<double>(i + 1);
    if (!curve.points.empty()) curve.points.push_back({at, curve.points.back().y});
    curve.points.push_back({at, best_ns / best});
  }
  plot.curves.push_back(std::move(curve));
  report::Figure figure("live", "Best so far", {{"curve s1", false, "best configuration so far"}});
  figure.add(plot, "", "", "",
             report::counted(times_ns.size(), "measurement", "measurements") + ".");
  figure.caption = default_ns > 0
                       ? "Relative to the best by now, the default included; dashed: the default."
                       : "Relative to the best configuration by now.";
  return figure;
}

}  // namespace

bool LivePage::due() const { return Clock::now() >= next_; }

Status LivePage::write(const History& history, const std::vector<double>& times_ns,
                       std::uint64_t total, const report::KnownRates& rates, bool over) {
  const Clock::time_point start = Clock::now();
  report::Page page;
  const std::string what = history.kernel + " " + report::shape_text(history.shape);
  const bool complete = history.rows() >= total;
  page.title = (over && complete ? "Explored: " : "Exploring: ") + what;
  page.lead = "On " + history.device +
              (!over      ? ". This page renews itself."
               : complete ? "."
                          : ". Stopped; the same command goes on.");
  const double best = history.best_time_ns();
  page.totals = {
      {report::count_text(history.rows()), "of " + report::count_text(total) + " measured"},
      {report::time_text(best), "best"},
      {report::count_text(history.rows() - history.count(TrialStatus::correct)), "failed"}};
  if (rates.default_ns > 0) page.totals.push_back({report::time_text(rates.default_ns), "default"});
  page.renew_seconds = over ? 0 : kRenewSeconds;
  if (best > 0) {
    page.sections.push_back(
        {"progress", "How far it is", {convergence_figure(times_ns, best, rates.default_ns)}});
    report::ReportOptions options;
    options.rates = [rates](const History&) { return rates; };
    const report::Continue go_on = [](const std::string&) { return true; };
    std::vector<report::Recording> recordings;
    recordings.push_back({history, ""});
    const report::Study study = report::study_of(std::move(recordings), report::ParameterKinds());
    for (report::Section section : {report::best_section(study, options, go_on),
                                    report::value_section(study, options, go_on)})
      if (!section.parts.empty()) page.sections.push_back(std::move(section));
  }
  const std::string html = report::html_of(page);
  Status written = outputs_.write({{path_, FileKind::page, bytes_of(html)}});
  const auto taken = Clock::now() - start;
  next_ = Clock::now() + std::max<Clock::duration>(std::chrono::seconds(kRenewSeconds), 20 * taken);
  return written;
}

}  // namespace idletune::cli
