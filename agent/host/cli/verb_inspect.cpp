// idletune inspect F: what is in any of our files.

#include "agent/host/cli/captured_files.hpp"
#include "agent/host/cli/histories.hpp"
#include "agent/host/cli/matrix_description.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/journal/names.hpp"
#include "agent/journal/summary.hpp"
#include "agent/signing/trailer.hpp"
#include "models/host/history/combine_repeats.hpp"
#include "models/host/insight/fractions.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/package/kernel_package.hpp"
#include "models/predict/model.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

namespace {

template <class Number>
std::vector<Number> numbers_in(Span<const Number> numbers) {
  return {numbers.begin(), numbers.end()};
}

json describe_space(const Space& space) {
  const json parameters = list_of(space.parameter_count(), [&](std::size_t p) -> json {
    return {{"name", std::string(space.parameter_name(p))},
            {"kind", parameter_kind_name(space.parameter_kind(p))},
            {"values", numbers_in(space.parameter_values(p))}};
  });
  const json valid = space.indexed() ? json(space.valid_count()) : json(nullptr);
  return {{"parameters", parameters}, {"combinations", space.combinations()}, {"valid", valid}};
}

Result<json> describe_package(std::vector<std::uint8_t> bytes, const std::string& path) {
  const auto package = must(KernelPackage::open(std::move(bytes), path));
  const KernelPackage& kernel = *package;
  const json dimensions = list_of(kernel.dimension_count(), [&](std::size_t d) {
    return std::string(kernel.inputs().dimension_name(d));
  });
  const json features = list_of(kernel.feature_count(), [&](std::size_t f) {
    json feature = {{"name", std::string(kernel.inputs().feature_name(f))}};
    if (f >= kernel.inputs().given_feature_count())
      feature["value"] = kernel.inputs().feature_text(f);
    return feature;
  });
  json steps = json::array();
  json setup = json::array();
  for (std::size_t s = 0; s < kernel.step_count(); ++s) {
    const bool of_setup = s >= kernel.step_count() - kernel.setup_count();
    (of_setup ? setup : steps).push_back(std::string(kernel.step(s).entry));
  }
  return json{{"format", "kernel package"},
              {"kernel", std::string(kernel.name())},
              {"steps", steps},
              {"setup", setup},
              {"digest", hexadecimal(kernel.digest())},
              {"source_bytes", kernel.source().size()},
              {"dimensions", dimensions},
              {"features", features},
              {"arguments", kernel.argument_count()},
              {"prebuilt_binaries", kernel.prebuilt_count()},
              {"default", numbers_in(kernel.default_configuration().values())},
              {"space", describe_space(kernel.space())}};
}

json describe_parameters(const History& history) {
  return list_of(history.parameters, [](const CellColumn& column) -> json {
    std::vector<std::string> seen;
    for (std::size_t row = 0; row < column.size() && seen.size() < 1000; ++row) {
      const std::string value = column.to_string(row);
      if (!contains(seen, value)) seen.push_back(value);
    }
    return {{"name", column.name()}, {"values", seen}};
  });
}

// Of a file of many problems: what they share, and one line of each.
json describe_problems(const std::vector<History>& histories, const History& all) {
  json problems = json::array();
  std::size_t rows = 0;
  constexpr std::size_t kMostListed = 100;
  for (const History& history : histories) {
    rows += history.rows();
    if (problems.size() == kMostListed) continue;
    problems.push_back({{"shape", report::shape_object(history.shape)},
                        {"problem", problem_object(history)},
                        {"configurations", history.rows()},
                        {"correct", history.count(TrialStatus::correct)},
                        {"best_ns", history.best_time_ns()}});
  }
  const History& first = histories.front();
  return joined(
      IDLETUNE_FIELDS(first, kernel, device, driver, inputs, constraints, nanoseconds_per_unit),
      {{"format", "history"},
       {"configurations", rows},
       {"different_configurations", all.rows()},
       {"parameters", describe_parameters(all)},
       {"problem_count", histories.size()},
       {"problems", problems}});
}

Result<json> describe_history(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  const auto read = must(read_histories(bytes, path));
  if (read.size() > 1) return describe_problems(read, combine_repeats(pointers_to(read)));
  const History& history = read.front();
  const PerformanceDistribution d = distribution_of(history);
  return joined(
      IDLETUNE_FIELDS(history, kernel, device, driver, constraints, nanoseconds_per_unit, warnings),
      {{"format", "history"},
       {"shape", report::shape_object(history.shape)},
       {"problem", problem_object(history)},
       {"configurations", history.rows()},
       {"statuses", statuses_of(history)},
       {"samples", history.samples.size()},
       {"best_ns", positive_or_null(d.best_ns)},
       {"median_run_ns", positive_or_null(d.median_run_ns)},
       {"median_compile_ns", positive_or_null(d.median_compile_ns)},
       {"well_performing_fraction", or_null(d.knows_fractions(), d.fraction(0.9))},
       {"space_size", or_null(history.valid_count > 0, history.valid_count)},
       {"parameters", describe_parameters(history)},
       {"extras", list_of(history.extras, [](const CellColumn& column) { return column.name(); })},
       {"notes", list_of(history.notes, [](const auto& note) { return note.first; })}});
}

json describe_source(const HistoricalSource& source) {
  return joined({{"device", std::string(source.device)},
                 {"well_performing_fraction", source.well_performing_fraction},
                 {"valid", source.valid_count},
                 {"measured", source.measured_count},
                 {"best_ns", positive_or_null(source.best_time_ns)},
                 {"median_run_ns", positive_or_null(source.median_run_ns)},
                 {"median_compile_ns", positive_or_null(source.median_compile_ns)}},
                report::shape_members(source.shape));
}

json describe_selectors(const KernelKnowledge& kernel,
                        const std::vector<KernelKnowledge::SelectorQuality>& qualities) {
  json selectors = json::array();
  for (std::size_t i = 0; i < kernel.selector_count(); ++i) {
    const SelectorView selector = kernel.selector(i);
    // It is asked about no other problems than such as it was learned from.
    json range = json::object();
    for (std::size_t n = 0; n < selector.input_count(); ++n)
      range[std::string(kernel.selector_input(i, n))] = {selector.low[n], selector.high[n]};
    const json device = or_null(!selector.device.empty(), std::string(selector.device));
    json entry = {{"device", device},
                  {"asked_about", range},
                  {"features", selector.feature_count()},
                  {"configurations", selector.class_count()},
                  {"leaves", selector.tree.leaf_count()},
                  {"height", selector.tree.height()}};
    for (const auto& quality : qualities) {
      if (quality.device != selector.device) continue;
      entry["held_out"] = {{"folds", quality.folds},   {"shapes", quality.shapes},
                           {"dtpr", quality.retained}, {"dttr", quality.against_single},
                           {"worst", quality.worst},   {"accuracy", quality.accuracy}};
    }
    selectors.push_back(entry);
  }
  return selectors;
}

json describe_published(const KernelKnowledge& kernel) {
  return list_of(kernel.published_count(), [&](std::size_t i) -> json {
    const KernelKnowledge::Published entry = kernel.published(i);
    return {{"device", std::string(entry.device)},
            {"devices", entry.devices},
            {"values", numbers_in(entry.values)}};
  });
}

// What the file has for a kernel, also of kinds that this version does not read.
void describe_sections(const ModelKernel& kernel, json& entry) {
  entry["bytes"] = kernel.bytes();
  entry["sections"] = list_of(kernel.sections, [](const ModelSection& section) -> json {
    return {{"kind", section_kind_name(section.kind)},
            {"number", section.kind},
            {"version", section.version},
            {"bytes", section.bytes.size()}};
  });
  const KernelProvenance provenance = provenance_of(kernel);
  entry["learned_from"] = list_of(provenance.histories, [](const KernelProvenance::Origin& origin) {
    return joined(IDLETUNE_FIELDS(origin, device, histories, shapes, configurations, correct),
                  {{"digest", hexadecimal(origin.digest)}});
  });
  entry["learned_unix_seconds"] =
      or_null(provenance.learned_unix_seconds > 0, provenance.learned_unix_seconds);
  entry["dropped"] = provenance.dropped;
}

json describe_knowledge(const KernelKnowledge& kernel) {
  const json sources = list_of(kernel.source_count(),
                               [&](std::size_t i) { return describe_source(kernel.source(i)); });
  const json parameters = list_of(kernel.parameter_count(),
                                  [&](std::size_t i) { return std::string(kernel.parameter(i)); });
  const auto quality = must(kernel.quality());
  const json held_out = list_of(quality.held_out, [&](const auto& result) -> json {
    return joined(
        {{"device", std::string(result.device)},
         {"first_pick", result.first_pick},
         {"evaluations_to_95_percent", or_null(result.evaluations > 0, result.evaluations)}},
        report::shape_members(result.shape));
  });
  return {{"kernel", std::string(kernel.name())},
          {"parameters", parameters},
          {"sources", sources},
          {"portfolio", kernel.portfolio_size()},
          {"first_picks", kernel.first_pick_count()},
          {"well_performing_fraction", kernel.well_performing_fraction(0.9)},
          {"selectors", describe_selectors(kernel, quality.selectors)},
          {"published", describe_published(kernel)},
          {"published_origin", std::string(kernel.published_origin())},
          {"held_out", held_out}};
}

const KernelKnowledge* knowledge_of(const Model& model, const ModelKernel& kernel) {
  for (const KernelKnowledge& known : model.kernels()) {
    if (known.name() != kernel.name || known.parameter_count() != kernel.parameters.size())
      continue;
    bool same = true;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
      same = same && known.parameter(i) == kernel.parameters[i];
    if (same) return &known;
  }
  return nullptr;
}

Result<json> describe_model(std::vector<std::uint8_t> bytes, const std::string& path) {
  const auto contents = must(read_model(bytes, path));
  const auto opened = must(Model::open(std::move(bytes), path));
  const Model& model = *opened;
  const json kernels = list_of(contents.kernels, [&](const ModelKernel& kernel) {
    // Null: this version reads nothing of it.
    const KernelKnowledge* known = knowledge_of(model, kernel);
    json entry = known != nullptr
                     ? describe_knowledge(*known)
                     : json{{"kernel", kernel.name}, {"parameters", kernel.parameters}};
    describe_sections(kernel, entry);
    return entry;
  });
  const json provenance = list_of(model.provenance_count(),
                                  [&](std::size_t i) { return std::string(model.provenance(i)); });
  return json{{"format", "model"},
              {"digest", hexadecimal(model.content_digest())},
              {"generation", model.generation()},
              {"bytes", model.size_bytes()},
              {"kernels", kernels},
              {"provenance", provenance}};
}

Result<json> describe_journal(const std::vector<std::uint8_t>& bytes, const std::string& path) {
  const auto read = journal::read_journal(bytes);
  if (!read.ok()) return Status(read.code(), path + ": " + read.status().message());
  json records = json::object();
  for (std::uint8_t type = 0; type < journal::kRecordTypeLimit; ++type) {
    if (read->records_by_type[type] > 0)
      records[journal::record_type_name(type)] = read->records_by_type[type];
  }
  return json{{"format", "journal"},
              {"version", read->header.version},
              {"generation", read->header.generation},
              {"bytes", read->file_bytes},
              {"dropped_bytes", read->dropped_bytes()},
              {"records", read->records},
              {"records_by_type", records},
              {"unknown_records", read->unknown_records},
              {"malformed_records", read->malformed_records}};
}

Result<json> describe(std::vector<std::uint8_t> bytes, const std::string& path) {
  const std::string identifier =
      bytes.size() >= 8 ? std::string(bytes.begin() + 4, bytes.begin() + 8) : std::string();
  if (bytes.size() >= 4 && std::string(bytes.begin(), bytes.begin() + 4) == "ITC1") {
    const auto captured = must(CapturedArguments::open(std::move(bytes), path));
    return describe_captured(captured);
  }
  if (identifier == "ITK1") return describe_package(std::move(bytes), path);
  if (identifier == "ITH1") return describe_history(bytes, path);
  if (identifier == "ITM1") return describe_model(std::move(bytes), path);
  if (may_be_matrix(bytes)) return describe_matrix(bytes, path);
  auto described = describe_journal(bytes, path);
  if (described.ok() || described.code() == StatusCode::version_mismatch) return described;
  return Status(StatusCode::unsupported,
                path +
                    ": none of our files (expected a kernel package, a history, a model, captured "
                    "arguments, a journal or a sparse matrix in Matrix Market form); " +
                    described.status().message());
}

// A value as people read it, in a unit that its name tells.
std::string value_text(const std::string& key, const json& value) {
  if (value.is_null()) return "not known";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() && has_ending(key, "_ns")) return report::time_text(value.get<double>());
  if (value.is_number_float()) return report::mean_count_text(value.get<double>());
  if (value.is_number_unsigned() && !has_ending(key, "_seconds"))
    return report::count_text(value.get<std::uint64_t>());
  if (value.is_number() && !has_ending(key, "_seconds"))
    return report::mean_count_text(value.get<double>());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [name, item] : value.items()) {
    const bool numbers = item.is_number_integer() && value.is_array();
    text += (text.empty()     ? ""
             : key == "shape" ? "x"
                              : " ") +
            (value.is_object() ? name + "=" : "") +
            (numbers ? item.dump() : value_text(name, item));
  }
  return text.empty() ? "none" : text;
}

