#include "models/host/learn/learn.hpp"

#include <algorithm>
#include <utility>

#include "models/host/history/emulated.hpp"
#include "models/host/learn/device_weights.hpp"
#include "models/host/learn/kernel_learner.hpp"
#include "models/host/learn/model_contents.hpp"
#include "models/host/learn/model_sections.hpp"
#include "models/host/learn/performance_table.hpp"
#include "models/host/learn/provenance.hpp"
#include "models/host/learn/rank.hpp"
#include "models/host/learn/sparse_times.hpp"
#include "models/predict/model.hpp"
#include "models/predict/model_format.hpp"

namespace idletune {
namespace {

using model_schema::kMaxNameBytes;
using model_schema::SectionKind;

std::vector<std::string> sorted_names(const History& history) {
  std::vector<std::string> names = history.parameter_names();
  std::sort(names.begin(), names.end());
  return names;
}

// Whether their problems have the same names, where both say.
bool same_inputs(const History& a, const History& b) {
  if (a.inputs == b.inputs && !a.inputs.empty()) return true;
  const std::vector<std::string> of_a = input_names(a);
  const std::vector<std::string> of_b = input_names(b);
  return of_a.empty() || of_b.empty() || of_a == of_b;
}

// Histories of the same kernel, of parameter names and of problems' names, in the order of their
// first one; those that do not say the latter join the first of the former.
std::vector<std::vector<const History*>> group_by_kernel(std::vector<const History*> histories) {
  std::stable_partition(histories.begin(), histories.end(),
                        [](const History* history) { return !input_names(*history).empty(); });
  std::vector<std::vector<const History*>> groups;
  for (const History* history : histories) {
    const auto same = [&](const std::vector<const History*>& group) {
      return group.front()->kernel == history->kernel && same_inputs(*group.front(), *history) &&
             sorted_names(*group.front()) == sorted_names(*history);
    };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) {
      groups.push_back({history});
    } else {
      found->push_back(history);
    }
  }
  return groups;
}

const PublishedConfigurations* published_for(const std::string& kernel,
                                             const std::vector<std::string>& parameters,
                                             const LearnOptions& options) {
  for (const PublishedConfigurations& published : options.published) {
    if (published.kernel != kernel) continue;
    const bool complete =
        std::all_of(parameters.begin(), parameters.end(), [&](const std::string& name) {
          return std::find(published.parameters.begin(), published.parameters.end(), name) !=
                 published.parameters.end();
        });
    if (complete) return &published;
  }
  return nullptr;
}

Status exceeds_limit(const LearnedKernel& report, const LearnOptions& options) {
  return {StatusCode::out_of_memory, "kernel '%': needs at least % bytes, the limit is %",
          report.kernel, std::to_string(report.bytes), std::to_string(options.bytes_per_kernel)};
}

// Errors: out_of_memory if even the least of it exceeds the limit.
Result<ModelKernel> learn_kernel(const std::vector<const History*>& histories,
                                 KernelLearner& learner, const LearnOptions& options,
                                 LearnedKernel& report) {
  report.kernel = learner.table().kernel();
  Extent extent;
  // What could never fit is not tried: a shape takes more than these bytes.
  constexpr std::size_t kLeastBytesOfShape = 256;
  extent.shapes = most_shapes_of_a_device(learner.table());
  while (extent.shapes > std::max<std::size_t>(options.bytes_per_kernel / kLeastBytesOfShape, 64))
    extent.shapes /= 2;
  ModelKernel tail;  // what is never dropped
  if (const auto* published = published_for(report.kernel, learner.table().parameters(), options)) {
    add_section(tail, SectionKind::published,
                write_published(*published, learner.table().parameters()));
    report.published = published->entries.size();
  }
  ModelKernel kernel = learner.build(extent, report);
  const std::size_t wanted =
      portfolio(learner.sources_table(), device_weights(learner.sources_table()), options.portfolio)
          .size();
  KernelProvenance provenance = provenance_from(histories, options);
  for (;;) {
    provenance.dropped = describe_dropped(extent, learner, report, wanted);
    kernel.sections.push_back(write_provenance(provenance));
    kernel.sections.insert(kernel.sections.end(), tail.sections.begin(), tail.sections.end());
    report.bytes = kernel.bytes();
    const std::size_t over = report.bytes - std::min(report.bytes, options.bytes_per_kernel);
    const bool fits = over == 0 && report.devices.size() <= model_schema::kMaxSources;
    if (fits && !starved(learner, report, wanted, extent)) break;
    if (!reduce(learner, report, over, extent)) return exceeds_limit(report, options);
    kernel = learner.build(extent, report);
  }
  report.dropped = provenance.dropped;
  return kernel;
}

// What products with sparse matrices take, over all formats: an entry of its own.
void add_product_times(const std::vector<const History*>& histories, ModelContents& contents) {
  const std::vector<sparse::Table> tables = sparse::tables_of(histories);
  std::vector<std::uint8_t> section = sparse::write_product_times(tables);
  if (section.empty()) return;
  ModelKernel kernel;
  kernel.name = kProductsEntry;
  kernel.parameters = {"FORMAT", "GROUP_PER_ROW", "WG"};
  add_section(kernel, SectionKind::products, std::move(section));
  for (const sparse::Table& table : tables)
    contents.provenance.push_back("products on " + table.device + ", numbers of " +
                                  std::to_string(table.number_bytes) +
                                  " bytes: " + std::to_string(table.matrices.size()) + " matrices");
  contents.kernels.push_back(std::move(kernel));
}

// A kernel that is known by published configurations alone. Error: out_of_memory.
Result<ModelKernel> published_kernel(const PublishedConfigurations& published,
                                     const LearnOptions& options, LearnedKernel& report) {
  ModelKernel kernel;
  kernel.name = published.kernel;
  kernel.parameters = published.parameters;
  add_section(kernel, SectionKind::published, write_published(published, kernel.parameters));
  report.kernel = published.kernel;
  report.published = published.entries.size();
  report.bytes = kernel.bytes();
  if (report.bytes > options.bytes_per_kernel) return exceeds_limit(report, options);
  return kernel;
}

}  // namespace

