// Opening .itmodel bytes, and using all of an accepted model. The content digest is repaired first,
// since no fuzzer would find it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <idletune/learning.hpp>
#include <idletune/product_times.hpp>

#include "agent/search/searchers.hpp"
#include "models/predict/model.hpp"
#include "models/predict/model_format.hpp"
#include "models/schema/model_generated.h"

namespace {

using namespace idletune;

void repair_digest(std::vector<std::uint8_t>& bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 8, 200000);
  if (bytes.size() < 16 || !model_schema::VerifyModelFileBuffer(verifier)) return;
  auto* file = flatbuffers::GetMutableRoot<flatbuffers::Table>(bytes.data());
  const auto* model = model_schema::GetModelFile(bytes.data());
  file->SetField<std::uint64_t>(model_schema::ModelFile::VT_CONTENT_DIGEST,
                                model_schema::content_digest(*model), 0);
}

void use(const KernelKnowledge& kernel) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernel.parameter_count(); ++i)
    names.emplace_back(kernel.parameter(i));
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < kernel.portfolio_size(); ++i) {
    for (const std::int64_t value : kernel.portfolio_values(i)) rows.push_back(value);
  }
  double chosen = 0;
  for (std::size_t i = 0; i < kernel.selector_count(); ++i) {
    const SelectorView selector = kernel.selector(i);
    for (const double size : {0.0, 1.0, 64.0, 1000.0, 1e300, -5.0}) {
      const std::vector<double> inputs(selector.input_count(), size);
      const SelectorView::Choice choice = selector.select({inputs.data(), inputs.size()});
      if (choice.number >= selector.class_count()) std::abort();
      chosen += choice.expected + static_cast<double>(selector.values(choice.number)[0] % 2);
      chosen += selector.covers({inputs.data(), inputs.size()}) ? 1 : 0;
    }
    for (std::size_t n = 0; n < selector.input_count(); ++n)
      chosen += static_cast<double>(kernel.selector_input(i, n).size());
    chosen += static_cast<double>(selector.tree.height());
  }
  const auto quality = kernel.quality();
  const auto known = quality.ok() ? *quality : KernelKnowledge::Quality();
  for (const KernelKnowledge::SelectorQuality& one : known.selectors) chosen += one.retained;
  for (std::size_t i = 0; i < kernel.published_count(); ++i)
    chosen += static_cast<double>(kernel.published(i).device.size());
  chosen += static_cast<double>(kernel.published_origin().size());
  if (chosen != chosen) std::abort();
  double sum = kernel.well_performing_fraction(0.5);
  for (const KernelKnowledge::HeldOut& one : known.held_out) sum += one.first_pick;
  if (!(sum >= 0)) std::abort();
  const auto space = Space::from_rows(names, {}, {}, rows);
  if (!space.ok()) return;  // a portfolio that names an entry twice
  (void)first_pick(kernel, *space, Shape{64, 64}, "Mali-G610");
  (void)first_pick(kernel, *space, Problem({64, 64}, {12.5, 0}), "Mali-G610");
  (void)kernel.input_names();
  (void)first_pick(kernel, *space, Shape{300},
                   kernel.source_count() > 0 ? kernel.source(0).device : std::string_view());
  SearcherOptions options;
  options.learner = forest_learner();
  auto searcher = make_product_searcher(*space, &kernel, options);
  for (int i = 0; i < 20; ++i) {
    const auto proposal = searcher->ask();
    if (!proposal) break;
    Observation seen;
    seen.run_time = Nanoseconds(1000 + i);
    searcher->tell(proposal->configuration, seen);
  }
}

}  // namespace

// What solvers ask of it, for one device and size of numbers.
static void use_products(idletune::Bytes bytes) {
  const auto times = idletune::ProductTimes::open(bytes, "d", 8);
  if (!times.ok()) return;
  const std::vector<double> features(idletune::kMatrixFeatures, 7.0);
  const auto inputs = idletune::product_inputs(features, 100);
  for (std::size_t i = 0; i < times->size(); ++i) {
    if (times->candidate(i).work_group == 0 || times->microseconds(i, inputs) < 0) std::abort();
  }
  if (times->conversion_us(times->candidate(0).format, inputs) < 0) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  repair_digest(bytes);
  const auto model = Model::open(std::move(bytes), "fuzz");
  if (!model.ok()) return 0;
  for (const KernelKnowledge& kernel : (*model)->kernels()) use(kernel);
  use_products((*model)->bytes());
  return 0;
}
