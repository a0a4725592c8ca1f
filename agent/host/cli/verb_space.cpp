// idletune space X: what a tuning space contains; lists or samples its valid configurations.
#include <filesystem>

#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/host/report/study.hpp"
#include "models/host/history/combine_repeats.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

constexpr std::uint64_t kMostSamples = 1000000000;
// Valid configurations are counted that far where their number is not stored.
constexpr std::uint64_t kMostCounted = 1'000'000;

struct SpaceOptions {
  std::string file;
  bool list = false;
  std::uint64_t sample = 0;
  std::uint64_t seed = 1;
};

// A space with what its file says about it.
struct NamedSpace {
  std::string kernel;
  Space space;
  std::shared_ptr<const KernelPackage> package;  // null for a history
  std::shared_ptr<const History> history;        // null otherwise
};

Result<NamedSpace> read_history_space(const std::string& path) {
  auto histories = must(load_histories(path));
  for (const History& history : histories) {
    if (can_share_file(histories.front(), history)) continue;
    return Status(StatusCode::invalid_argument,
                  "%: holds histories of several kernels or devices, expected one", path);
  }
  // What was measured at any of the problems.
  auto history = std::make_shared<const History>(histories.size() == 1
                                                     ? std::move(histories.front())
                                                     : combine_repeats(pointers_to(histories)));
  return NamedSpace{history->kernel, must(space_of(*history)), nullptr, history};
}

Result<NamedSpace> read_space(const std::string& path) {
  std::error_code error;
  if (has_ending(path, ".ithistory") || std::filesystem::is_directory(path, error))
    return read_history_space(path);
  const auto package = must(KernelPackage::open(must(read_kernel(path)), path));
  return NamedSpace{std::string(package->name()), package->space(), package, nullptr};
}

// Of a history: its values may stand for texts, which are shown as the source had them.
std::size_t row_of(const NamedSpace& named, const Configuration& configuration) {
  return static_cast<std::size_t>(named.space.index_of(configuration).value_or(0));
}

std::string configuration_text(const NamedSpace& named, const Configuration& configuration) {
  if (!named.history) return to_text(named.space, configuration);
  return report::configuration_text(*named.history, row_of(named, configuration));
}

json configuration_object(const NamedSpace& named, const Configuration& configuration) {
  if (named.history)
    return report::configuration_object(*named.history, row_of(named, configuration));
  json object = json::object();
  for (std::size_t i = 0; i < configuration.size(); ++i)
    object[std::string(named.space.parameter_name(i))] = configuration[i];
  return object;
}

// The distinct values of a parameter, as texts in their order.
std::vector<std::string> value_texts(const NamedSpace& named, std::size_t parameter) {
  const Span<const std::int64_t> values = named.space.parameter_values(parameter);
  std::vector<std::string> texts(values.size());
  if (!named.history) {
    for (std::size_t i = 0; i < values.size(); ++i) texts[i] = std::to_string(values[i]);
    return texts;
  }
  const CellColumn& column = named.history->parameters[parameter];
  for (std::size_t row = 0; row < column.size(); ++row) {
    const auto position = named.space.value_position(parameter, column.code(row));
    if (position) texts[*position] = column.to_string(row);
  }
  return texts;
}

// Valid configurations; null if there are too many to count. A history may be a sample of its
// space, and its `constraints` rows are no valid configurations.
json valid_number(const NamedSpace& named) {
  if (!named.history) {
    if (named.space.indexed()) return named.space.valid_count();
    const std::optional<std::uint64_t> count = named.space.count_valid(kMostCounted);
    return count ? json(*count) : json();
  }
  if (named.history->valid_count != 0) return named.history->valid_count;
  return named.history->rows() - named.history->count(TrialStatus::constraints);
}

template <class Visit>
void for_each_wanted(const NamedSpace& named, const SpaceOptions& options, Visit visit) {
  Configuration configuration;
  if (options.list) {
    for (Space::Cursor cursor = named.space.cursor(); cursor.next(configuration);) {
      visit(configuration);
    }
  }
  Random random(options.seed);
  for (std::uint64_t i = 0; i < options.sample; ++i) {
    configuration = named.space.sample(random);
    if (configuration.empty()) return;
    visit(configuration);
  }
}

const char* backing_name(SpaceBacking backing) {
  switch (backing) {
    case SpaceBacking::diagram: return "diagram";
    case SpaceBacking::rows: return "rows";
    case SpaceBacking::constraints: return "constraints";
  }
  return "unknown";
}

