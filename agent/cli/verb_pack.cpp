// idletune pack X.xml -o Y: compiles a kernel description, or several as a family, into a package.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "agent/cli/prebuilt.hpp"
#include "agent/cli/verbs.hpp"
#include "models/package/compressed.hpp"
#include "models/package/family_xml.hpp"
#include "models/package/kernel_package.hpp"
#include "models/package/pack.hpp"
#include "models/package/xml.hpp"
#include "models/space/identifier.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kLargestBeside = std::size_t{16} << 20;

struct PackArguments {
  std::vector<std::string> descriptions;
  std::string name;
  std::string output;
  PackOptions options;
  PrebuiltChoice prebuilt;
  bool compressed = false;
  std::string beside;
};

// "gemm.xml" gives "gemm.itkernel", in the current folder.
std::string default_output(const std::string& description) {
  const std::size_t slash = description.rfind('/');
  std::string name = slash == std::string::npos ? description : description.substr(slash + 1);
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name + ".itkernel";
}

void report(const PackArguments& arguments, const KernelPackage& package,
            std::chrono::duration<double, std::milli> taken, CliContext& context) {
  const Space& space = package.space();
  if (context.json()) {
    context.print_json(
        {{"kernel", std::string(package.name())},
         {"file", arguments.output},
         {"bytes", package.size_bytes()},
         {"combinations", space.combinations()},
         {"valid", space.indexed() ? nlohmann::json(space.valid_count()) : nlohmann::json()},
         {"prebuilt_binaries", package.prebuilt_count()},
         {"pack_ms", taken.count()}});
    return;
  }
  context.print(arguments.output + ": " + std::string(package.name()) + ", " +
                std::to_string(package.size_bytes()) + " bytes, " +
                (space.indexed() ? std::to_string(space.valid_count()) + " valid configurations"
                                 : "valid configurations not counted"));
}

Result<KernelDescription> read(const PackArguments& arguments) {
  if (arguments.descriptions.size() > 1 && arguments.name.empty()) {
    return Status(StatusCode::invalid_argument,
                  "several descriptions are a family, expected its --name");
  }
  if (arguments.name.empty()) return read_kernel_xml(arguments.descriptions.front());
  if (!space::is_kernel_name(arguments.name)) {
    return Status(StatusCode::invalid_argument,
                  "--name '" + arguments.name + "': expected letters, digits, _ - .");
  }
  return read_family(arguments.name, arguments.descriptions);
}

// The package that a program carries besides.
Result<std::vector<std::uint8_t>> known_bytes(const std::string& file) {
  if (file.empty()) return std::vector<std::uint8_t>();
  Result<std::vector<std::uint8_t>> bytes = read_file(file, kLargestBeside);
  if (!bytes.ok()) return bytes.status();
  const auto package = KernelPackage::open(*bytes, file);
  return package.ok() ? std::move(bytes) : package.status();
}

void run(PackArguments& arguments, CliContext& context) {
  const auto start = std::chrono::steady_clock::now();
  Result<KernelDescription> description = read(arguments);
  if (!description.ok()) return context.fail(description.status());
  Result<std::vector<std::uint8_t>> bytes = pack(*description, arguments.options);
  if (!bytes.ok()) return context.fail(bytes.status());
  if (arguments.prebuilt.wanted) {
    std::vector<std::string> warnings;
    bytes = add_prebuilt(std::move(*bytes), arguments.prebuilt, warnings);
    for (const std::string& warning : warnings) context.warn(warning);
    if (!bytes.ok()) return context.fail(bytes.status());
  }
  const auto taken = std::chrono::steady_clock::now() - start;
  if (arguments.output.empty())
    arguments.output = default_output(arguments.name.empty() ? arguments.descriptions.front()
                                                             : arguments.name + ".xml");
  std::vector<std::uint8_t> small;
  if (arguments.compressed) {
    Result<std::vector<std::uint8_t>> known = known_bytes(arguments.beside);
    if (!known.ok()) return context.fail(known.status());
    small = compressed(Bytes(*bytes), Bytes(*known));
  }
  Status written =
      write_file_atomically(arguments.output, arguments.compressed ? Bytes(small) : Bytes(*bytes));
  if (!written.ok()) return context.fail(written);
  auto package = KernelPackage::open(std::move(*bytes), arguments.output);
  if (!package.ok()) return context.fail(package.status());
  if (!(*package)->space().indexed()) {
    context.warn(
        "the decision diagram exceeds --max-edges or its building limit; the package "
        "stores constraints only (models/package/README.md says what that costs)");
  }
  report(arguments, **package, taken, context);
}

}  // namespace

void add_pack_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<PackArguments>();
  Verb verb = line.add_verb("pack", "makes a kernel package for boards from a description");
  verb.option("descriptions", arguments->descriptions,
              "The XML file; several with one signature are a family: one kernel, of which "
              "tuning chooses the member too, and which begins with the first")
      .required();
  verb.option("--name", arguments->name, "Name of the family").value_name("NAME");
  verb.option("-o,--output", arguments->output, "The package")
      .value_name("FILE")
      .shows_default("the description's name with .itkernel, in this folder");
  verb.option("--max-edges", arguments->options.max_edges,
              "Largest decision diagram to store, in edges of 14 bytes")
      .shows_default();
  const Argument compressed = verb.flag(
      "--compressed", arguments->compressed,
      "Write its length and one block of LZ4, for a program that carries it and undoes that");
  verb.option("--beside", arguments->beside,
              "A package that the program carries, too: what both have is not written again")
      .value_name("FILE")
      .needs(compressed);
  PrebuiltChoice& prebuilt = arguments->prebuilt;
  const Argument wanted = verb.flag(
      "--prebuilt", prebuilt.wanted,
      "Add compiled binaries for boards without a compiler: the default, and what is named below");
  verb.option("--device", prebuilt.device.index, "OpenCL device that they are for")
      .shows_default()
      .needs(wanted);
  verb.option("--architecture", prebuilt.architecture,
              "For CUDA, without a GPU: sm_87, or compute_87 for PTX")
      .value_name("NAME")
      .needs(wanted);
  verb.option("--model", prebuilt.model, "Model whose portfolio's first entries are added")
      .value_name("FILE")
      .needs(wanted);
  verb.option("--picks", prebuilt.picks, "So many of them").shows_default().needs(wanted);
  verb.option("--configuration", prebuilt.configurations,
              "Add the default with these changes: NAME=VALUE,...; may be repeated")
      .value_name("CHANGES")
      .one_at_a_time()
      .needs(wanted);
  verb.example("pack kernels/gemm/gemm.xml -o gemm.itkernel");
  verb.example("pack direct.xml indirect.xml --name gemm -o gemm.itkernel");
  context.add_json_flag(verb);
  verb.runs([arguments, &context] { run(*arguments, context); });
}

}  // namespace idletune::cli
