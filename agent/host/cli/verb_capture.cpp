// idletune capture F: arguments that an application lent, for tuning on real data elsewhere.
#include <filesystem>

#include "agent/host/cli/captured_files.hpp"
#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/verbs.hpp"
#include "models/package/kernel_package.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

struct CaptureArguments {
  std::string from;
  std::string kernel;
  std::string shape;
  std::vector<std::string> arrays;
  std::string output;
};

struct Found {
  std::string path;
  CapturedArguments captured;
};

// "name=file" for one of the package's captured buffers.
Status fill_array(CapturedArguments& captured, const std::string& text, std::vector<bool>& given) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const CapturedArguments::Array* array = captured.find(name);
  if (equals == std::string::npos || array == nullptr) {
    return Status(StatusCode::invalid_argument,
                  "--array " + text + ": expected NAME=FILE with a captured buffer's name");
  }
  const std::string path = text.substr(equals + 1);
  const auto bytes = must(read_file(path, CapturedArguments::kMaxBytes));
  if (bytes.size() != array->data.size()) {
    return Status(StatusCode::invalid_argument,
                  path + ": " + std::to_string(bytes.size()) + " bytes, expected " +
                      std::to_string(array->data.size()) + " for buffer '" + name + "'");
  }
  const auto index = static_cast<std::size_t>(array - captured.arrays().data());
  given[index] = true;
  std::copy(bytes.begin(), bytes.end(), captured.writable(index).data());
  return {};
}

// Of files with the bare elements.
Result<CapturedArguments> made_of(const CaptureArguments& arguments) {
  const auto package = must(KernelPackage::open(must(read_kernel(arguments.from)), arguments.from));
  const auto shape = must(parse_problem(arguments.shape));
  auto made = must(CapturedArguments::make(*package, shape, CapturedArguments::kMaxBytes / 2));
  std::vector<bool> given(made.arrays().size());
  for (const std::string& array : arguments.arrays) {
    must(fill_array(made, array, given));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) continue;
    return Status(StatusCode::invalid_argument,
                  "--array " + std::string(made.arrays()[i].name) + "=FILE is missing");
  }
  made.seal();
  must(made.check(*package));
  return made;
}

Result<std::vector<Found>> find(const CaptureArguments& arguments) {
  std::vector<Found> found;
  if (!arguments.arrays.empty()) {
    found.push_back({arguments.from, must(made_of(arguments))});
    return found;
  }
  std::vector<std::string> paths = {arguments.from};
  std::error_code error;
  if (std::filesystem::is_directory(arguments.from, error)) paths = captured_below(arguments.from);
  Problem shape;
  if (!arguments.shape.empty()) shape = must(parse_problem(arguments.shape));
  for (const std::string& path : paths) {
    auto captured = must(read_captured(path));
    if (!arguments.kernel.empty() && captured.kernel() != arguments.kernel) continue;
    if (!arguments.shape.empty() && captured.shape() != shape) continue;
    found.push_back({path, std::move(captured)});
  }
  if (!found.empty()) return found;
  return Status(StatusCode::not_found, arguments.from + ": no captured arguments" +
                                           (paths.empty() ? "" : " of that kernel and shape"));
}

std::string line_of(const json& entry) {
  std::string text = entry["file"].get<std::string>() + ": " + entry["kernel"].get<std::string>() +
                     " " + entry["shape"].dump();
  for (const auto& buffer : entry["buffers"]) {
    text += ", " + buffer["name"].get<std::string>() + " (" + buffer["elements"].dump() + " " +
            buffer["type"].get<std::string>() + ")";
  }
  return text;
}

void run_capture(const CaptureArguments& arguments, CliContext& context) {
  const auto found = must(find(arguments));
  if (!arguments.output.empty()) {
    if (found.size() != 1) {
      return context.fail(std::to_string(found.size()) +
                          " captures, expected one for -o: name it by --kernel and --shape");
    }
    context.write({{arguments.output, FileKind::capture, found.front().captured.bytes()}});
  }
  json entries = json::array();
  for (const Found& one : found) {
    json entry = describe_captured(one.captured);
    const bool stored = !arguments.output.empty() && context.exit_status() == 0;
    entry["file"] = stored ? arguments.output : one.path;
    if (!context.json()) context.print(terminal_text(line_of(entry)));
    entries.push_back(std::move(entry));
  }
  if (context.json()) context.print_json({{"captures", entries}});
}

}  // namespace

void add_capture_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<CaptureArguments>();
  Verb verb = line.add_verb("capture",
                            "shows arguments that an application lent, or stores them in a file");
  verb.required("from", arguments->from,
                "An agent's state folder, a file of captured arguments, or the kernel's package or "
                "description where --array says the rest");
  const Argument kernel =
      verb.option("--kernel NAME", arguments->kernel, "Only those of the kernel of that name");
  const Argument shape = verb.option("--shape SHAPE", arguments->shape,
                                     "Only those of that problem, such as 4096,65536:16")
                             .checked(wrong_with_problem);
  verb.option("--array NAME=FILE", arguments->arrays,
              "A captured buffer's elements as they lie in memory; for each of them")
      .one_at_a_time()
      .needs(shape)
      .excludes(kernel);
  verb.option("-o,--output", arguments->output,
              "Where to store the one that was found, for explore --captured")
      .writes(FileKind::capture);
  verb.example("capture /data/idletune --kernel histogram -o real.itcapture");
  verb.runs([arguments, &context] { run_capture(*arguments, context); });
}

}  // namespace idletune::cli
