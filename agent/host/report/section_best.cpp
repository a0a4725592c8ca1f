// Tables of what there is: the fastest configurations, and the histories.

#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/insight/best.hpp"
#include "models/host/insight/chosen_member.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostRows = 600;

// "3 of 400 at best, 57 at worst" on the other devices of the group.
std::string elsewhere_text(const RankedConfiguration& best) {
  Limits ranks;
  std::size_t missing = 0;
  for (const RankedConfiguration::Elsewhere& other : best.elsewhere) {
    missing += other.rank ? 0 : 1;
    if (other.rank) ranks.include(static_cast<double>(*other.rank));
  }
  if (best.elsewhere.empty()) return "-";
  if (missing == best.elsewhere.size()) return "ran on none";
  return range_text(mean_count_text(ranks.low), mean_count_text(ranks.high)) +
         (missing > 0 ? " (" + count_text(missing) + " without)" : "");
}

std::string or_dash(double value) { return value > 0 ? significant(value, 3) : "-"; }
std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string failures_text(const History& history) {
  std::vector<std::string> failures;
  for (const TrialStatus status :
       {TrialStatus::compile, TrialStatus::runtime, TrialStatus::correctness, TrialStatus::timeout,
        TrialStatus::constraints, TrialStatus::crash}) {
    if (const std::size_t count = history.count(status); count > 0)
      failures.push_back(count_text(count) + "\u00A0" + trial_status_name(status));
  }
  return failures.empty() ? "none" : listed(failures);
}

}  // namespace

Section best_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Table table("The fastest configurations",
              {"kernel", "device", ">rank", ">time", ">x default", ">GFLOP/s", ">GB/s",
               ">rank elsewhere", "configuration"});
  std::size_t skipped = 0;
  const std::size_t sources = study.source_count();
  for (const auto& [group, source] : study.pairs()) {
    if (table.rows.size() >= kMostRows || !go_on("best: " + group->title)) {
      ++skipped;
      continue;
    }
    const History& history = *source->history;
    // What `explore` noted stands in the recording, not in what was combined from several.
    const KnownRates known =
        options.rates ? options.rates(source->recordings.front()->history) : KnownRates();
    for (const RankedConfiguration& best : best_configurations(history,
                                                               sources > 40  ? 1
                                                               : sources > 8 ? 3
                                                                             : 5,
                                                               group->histories())) {
      table.rows.push_back({group->title, source->device, count_text(best.rank),
                            time_text(best.time_ns), or_dash(known.default_ns / best.time_ns),
                            or_dash(known.operations / best.time_ns),
                            or_dash(known.bytes / best.time_ns), elsewhere_text(best),
                            with_chosen_member(configuration_text(history, best.row))});
    }
  }
  table.caption =
      "x default: how many times faster than the kernel\u2019s default. GFLOP/s and GB/s where the "
      "kernel\u2019s description is known (--kernel, or a kernel that ships): operations as it "
      "says, bytes as if every buffer crossed the memory\u2019s interface once. Rank elsewhere: "
      "lowest and highest among the other devices of the same kernel and size; without: there it "
      "failed or was not measured.";
  if (skipped > 0)
    table.caption +=
        " The last " + counted(skipped, "pair", "pairs") + " of kernel and device are left out.";
  return {"best", "Which configurations are best", {table}};
}

Section source_section(const Study& study, const ReportOptions&, const Continue& go_on) {
  go_on("sources");
  Table table("Histories on this page",
              {"file", "kernel", "device", "driver", "size", ">configurations", "not correct"});
  Table remarks("What reading them met", {"file", "remark"}, /*is_folded=*/true);
  std::size_t repeated = 0;
  for (const auto& [group, source] : study.pairs()) {
    repeated += source->recordings.size() > 1 ? 1 : 0;
    for (const Recording* recording : source->recordings) {
      const History& history = recording->history;
      table.rows.push_back({recording->file, or_dash(history.kernel), or_dash(history.device),
                            or_dash(history.driver), shape_text(history.shape),
                            count_text(history.rows()), failures_text(history)});
      for (const std::string& warning : history.warnings)
        remarks.rows.push_back({recording->file, warning});
    }
  }
  table.caption = repeated == 0 ? "Each is one run over a space."
                                : "Several runs of a kernel on the same device model are combined, "
                                  "every configuration by the median of its run times: so for " +
                                      counted(repeated, "device", "devices") + " here.";
  Section section{"sources", "Where the figures come from", {table}};
  if (!remarks.rows.empty()) section.parts.emplace_back(remarks);
  return section;
}

}  // namespace idletune::report
