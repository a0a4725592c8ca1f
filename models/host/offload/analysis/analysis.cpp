#include "models/host/offload/analysis/analysis.hpp"

namespace idletune::offload {
namespace {

// The ones before `kind` that are numbered together with it.
std::size_t sites(const std::vector<Operation>& operations, bool accesses) {
  std::size_t count = 0;
  for (const Operation& operation : operations) {
    if (accesses ? is_access(operation.kind) : operation.kind == OperationKind::decision) ++count;
  }
  return count;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

std::array<std::uint64_t, kOperationKinds> count_kinds(
    const std::vector<Operation>& operations, const std::vector<std::uint64_t>& executions) {
  std::array<std::uint64_t, kOperationKinds> counts{};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    counts[static_cast<std::size_t>(operations[i].kind)] += executions[i];
  }
  return counts;
}

Analysis::Analysis(const std::vector<Operation>& operations, std::size_t values)
    : operations_(operations),
      site_(operations.size()),
      executions_(operations.size()),
      parallelism_(values),
      accesses_(sites(operations, true)),
      branches_(sites(operations, false)) {
  std::uint32_t access = 0, branch = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (is_access(operations[i].kind)) site_[i] = access++;
    if (operations[i].kind == OperationKind::decision) site_[i] = branch++;
  }
}

void Analysis::execute_in_burst(std::uint32_t number, std::uint64_t where) {
  const Operation& operation = operations_[number];
  ++executions_[number];
  if (is_access(operation.kind)) {
    accesses_.access(site_[number], where);
    reuse_.reference(where);
  }
  parallelism_.execute(operation, where);
}

std::vector<std::uint64_t> Analysis::of_sites(const std::vector<std::uint64_t>& executions,
                                              bool accesses) const {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const OperationKind kind = operations_[i].kind;
    if (accesses ? is_access(kind) : kind == OperationKind::decision) {
      counts.push_back(executions[i]);
    }
  }
  return counts;
}

void Analysis::restart(const std::vector<std::uint64_t>& executions) {
  parallelism_.restart();
  accesses_.restart(of_sites(executions, true));
  reuse_.restart();
}

std::array<double, kStreamFeatures> Analysis::features(
    const std::vector<std::uint64_t>& executions) const {
  const auto kinds = count_kinds(operations_, executions);
  const auto count = [&kinds](OperationKind kind) {
    return static_cast<double>(kinds[static_cast<std::size_t>(kind)]);
  };
  double all = 0, single = 0;
  for (const std::uint64_t kind : kinds) all += static_cast<double>(kind);
  for (const OperationKind kind :
       {OperationKind::single_other, OperationKind::single_multiply, OperationKind::single_divide,
        OperationKind::single_root, OperationKind::single_exponential,
        OperationKind::single_trigonometric}) {
    single += count(kind);
  }
  const double accesses = count(OperationKind::load) + count(OperationKind::store);
  const AccessPattern pattern = accesses_.pattern(of_sites(executions, true));
  const auto diverging = branches_.diverging(of_sites(executions, false));
  const double blocks = static_cast<double>(footprint_.blocks());
  const double pages = static_cast<double>(footprint_.pages());
  const double ilp32 = parallelism_.mean(0);
  return {all,
          ilp32,
          parallelism_.mean(1),
          parallelism_.mean(2),
          parallelism_.mean(4),
          share(parallelism_.mean(3), ilp32),
          share(accesses, all),
          share(count(OperationKind::decision) + count(OperationKind::control), all),
          share(count(OperationKind::integer), all),
          share(single, all),
          share(count(OperationKind::double_precision), all),
          share(count(OperationKind::single_multiply), single),
          share(count(OperationKind::single_divide), single),
          share(count(OperationKind::single_root), single),
          share(count(OperationKind::single_exponential), single),
          share(count(OperationKind::single_trigonometric), single),
          share(blocks, accesses),
          reuse_.share(),
          share(accesses, blocks),
          share(accesses, pages),
          pattern.stride0,
          pattern.no_conflict,
          pattern.shared_bandwidth,
          pattern.global_bandwidth,
          pattern.coalesced,
          diverging[0],
          diverging[1],
          diverging[2],
          diverging[3],
          diverging[4],
          diverging[5],
          diverging[6]};
}

}  // namespace idletune::offload
