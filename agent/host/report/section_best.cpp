// The fastest configurations of every kernel and device.

#include "agent/host/report/numbers.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/insight/best.hpp"
#include "models/host/insight/chosen_member.hpp"

namespace idletune::report {
namespace {

constexpr std::size_t kMostRows = 600;

// "3 of 400 at best, 57 at worst" on the other devices of the group.
std::string elsewhere_text(const RankedConfiguration& best) {
  std::size_t low = 0;
  std::size_t high = 0;
  std::size_t missing = 0;
  for (const RankedConfiguration::Elsewhere& other : best.elsewhere) {
    if (!other.rank) {
      ++missing;
      continue;
    }
    low = low == 0 ? *other.rank : std::min(low, *other.rank);
    high = std::max(high, *other.rank);
  }
  if (best.elsewhere.empty()) return "-";
  if (low == 0) return "ran on none";
  const std::string text = range_text(count_text(low), count_text(high));
  return missing > 0 ? text + " (" + count_text(missing) + " failed)" : text;
}

std::string or_dash(double value, int digits) {
  return value > 0 ? significant(value, digits) : "-";
}

}  // namespace

Section best_section(const Study& study, const ReportOptions& options, const Continue& go_on) {
  Section section{"best", "Which configurations are best", {}};
  Table table("The fastest configurations",
              {"kernel", "device", ">rank", ">time", ">x default", ">GFLOP/s", ">GB/s",
               ">rank elsewhere", "configuration"});
  std::size_t left_out = 0;
  const std::size_t count = study.source_count() > 40 ? 1 : study.source_count() > 8 ? 3 : 5;
  for (const Group& group : study.groups) {
    std::vector<const History*> all;
    for (const Source& source : group.sources) all.push_back(source.history);
    for (const Source& source : group.sources) {
      if (table.rows.size() >= kMostRows) {
        ++left_out;
        continue;
      }
      if (!go_on("best: " + group.title)) break;
      const History& history = *source.history;
      // What `explore` noted stands in the recording, not in what was combined from several.
      const KnownRates known =
          options.rates ? options.rates(source.recordings.front()->history) : KnownRates();
      for (const RankedConfiguration& best : best_configurations(history, count, all)) {
        table.rows.push_back({group.title, source.device, count_text(best.rank),
                              time_text(best.time_ns), or_dash(known.default_ns / best.time_ns, 3),
                              or_dash(known.operations / best.time_ns, 3),
                              or_dash(known.bytes / best.time_ns, 3), elsewhere_text(best),
                              with_chosen_member(configuration_text(history, best.row))});
      }
    }
  }
  table.caption =
      "x default: how many times faster than the kernel\u2019s default. GFLOP/s and GB/s where the "
      "kernel\u2019s description is known (--kernel, or a kernel that ships): operations as it "
      "says, bytes as if every buffer crossed the memory\u2019s interface once. Rank elsewhere: "
      "lowest and highest among the other devices of the same kernel and size.";
  if (left_out > 0) {
    table.caption +=
        " The last " + counted(left_out, "pair", "pairs") + " of kernel and device are left out.";
  }
  section.parts.push_back(std::move(table));
  return section;
}

}  // namespace idletune::report