std::string title_of(std::string key) {
  if (has_ending(key, "_ns")) key.resize(key.size() - 3);
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

bool holds_structures(const json& value) {
  return std::any_of(value.begin(), value.end(),
                     [](const json& item) { return item.is_structured(); });
}

// Objects with the same names and nothing that would not fit a cell.
bool is_table(const json& value) {
  return value.is_array() && value.size() > 1 && value.front().is_object() &&
         std::all_of(value.begin(), value.end(), [&](const json& row) {
           return row.size() == value.front().size() &&
                  std::none_of(row.begin(), row.end(), [](const json& cell) {
                    return cell.is_structured() && holds_structures(cell);
                  });
         });
}

void print_table(const json& rows, const std::string& indent, const CliContext& context) {
  std::vector<std::string> keys;  // names, then numbers, then lists, which may be long
  for (const int pass : {0, 1, 2}) {
    for (const auto& [key, item] : rows.front().items()) {
      const bool is_key = item.is_string() || key == "shape";
      if (pass == (is_key ? 0 : item.is_structured() ? 2 : 1)) keys.push_back(key);
    }
  }
  std::vector<std::string> columns;
  for (const std::string& key : keys) {
    columns.push_back((rows.front()[key].is_number() ? ">" : "") + title_of(key));
  }
  TextTable table(columns);
  for (const json& row : rows) {
    std::vector<std::string> cells;
    for (const std::string& key : keys)
      cells.push_back(row.contains(key) ? value_text(key, row[key]) : "");
    table.add_row(std::move(cells));
  }
  context.print(table, indent);
}

// "key: value" lines, tables where rows are alike, and what is within others indented.
void print_described(const json& value, const std::string& indent, const CliContext& context) {
  for (const auto& [key, item] : value.items()) {
    const std::string name = value.is_array() ? "-" : title_of(key) + ":";
    const bool nested = item.is_object() || (item.is_array() && holds_structures(item));
    if (!nested || item.empty()) {
      context.print_paragraph(indent + name + " ", value_text(key, item));
      continue;
    }
    context.print(indent + name);
    if (is_table(item)) {
      print_table(item, indent + "  ", context);
    } else {
      print_described(item, indent + "  ", context);
    }
  }
}

// People see names beside a configuration's values.
std::string named(const json& names, const json& values) {
  std::string all;
  for (const json& name : names) all += (all.empty() ? "" : " ") + name.get<std::string>();
  return journal::named_values(all, values.get<std::vector<std::int64_t>>());
}

void name_configurations(json& file) {
  if (file.contains("default")) {
    const json names =
        list_of(file["space"]["parameters"], [](const json& p) { return p["name"]; });
    file["default"] = named(names, file["default"]);
  }
  if (!file.contains("kernels")) return;
  for (json& kernel : file["kernels"]) {
    if (!kernel.contains("published")) continue;  // another version's
    for (json& each : kernel["published"])
      each["values"] = named(kernel["parameters"], each["values"]);
  }
}

void run_inspect(const std::string& path, CliContext& context) {
  const auto files = must(history_files({path}));
  const json all = list_of(files, [&](const std::string& file) {
    auto bytes = must(read_file(file, kMaxFileBytes));
    json signed_for;
    if (signing::has_trailer(bytes)) {
      signed_for = must_of(file, signing::read_trailer(bytes)).product;
      bytes.resize(signing::bytes_without_trailer(bytes));
    }
    auto described = must(describe(std::move(bytes), file));
    if (!signed_for.is_null()) described["signed_for"] = signed_for;
    if (files.size() > 1) described["file"] = file;
    if (!context.json()) name_configurations(described);
    return described;
  });
  const json answer = all.size() == 1 ? all[0] : json{{"files", all}};
  if (context.json()) return context.print_json(answer);
  print_described(answer, "", context);
}

}  // namespace

void add_inspect_verb(CommandLine& line, CliContext& context) {
  auto path = std::make_shared<std::string>();
  Verb verb = line.add_verb("inspect", "tells what is in any of our files");
  verb.required("file", *path,
                "A kernel package, history, model, journal, captured arguments or Matrix Market "
                "file, or a folder of histories");
  verb.example("inspect board.itmodel");
  verb.runs([path, &context] { run_inspect(*path, context); });
}

}  // namespace idletune::cli
