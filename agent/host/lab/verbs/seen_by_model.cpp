#include "agent/host/lab/verbs/seen_by_model.hpp"

#include "agent/host/cli/context.hpp"
#include "agent/signing/pushed_file.hpp"
#include "models/host/learn/provenance.hpp"
#include "models/predict/model.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

Result<std::vector<bool>> seen_by_model(const std::string& model,
                                        const std::vector<History>& histories) {
  const auto file = must(read_pushed_file(model, kMaxModelBytes, nullptr));
  const auto contents = must(read_model(file, model));
  std::vector<bool> seen;
  seen.reserve(histories.size());
  for (const History& history : histories) {
    seen.push_back(std::any_of(
        contents.kernels.begin(), contents.kernels.end(), [&](const ModelKernel& kernel) {
          return kernel.name == history.kernel && learned_from(provenance_of(kernel), history);
        }));
  }
  return seen;
}

std::string seen_warning(const std::vector<bool>& seen) {
  const auto count = std::count(seen.begin(), seen.end(), true);
  if (count == 0) return {};
  return std::to_string(count) + " of " + std::to_string(seen.size()) +
         " targets are, or may be, among what the model learned from (marked *): their figures say "
         "nothing about a device that is new to it; --leave-one-out does";
}

}  // namespace idletune::cli
