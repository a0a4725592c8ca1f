// Which histories the page is about, and what reading them met.
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"

namespace idletune::report {
namespace {

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string failures_text(const History& history) {
  std::string text;
  for (const TrialStatus status :
       {TrialStatus::compile, TrialStatus::runtime, TrialStatus::correctness, TrialStatus::timeout,
        TrialStatus::constraints, TrialStatus::crash}) {
    const std::size_t count = history.count(status);
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + count_text(count) + "\u00A0" + trial_status_name(status);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Section source_section(const Study& study, const ReportOptions&, const Continue& go_on) {
  Section section{"sources", "Where the figures come from", {}};
  go_on("sources");
  Table table("Histories on this page",
              {"file", "kernel", "device", "driver", "size", ">configurations", "not correct"});
  Table remarks("What reading them met", {"file", "remark"}, /*is_folded=*/true);
  std::size_t repeated = 0;
  for (const Group& group : study.groups) {
    for (const Source& source : group.sources) {
      repeated += source.recordings.size() > 1 ? 1 : 0;
      for (const Recording* recording : source.recordings) {
        const History& history = recording->history;
        table.rows.push_back({recording->file, or_dash(history.kernel), or_dash(history.device),
                              or_dash(history.driver), shape_text(history.shape),
                              count_text(history.rows()), failures_text(history)});
        for (const std::string& warning : history.warnings)
          remarks.rows.push_back({recording->file, warning});
      }
    }
  }
  table.caption = repeated == 0 ? "Each is one run over a space."
                                : "Several runs of a kernel on the same device model are combined, "
                                  "every configuration by the median of its run times: so for " +
                                      counted(repeated, "device", "devices") + " here.";
  section.parts.push_back(std::move(table));
  if (!remarks.rows.empty()) section.parts.push_back(std::move(remarks));
  return section;
}

}  // namespace idletune::report