Status check_names(const History& history) {
  const auto is_name = [](const std::string& name) {
    return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
  };
  const auto is_kept = [&](const std::string& name) {
    return is_name(name) && name.size() <= kMaxNameBytes;
  };
  const bool kernel = is_kept(history.kernel);
  if (history.count(TrialStatus::correct) == 0) return Status();  // it is left out
  std::vector<std::string> others = history.parameter_names();
  for (const std::string& input : input_names(history)) others.push_back(input);
  for (const std::string& name : others) {
    if (is_kept(name)) continue;
    return Status(StatusCode::invalid_argument,
                  "its parameter or input is '%', which no model takes as a name",
                  name.substr(0, kMaxNameBytes));
  }
  if (kernel && is_name(history.device)) return Status();
  return {
      StatusCode::invalid_argument,
      "its %%', which no model takes as a name; import has --kernel and --device to give another",
      kernel ? "device is '" : "kernel is '", kernel ? history.device : history.kernel};
}

Result<LearnedModel> learn(const std::vector<const History*>& histories,
                           const LearnOptions& options) {
  LearnedModel model;
  ModelContents contents;
  contents.generation = options.generation;
  for (const History* history : histories) {
    if (Status status = check_names(*history); !status.ok()) return status;
    const Status measured = options.emulated ? Status() : check_measured(*history);
    if (!measured.ok()) return measured;
  }
  for (const std::vector<const History*>& group : group_by_kernel(histories)) {
    KernelLearner learner(group, options);
    if (learner.table().sources().empty()) {
      model.warnings.push_back("kernel " + group.front()->kernel +
                               ": nothing ran correctly, left out");
      continue;
    }
    LearnedKernel report;
    Result<ModelKernel> kernel = learn_kernel(group, learner, options, report);
    if (!kernel.ok()) return kernel.status();
    for (const std::string& line : provenance_lines(*kernel)) contents.provenance.push_back(line);
    for (const std::string& line : report.dropped)
      model.warnings.push_back("kernel " + report.kernel + ", kept to fit its size limit: " + line);
    contents.kernels.push_back(std::move(*kernel));
    model.kernels.push_back(std::move(report));
  }
  add_product_times(histories, contents);
  for (const PublishedConfigurations& published : options.published) {
    contents.provenance.push_back(published.kernel +
                                  ", published configurations: " + published.origin);
    model.warnings.insert(model.warnings.end(), published.warnings.begin(),
                          published.warnings.end());
    const bool taken =
        std::any_of(model.kernels.begin(), model.kernels.end(), [&](const LearnedKernel& kernel) {
          return kernel.kernel == published.kernel && kernel.published > 0;
        });
    if (taken) continue;
    LearnedKernel report;
    Result<ModelKernel> kernel = published_kernel(published, options, report);
    if (!kernel.ok()) return kernel.status();
    contents.kernels.push_back(std::move(*kernel));
    model.kernels.push_back(std::move(report));
  }
  if (contents.kernels.empty()) {
    return Status(StatusCode::invalid_argument,
                  "nothing to learn from: no history with a correct measurement");
  }
  model.bytes = write_model(contents);
  // What was just written must be what a board accepts.
  const auto opened = Model::open(model.bytes, "being learned");
  if (!opened.ok()) return opened.status();
  return model;
}

}  // namespace idletune
