#include "agent/host/cli/known_kernels.hpp"

#include "agent/host/cli/kernel_file.hpp"
#include "agent/host/cli/places.hpp"
#include "models/package/kernel_package.hpp"

namespace idletune::cli {
namespace {

// The default's time, where it is among the rows.
double measured_default_ns(const History& history, const KernelPackage& package) {
  const Configuration wanted = package.default_configuration();
  if (history.parameters.size() != wanted.size()) return 0;
  for (std::size_t row = 0; row < history.rows(); ++row) {
    if (history.correct(row) && history.configuration(row) == wanted) {
      return history.run_time_ns(row);
    }
  }
  return 0;
}

}  // namespace

bool has_parameters(const KernelPackage& package, const std::vector<std::string>& names) {
  const Space& space = package.space();
  if (names.size() != space.parameter_count()) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (space.parameter_name(i) != names[i]) return false;
  }
  return true;
}

json default_note(const History& history) {
  for (const auto& [key, text] : history.notes) {
    if (key != "default") continue;
    json note = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (note.is_object()) return note;
  }
  return json::object();
}

double default_time_ns(const History& history) {
  const json note = default_note(history);
  const auto found = note.find("run_time");
  return found != note.end() && found->is_number() ? found->get<double>() : 0;
}

Result<KnownKernels::Opened> KnownKernels::open_one(const std::string& file) {
  auto bytes = read_kernel(file);
  if (!bytes.ok()) return bytes.status();
  auto package = KernelPackage::open(std::move(*bytes), file);
  if (!package.ok()) return package.status();
  return Opened{file, *package};
}

report::KnownRates rates_of(double default_ns, const std::optional<KernelWork>& work) {
  report::KnownRates rates{default_ns};
  if (!work) return rates;
  rates.operations = work->operations.value_or(0);
  rates.bytes = work->compulsory_bytes;
  return rates;
}

Result<KnownKernels> KnownKernels::open(const std::vector<std::string>& files) {
  KnownKernels kernels;
  for (const std::string& file : files) kernels.named_.push_back(must(open_one(file)));
  return kernels;
}

std::optional<KnownKernels::Opened> KnownKernels::package_of(const History& history) const {
  for (const Opened& one : named_) {
    if (one.package->name() == history.kernel) return one;
  }
  if (history.kernel.find('/') != std::string::npos) return std::nullopt;
  const auto shipped = find_shipped(history.kernel + ".itkernel");
  if (!shipped.ok()) return std::nullopt;
  auto opened = open_one(*shipped);
  // Another tuner's kernel may have the name.
  if (!opened.ok() || !has_parameters(*opened->package, history.parameter_names())) {
    return std::nullopt;
  }
  return std::move(*opened);
}

KernelFacts KnownKernels::about(const History& history) const {
  KernelFacts facts;
  facts.default_ns = default_time_ns(history);
  const auto found = package_of(history);
  if (!found) return facts;
  if (!(facts.default_ns > 0)) facts.default_ns = measured_default_ns(history, *found->package);
  auto work = work_of(*found->package, history.shape, found->package->default_configuration());
  if (!work.ok()) return facts;
  facts.work = *work;
  facts.work_from = found->file;
  return facts;
}

}  // namespace idletune::cli