json parameter_object(const NamedSpace& named, std::size_t i) {
  json object = {{"name", std::string(named.space.parameter_name(i))},
                 {"kind", parameter_kind_name(named.space.parameter_kind(i))}};
  if (named.history) {
    object["values"] = value_texts(named, i);
    return object;
  }
  const Span<const std::int64_t> values = named.space.parameter_values(i);
  object["values"] = std::vector<std::int64_t>(values.begin(), values.end());
  object["default"] = named.package->default_configuration()[i];
  return object;
}

json space_object(const NamedSpace& named, const SpaceOptions& options) {
  const Space& space = named.space;
  json object = {{"kernel", named.kernel},
                 {"combinations", space.combinations()},
                 {"combinations_saturated", space.combinations_saturated()},
                 {"backing", backing_name(space.backing())},
                 {"digest", hexadecimal(space.digest())}};
  object["valid"] = valid_number(named);
  if (named.history) object["measured"] = named.history->rows();
  const auto parameter = [&](std::size_t i) { return parameter_object(named, i); };
  const auto text = [](const Expression& constraint) { return constraint.text(); };
  object["parameters"] = list_of(space.parameter_count(), parameter);
  object["constraints"] = list_of(space.constraints(), text);
  if (named.package) {
    object["shape_constraints"] = list_of(named.package->shape_constraints(), text);
    object["package_bytes"] = named.package->size_bytes();
  }
  if (options.list || options.sample > 0) {
    object["configurations"] = json::array();
    for_each_wanted(named, options, [&](const Configuration& configuration) {
      object["configurations"].push_back(configuration_object(named, configuration));
    });
  }
  return object;
}

std::string summary(const NamedSpace& named) {
  using report::count_text;
  using report::counted;
  const Space& space = named.space;
  std::string text = named.kernel + ": " +
                     counted(space.parameter_count(), "parameter", "parameters") + ", " +
                     (space.combinations_saturated() ? "more than " : "") +
                     counted(space.combinations(), "combination", "combinations") + ", ";
  const json valid = valid_number(named);
  text += (valid.is_null() ? "more than " + count_text(kMostCounted)
                           : count_text(valid.get<std::uint64_t>())) +
          " valid";
  return named.history ? text + ", " + count_text(named.history->rows()) + " measured" : text;
}

void print_text(const NamedSpace& named, const SpaceOptions& options, const CliContext& context) {
  if (options.list || options.sample > 0) {
    for_each_wanted(named, options, [&](const Configuration& configuration) {
      context.print(configuration_text(named, configuration));
      if (std::ferror(stdout) != 0) throw Failure(StatusCode::io_error, kNotWritten);
    });
    return;
  }
  context.print_paragraph(summary(named));
  TextTable table({"parameter", "kind", ">default", "values"});
  for (std::size_t i = 0; i < named.space.parameter_count(); ++i) {
    const std::string fallback =
        named.package ? std::to_string(named.package->default_configuration()[i]) : "";
    table.add_row({std::string(named.space.parameter_name(i)),
                   parameter_kind_name(named.space.parameter_kind(i)), fallback,
                   listed(value_texts(named, i), " ", [](const auto& text) { return text; })});
  }
  context.print(table);
  for (const Expression& c : named.space.constraints())
    context.print_paragraph("constraint  " + c.text());
  if (!named.package) return;
  for (const Expression& c : named.package->shape_constraints()) {
    context.print_paragraph("per shape   " + c.text());
  }
}

void run(const SpaceOptions& options, CliContext& context) {
  auto named = must(read_space(options.file));
  if (context.json()) {
    context.print_json(space_object(named, options));
  } else {
    print_text(named, options, context);
  }
}

}  // namespace

void add_space_verb(CommandLine& line, CliContext& context) {
  auto options = std::make_shared<SpaceOptions>();
  Verb verb = line.add_verb("space", "counts, lists or samples a tuning space");
  verb.required("file", options->file,
                "Description (.xml), package (.itkernel) or history (.ithistory)");
  const Argument list = verb.flag("--list", options->list, "Print every valid configuration");
  const Argument sample =
      verb.option("--sample", options->sample,
                  "Print that many valid configurations, drawn uniformly, with repetition")
          .between(std::uint64_t{1}, kMostSamples)
          .excludes(list);
  verb.option("--seed", options->seed, "Seed of the sample").needs(sample);
  verb.example("space kernels/gemm/gemm.xml --sample 5");
  verb.runs([options, &context] { run(*options, context); });
}

}  // namespace idletune::cli
