// idletune best H...: the fastest configurations of each history.

#include "agent/host/cli/explanation_output.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/known_kernels.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/study.hpp"
#include "models/host/insight/best.hpp"
#include "models/host/insight/chosen_member.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kMostDevices = 4;  // with a column of their own

struct BestArguments {
  std::vector<std::string> histories;
  std::vector<std::string> kernels;
  std::size_t count = 10;
};

bool counts_operations(const KernelFacts& known) {
  return known.work && known.work->operations.value_or(0) > 0;
}

json entry_of(const History& history, const RankedConfiguration& best, const KernelFacts& known) {
  const json elsewhere = list_of(best.elsewhere, [](const RankedConfiguration::Elsewhere& one) {
    return IDLETUNE_FIELDS(one, device, rank, of, relative);
  });
  using report::configuration_object;
  using report::configuration_text;
  return {{"rank", best.rank},
          {"time_ns", best.time_ns},
          {"relative", best.relative},
          {"speed_up", positive_or_null(known.default_ns / best.time_ns)},
          {"gflops",
           positive_or_null(counts_operations(known) ? *known.work->operations / best.time_ns : 0)},
          {"gbytes_per_second",
           positive_or_null(known.work ? known.work->compulsory_bytes / best.time_ns : 0)},
          {"member", member_or_null(configuration_text(history, best.row))},
          {"configuration", configuration_object(history, best.row)},
          {"elsewhere", elsewhere}};
}

// One unit for the whole table.
struct TimeUnit {
  const char* name;
  double ns;
};

TimeUnit unit_for(double ns) {
  if (ns >= 1e9) return {"s", 1e9};
  if (ns >= 1e6) return {"ms", 1e6};
  return ns >= 1e3 ? TimeUnit{"us", 1e3} : TimeUnit{"ns", 1};
}

std::vector<std::string> columns_of(const std::vector<RankedConfiguration>& best,
                                    const KernelFacts& known, const TimeUnit& unit) {
  std::vector<std::string> columns{">rank", std::string(">time ") + unit.name};
  if (known.default_ns > 0) columns.push_back(">x default");
  if (counts_operations(known)) columns.push_back(">GFLOP/s");
  if (known.work) columns.push_back(">GB/s");
  for (std::size_t d = 0; d < std::min(best.front().elsewhere.size(), kMostDevices); ++d) {
    columns.push_back(">" + std::string(1, static_cast<char>('A' + d)));
  }
  columns.push_back("configuration");
  return columns;
}

void print_best(const History& history, const std::vector<RankedConfiguration>& best,
                const KernelFacts& known, const CliContext& context) {
  using report::configuration_text;
  using report::significant;
  const TimeUnit unit = unit_for(best.front().time_ns);
  const std::string shape =
      history.shape.size() > 0 ? " " + report::shape_text(history.shape) : std::string();
  std::string about = history.kernel + shape + " on " + history.device + ": " +
                      std::to_string(history.count(TrialStatus::correct)) + " of " +
                      std::to_string(history.rows()) + " configurations ran";
  if (known.default_ns > 0) {
    about += "; default " + significant(known.default_ns / unit.ns, 3) + " " + unit.name;
  }
  context.print_paragraph(about);
  TextTable table(columns_of(best, known, unit));
  for (const RankedConfiguration& one : best) {
    std::vector<std::string> cells{std::to_string(one.rank), significant(one.time_ns / unit.ns, 4)};
    if (known.default_ns > 0) cells.push_back(significant(known.default_ns / one.time_ns, 3));
    if (counts_operations(known)) {
      cells.push_back(significant(*known.work->operations / one.time_ns, 3));
    }
    if (known.work) cells.push_back(significant(known.work->compulsory_bytes / one.time_ns, 3));
    for (std::size_t d = 0; d < std::min(one.elsewhere.size(), kMostDevices); ++d) {
      const auto& rank = one.elsewhere[d].rank;
      cells.push_back(rank ? std::to_string(*rank) : "-");
    }
    cells.push_back(with_chosen_member(configuration_text(history, one.row)));
    table.add_row(std::move(cells));
  }
  context.print(table);
  for (std::size_t d = 0; d < std::min(best.front().elsewhere.size(), kMostDevices); ++d) {
    const RankedConfiguration::Elsewhere& other = best.front().elsewhere[d];
    context.print_paragraph(std::string(1, static_cast<char>('A' + d)) + ": ",
                            "its rank among the " + std::to_string(other.of) + " that ran on " +
                                other.device + " (-: it did not)");
  }
  if (best.front().elsewhere.size() > kMostDevices) {
    context.print_paragraph(std::to_string(best.front().elsewhere.size() - kMostDevices) +
                            " more devices stand in the JSON");
  }
  if (known.work) {
    context.print_paragraph("GB/s: ", "as if every buffer crossed the memory's interface once");
  }
}

void run_best(const BestArguments& arguments, CliContext& context) {
  const auto histories = must(load_histories(arguments.histories));
  const auto kernels = must(KnownKernels::open(arguments.kernels));
  json results = json::array();
  for (const History& history : histories) {
    std::vector<const History*> all;  // a second run on the same device is not another one
    for (const History& other : histories) {
      if (&other == &history || other.device != history.device) all.push_back(&other);
    }
    const auto best = best_configurations(history, arguments.count, all);
    const KernelFacts known = kernels.about(history);
    results.push_back(
        {{"kernel", history.kernel},
         {"device", history.device},
         {"shape", report::shape_object(history.shape)},
         {"problem", problem_object(history)},
         {"configurations", history.rows()},
         {"correct", history.count(TrialStatus::correct)},
         {"default_ns", positive_or_null(known.default_ns)},
         {"work_from", or_null(known.work.has_value(), known.work_from)},
         {"best", list_of(best, [&](const auto& one) { return entry_of(history, one, known); })}});
    if (context.json()) continue;
    if (&history != &histories.front()) context.print("\n");
    if (best.empty()) {
      context.print_paragraph(history.kernel + " on " + history.device + ": no configuration ran");
    } else {
      print_best(history, best, known, context);
    }
  }
  if (context.json()) context.print_json({{"results", results}});
}

}  // namespace

void add_best_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<BestArguments>();
  Verb verb =
      line.add_verb("best", "tells which configurations are fastest, here and on other devices");
  verb.required("histories", arguments->histories,
                "Histories (.ithistory, or what import reads), or folders of them; those of one "
                "kernel and shape are each other's other devices");
  verb.option("-n,--count", arguments->count, "So many of each")
      .between(std::size_t{1}, std::size_t{1000000});
  verb.option("--kernel FILE", arguments->kernels,
              "Package or description that tells a kernel's work and default; may be repeated")
      .one_at_a_time()
      .shows_default("the one that ships");
  verb.example("best histories -n 5");
  verb.runs([arguments, &context] { run_best(*arguments, context); });
}

}  // namespace idletune::cli
