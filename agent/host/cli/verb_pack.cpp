// idletune pack X.xml -o Y: compiles a kernel description, or several as a family, into a package.

#include <idletune/options.hpp>
#include "agent/host/cli/open_device.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/host/explore/listed_configurations.hpp"
#include "agent/host/report/numbers.hpp"
#include "agent/signing/pushed_file.hpp"
#include "agent/trial/compiled_variants.hpp"
#include "models/host/pack/compressed.hpp"
#include "models/host/pack/family_xml.hpp"
#include "models/host/pack/pack.hpp"
#include "models/host/pack/xml.hpp"
#include "models/package/kernel_package.hpp"
#include "models/predict/model.hpp"
#include "models/space/identifier.hpp"
#include "platform/os/storage.hpp"

#ifdef IDLETUNE_WITH_CUDA
#include <idletune/cuda.hpp>
#endif

namespace idletune::cli {
namespace {

struct PrebuiltChoice {
  bool wanted = false;
  DeviceChoice device;       // OpenCL: the device and driver that the binaries are good for
  std::string architecture;  // CUDA instead, without a GPU: "sm_87", or "compute_87" for PTX
  std::string model;         // adds the first entries of its portfolio
  std::uint32_t picks = 8;   // so many of them
  std::vector<std::string> configurations;  // "NAME=VALUE,...": the default with these changes
};

struct MadeBinary {
  BinaryFormat format = BinaryFormat::opencl_binary;
  std::uint64_t made_for = 0;
  std::vector<std::uint8_t> bytes;
};

// Compiles one configuration for what was chosen.
class AheadCompiler {
 public:
  virtual ~AheadCompiler() = default;
  virtual Result<MadeBinary> compile(const KernelPackage& package,
                                     const Configuration& configuration) = 0;
};

class DeviceCompiler final : public AheadCompiler {
 public:
  explicit DeviceCompiler(std::unique_ptr<Device> device) : device_(std::move(device)) {}
  Result<MadeBinary> compile(const KernelPackage& package,
                             const Configuration& configuration) override {
    auto program = trial::compile_entry(*device_, package, package.entry(), configuration);
    if (!program.ok()) return program.status();
    MadeBinary made;
    made.made_for = device_->info().driver_key();
    made.bytes = (*program)->binary();
    if (made.bytes.empty()) {
      return Status(StatusCode::unsupported,
                    "device '" + device_->info().name + "' gives no binary of its programs");
    }
    return made;
  }

 private:
  std::unique_ptr<Device> device_;
};

#ifdef IDLETUNE_WITH_CUDA
class NvrtcCompiler final : public AheadCompiler {
 public:
  NvrtcCompiler(int architecture, BinaryFormat format)
      : architecture_(architecture), format_(format) {
    options_.nvrtc_library = environment_nvrtc_library();
  }
  Result<MadeBinary> compile(const KernelPackage& package,
                             const Configuration& configuration) override {
    const std::string options = package.compile_options(configuration);
    auto bytes = cuda::compile_ahead({package.source(), package.entry(), options, 1, {}},
                                     architecture_, format_, options_);
    if (!bytes.ok()) return bytes.status();
    return MadeBinary{format_, static_cast<std::uint64_t>(architecture_), std::move(*bytes)};
  }

