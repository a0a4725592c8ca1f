#include "models/host/learn/provenance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "models/core/digest.hpp"
#include "models/devices/device_names.hpp"

namespace idletune {
namespace {

std::uint64_t digest_of_history(const History& history) {
  Digest digest;
  digest.add(history.device).add(history.driver).add(digest_of(history.shape));
  for (std::size_t row = 0; row < history.rows(); ++row) {
    digest.add(digest_of(history.configuration(row)));
    digest.add(static_cast<std::uint64_t>(history.status[row]));
    digest.add(history.correct(row)
                   ? static_cast<std::uint64_t>(std::llround(history.run_time_ns(row) * 16))
                   : 0);
  }
  return digest.value();
}

}  // namespace

KernelProvenance provenance_from(const std::vector<const History*>& histories,
                                 const LearnOptions& options) {
  KernelProvenance provenance;
  provenance.learned_unix_seconds = options.learned_unix_seconds;
  std::vector<std::vector<Shape>> shapes;
  std::vector<Digest> digests;
  for (const History* history : histories) {
    std::size_t at = 0;
    while (at < provenance.histories.size() && provenance.histories[at].device != history->device) {
      ++at;
    }
    if (at == provenance.histories.size()) {
      provenance.histories.push_back({history->device, 0, 0, 0, 0, 0, {}});
      shapes.emplace_back();
      digests.emplace_back();
    }
    KernelProvenance::Origin& origin = provenance.histories[at];
    ++origin.histories;
    origin.configurations += history->rows();
    origin.correct += history->count(TrialStatus::correct);
    if (std::find(shapes[at].begin(), shapes[at].end(), history->shape) == shapes[at].end())
      shapes[at].push_back(history->shape);
    origin.shapes = static_cast<std::uint32_t>(shapes[at].size());
    origin.history_digests.push_back(digest_of_history(*history));
    digests[at].add(origin.history_digests.back());
    origin.digest = digests[at].value();
  }
  // Where there are many, one digest over all of them takes less.
  constexpr std::size_t kMostDigests = 256;
  for (KernelProvenance::Origin& origin : provenance.histories) {
    if (origin.history_digests.size() > kMostDigests) origin.history_digests.clear();
  }
  return provenance;
}

bool learned_from(const KernelProvenance& provenance, const History& history) {
  const std::uint64_t digest = digest_of_history(history);
  Digest alone;  // what a model of an earlier version notes of a device's only history
  alone.add(digest);
  for (const KernelProvenance::Origin& origin : provenance.histories) {
    const std::vector<std::uint64_t>& known = origin.history_digests;
    if (std::find(known.begin(), known.end(), digest) != known.end()) return true;
    if (!known.empty()) continue;
    if (origin.histories == 1 ? origin.digest == alone.value()
                              : same_device_model(origin.device, history.device))
      return true;
  }
  return false;
}

std::vector<std::string> provenance_lines(const ModelKernel& kernel) {
  std::vector<std::string> lines;
  for (const KernelProvenance::Origin& origin : provenance_of(kernel).histories) {
    lines.push_back(
        kernel.name + " on " + origin.device + ": " + std::to_string(origin.configurations) +
        " configurations" +
        (origin.histories > 1 ? " in " + std::to_string(origin.histories) + " histories" : ""));
  }
  return lines;
}

}  // namespace idletune
