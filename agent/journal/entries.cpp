#include "agent/journal/entries.hpp"

#include "models/core/digest.hpp"

namespace idletune::journal {

int compare(const TrialKey& a, const TrialKey& b, unsigned parts) {
  static constexpr std::uint64_t TrialKey::*kParts[] = {&TrialKey::kernel, &TrialKey::device,
                                                        &TrialKey::shape, &TrialKey::driver,
                                                        &TrialKey::configuration};
  for (unsigned i = 0; i < parts; ++i) {
    if (a.*kParts[i] != b.*kParts[i]) return a.*kParts[i] < b.*kParts[i] ? -1 : 1;
  }
  return 0;
}

bool operator==(const ShapeKey& a, const ShapeKey& b) { return first_of(a) == first_of(b); }
bool operator<(const ShapeKey& a, const ShapeKey& b) { return first_of(a) < first_of(b); }

bool operator==(const Ledger& a, const Ledger& b) {
  return a.charged == b.charged && a.kernel_time == b.kernel_time && a.savings == b.savings &&
         a.forecasts == b.forecasts && a.held == b.held;
}

ShapeKey Trial::shape_key() const { return {kernel, device, driver ^ data, digest_of(shape)}; }

TrialKey Trial::key() const {
  return {kernel, device, driver ^ data, digest_of(shape), digest_of(configuration)};
}

TrialKey Trial::plain_key() const {
  return {kernel, device, driver, digest_of(shape), digest_of(configuration)};
}

std::uint64_t Trial::who(const Configuration& other) const { return subject() ^ digest_of(other); }

const char* quarantine_reason_name(QuarantineReason reason) {
  switch (reason) {
    case QuarantineReason::crash: return "crash";
    case QuarantineReason::hang: return "hang";
    case QuarantineReason::in_process_death: return "in_process_death";
    case QuarantineReason::repeated_death: return "repeated_death";
    case QuarantineReason::wrong_output: return "wrong_output";
    case QuarantineReason::user: return "user";
  }
  return "unknown";
}

const char* suspicion_cause_name(SuspicionCause cause) {
  switch (cause) {
    case SuspicionCause::unknown: break;
    case SuspicionCause::crash: return "crash";
    case SuspicionCause::hang: return "hang";
    case SuspicionCause::helper_killed: return "helper_killed";
    case SuspicionCause::helper_vanished: return "helper_vanished";
    case SuspicionCause::machine_cut: return "machine_cut";
    case SuspicionCause::application_died: return "application_died";
    case SuspicionCause::device_lost: return "device_lost";
    case SuspicionCause::other_driver: return "other_driver";
  }
  return "unknown";
}

}  // namespace idletune::journal
