#include "agent/cli/live_page.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "agent/cli/report/numbers.hpp"
#include "agent/cli/report/plots.hpp"
#include "agent/cli/report/sections.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

// The best so far, as a share of what is best by now; failures change nothing.
report::Figure convergence_figure(const std::vector<double>& times_ns, double best_ns,
                                  double default_ns) {
  report::CurvePlot plot;
  plot.caption = {"live-1", "Best so far over configurations measured", ""};
  plot.x_name = "configurations measured";
  plot.y_name = "performance, relative to the best by now";
  plot.percentages = true;
  plot.y_low = 0;
  plot.y_high = 1;
  if (default_ns > 0) plot.level = std::min(1.0, best_ns / default_ns);
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
  plot.caption.description = report::counted(times_ns.size(), "measurement", "measurements") + ".";
  plot.curves.push_back(std::move(curve));
  report::Figure figure;
  figure.title = "Best so far";
  figure.legend = {{"curve s1", false, "best configuration so far"}};
  figure.panels.push_back({"", "", report::draw(plot), ""});
  figure.caption = std::string("Relative to the best configuration by now") +
                   (default_ns > 0 ? "; dashed: the default." : ".");
  return figure;
}

}  // namespace

bool LivePage::due() const { return Clock::now() >= next_; }

Status LivePage::write(const History& history, const std::vector<double>& times_ns,
                       std::uint64_t total, double default_ns, bool over) {
  const Clock::time_point start = Clock::now();
  report::Page page;
  const std::string what = history.kernel + " " + report::shape_text(history.shape);
  page.title = (over ? "Explored: " : "Exploring: ") + what;
  page.lead = "On " + history.device + (over ? "." : ". This page renews itself.");
  const double best = history.best_time_ns();
  page.totals = {
      {report::count_text(history.rows()), "of " + report::count_text(total) + " measured"},
      {report::time_text(best), "best"},
      {report::count_text(history.rows() - history.count(TrialStatus::correct)), "failed"}};
  if (default_ns > 0) page.totals.push_back({report::time_text(default_ns), "default"});
  page.renew_seconds = over ? 0 : kRenewSeconds;
  if (best > 0) {
    report::Section section{"progress", "How far it is", {}};
    section.parts.push_back(convergence_figure(times_ns, best, default_ns));
    page.sections.push_back(std::move(section));
    report::ReportOptions options;
    options.rates = [default_ns](const History&) { return report::KnownRates{default_ns, 0, 0}; };
    const report::Continue go_on = [](const std::string&) { return true; };
    std::vector<report::Recording> recordings;
    recordings.push_back({history, ""});
    const report::Study study = report::study_of(std::move(recordings), report::ParameterKinds());
    page.sections.push_back(report::best_section(study, options, go_on));
    page.sections.push_back(report::value_section(study, options, go_on));
  }
  const std::string html = report::html_of(page);
  Status written = write_file_atomically(
      path_, Bytes(reinterpret_cast<const std::uint8_t*>(html.data()), html.size()));
  const auto taken = Clock::now() - start;
  next_ = Clock::now() + std::max<Clock::duration>(std::chrono::seconds(kRenewSeconds), 20 * taken);
  return written;
}

}  // namespace idletune::cli