 private:
  int architecture_;
  BinaryFormat format_;
  cuda::OpenOptions options_;
};
#endif

Result<std::unique_ptr<AheadCompiler>> nvrtc_for(const std::string& architecture) {
  const bool cubin = architecture.rfind("sm_", 0) == 0;
  const bool ptx = architecture.rfind("compute_", 0) == 0;
  std::int64_t number = 0;
  if ((!cubin && !ptx) || !read_number(architecture.substr(cubin ? 3 : 8), number)) {
    return Status(StatusCode::invalid_argument,
                  "--architecture '" + architecture + "': expected sm_87, or compute_87 for PTX");
  }
#ifdef IDLETUNE_WITH_CUDA
  return std::unique_ptr<AheadCompiler>(std::make_unique<NvrtcCompiler>(
      static_cast<int>(number), cubin ? BinaryFormat::cubin : BinaryFormat::ptx));
#else
  return Status(StatusCode::unsupported, "this build has no CUDA back end");
#endif
}

Result<std::unique_ptr<AheadCompiler>> compiler_for(const PrebuiltChoice& choice) {
  if (!choice.architecture.empty()) return nvrtc_for(choice.architecture);
  DeviceChoice opencl = choice.device;
  opencl.backend = "opencl";
  auto device = must(open_device(opencl, Dialect::opencl, ""));
  return std::unique_ptr<AheadCompiler>(std::make_unique<DeviceCompiler>(std::move(device)));
}

void add_once(std::vector<Configuration>& list, const Configuration& configuration) {
  if (!contains(list, configuration)) list.push_back(configuration);
}

// The default with the changes of "NAME=VALUE,...".
Result<Configuration> configuration_of(const KernelPackage& package, const std::string& text) {
  Configuration configuration = package.default_configuration();
  for (const auto& [parameter, value] : must(explore::read_space_part(package.space(), text)))
    configuration[parameter] = value;
  if (package.space().contains(configuration)) return configuration;
  return Status(StatusCode::invalid_argument, "'" + text + "' is not in the kernel's space");
}

void add_picks(const KernelPackage& package, const PrebuiltChoice& choice,
               std::vector<Configuration>& list) {
  auto bytes = must(read_pushed_file(choice.model, kMaxModelBytes, nullptr));
  const auto model = must(Model::open(std::move(bytes), choice.model));
  const KernelKnowledge* knowledge =
      model->kernel(package.name(), package.space(), package.inputs().names());
  if (knowledge == nullptr) {
    throw Failure(StatusCode::not_found, "the model '" + choice.model + "' does not know kernel '" +
                                             std::string(package.name()) + "'");
  }
  const std::size_t count = std::min<std::size_t>(choice.picks, knowledge->portfolio_size());
  const SpaceMapping mapping(*knowledge, package.space(), package.default_configuration());
  for (std::size_t i = 0; i < count; ++i) {
    const auto configuration = mapping.map(knowledge->portfolio_values(i));
    if (configuration) add_once(list, *configuration);
  }
}

// The default and the reference come first: nothing runs without them.
Result<std::vector<Configuration>> chosen(const KernelPackage& package,
                                          const PrebuiltChoice& choice, std::size_t& needed) {
  std::vector<Configuration> list{package.default_configuration()};
  add_once(list, package.reference().configuration());
  needed = list.size();
  for (const std::string& text : choice.configurations) {
    const auto configuration = must(configuration_of(package, text));
    add_once(list, configuration);
  }
  if (!choice.model.empty()) {
    add_picks(package, choice, list);
  }
  return list;
}

Result<std::vector<std::uint8_t>> add_prebuilt(std::vector<std::uint8_t> package,
                                               const PrebuiltChoice& choice,
                                               const CliContext& context) {
  const auto opened = must(KernelPackage::open(package, "being packed"));
  std::size_t needed = 0;
  const auto configurations = must(chosen(*opened, choice, needed));
  const auto compiler = must(compiler_for(choice));
  std::vector<MadeBinary> made;
  std::vector<BinaryOfConfiguration> binaries;
  made.reserve(configurations.size());  // the binaries refer to its bytes
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const Configuration& configuration = configurations[i];
    Result<MadeBinary> binary = compiler->compile(*opened, configuration);
    if (!binary.ok() && i < needed) return binary.status();
    if (!binary.ok()) {
      context.warn("left out, " + opened->compile_options(configuration) + ": " +
                   binary.status().message());
      continue;
    }
    made.push_back(std::move(*binary));
    const MadeBinary& kept = made.back();
    binaries.push_back(
        {configuration, {kept.format, {kept.bytes.data(), kept.bytes.size()}, kept.made_for}});
  }
  return with_prebuilt(std::move(package), binaries);
}

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

void report(const PackArguments& arguments, const KernelPackage& package, std::size_t bytes,
            std::chrono::duration<double, std::milli> taken, CliContext& context) {
  const Space& space = package.space();
  if (context.json()) {
    context.print_json({{"kernel", std::string(package.name())},
                        {"file", arguments.output},
                        {"bytes", bytes},
                        {"combinations", space.combinations()},
                        {"valid", space.indexed() ? json(space.valid_count()) : json()},
                        {"prebuilt_binaries", package.prebuilt_count()},
                        {"pack_ms", taken.count()}});
    return;
  }
  context.print_paragraph(
      arguments.output + ": " + std::string(package.name()) + ", " + report::count_text(bytes) +
      " bytes, " +
      (space.indexed()
           ? report::counted(space.valid_count(), "valid configuration", "valid configurations")
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
  auto bytes = must(read_pushed_file(file, kLargestBeside, nullptr));
  must(KernelPackage::open(bytes, file));
  return bytes;
}

void run(PackArguments& arguments, CliContext& context) {
  if (arguments.output.empty())
    arguments.output = default_output(arguments.name.empty() ? arguments.descriptions.front()
                                                             : arguments.name + ".xml");
  if (!context.check(arguments.output, FileKind::package)) return;
  const auto start = std::chrono::steady_clock::now();
  auto description = must(read(arguments));
  auto bytes = must(pack(description, arguments.options));
  if (arguments.prebuilt.wanted)
    bytes = must(add_prebuilt(std::move(bytes), arguments.prebuilt, context));
  const auto taken = std::chrono::steady_clock::now() - start;
  std::vector<std::uint8_t> small;
  if (arguments.compressed) {
    auto known = must(known_bytes(arguments.beside));
    small = compressed(Bytes(bytes), Bytes(known));
  }
  const Bytes data = arguments.compressed ? Bytes(small) : Bytes(bytes);
  if (!context.write({{arguments.output, FileKind::package, data}})) return;
  auto package = must(KernelPackage::open(std::move(bytes), arguments.output));
  if (!package->space().indexed()) {
    context.warn(
        "the decision diagram exceeds --max-edges or its building limit; the package stores "
        "constraints only (models/package/format.md says what that costs)");
  }
  report(arguments, *package, data.size(), taken, context);
}

}  // namespace

void add_pack_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<PackArguments>();
  Verb verb = line.add_verb("pack", "makes a kernel package for boards from a description");
  verb.required(
      "descriptions", arguments->descriptions,
      "The XML file; several with one signature are a family: one kernel, of which tuning "
      "chooses the member too, and which begins with the first");
  verb.option("--name NAME", arguments->name, "Name of the family");
  verb.option("-o,--output", arguments->output, "The package")
      .writes(FileKind::package)
      .shows_default("the description's name with .itkernel, in this folder");
  verb.option("--max-edges", arguments->options.max_edges,
              "Largest decision diagram to store, in edges of 14 bytes");
  const Argument compressed = verb.flag(
      "--compressed", arguments->compressed,
      "Write its length and one block of LZ4, for a program that carries it and undoes that");
  verb.option("--beside FILE", arguments->beside,
              "A package that the program carries, too: what both have is not written again")
      .needs(compressed);
  PrebuiltChoice& prebuilt = arguments->prebuilt;
  const Argument wanted = verb.flag(
      "--prebuilt", prebuilt.wanted,
      "Add compiled binaries for boards without a compiler: the default, and what is named below");
  const Argument device =
      verb.option("--device", prebuilt.device.index, "OpenCL device that they are for")
          .shows_default()
          .needs(wanted);
  verb.option("--architecture NAME", prebuilt.architecture,
              "For CUDA, without a GPU: sm_87, or compute_87 for PTX")
      .needs(wanted)
      .excludes(device);
  const Argument model =
      verb.option("--model FILE", prebuilt.model, "Model whose portfolio's first entries are added")
          .needs(wanted);
  verb.option("--picks", prebuilt.picks, "So many of them").needs(model);
  verb.option("--configuration CHANGES", prebuilt.configurations,
              "Add the default with these changes: NAME=VALUE,...; may be repeated")
      .one_at_a_time()
      .needs(wanted);
  verb.example("pack kernels/gemm/gemm.xml -o gemm.itkernel");
  verb.example("pack direct.xml indirect.xml --name gemm -o gemm.itkernel");
  verb.runs([arguments, &context] { run(*arguments, context); });
}

}  // namespace idletune::cli
