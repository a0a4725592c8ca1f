#include "agent/journal/entries.hpp"

#include "models/core/digest.hpp"
#include "models/core/word_list.hpp"

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
  return word_of("crash\0hang\0in_process_death\0repeated_death\0wrong_output\0user\0",
                 static_cast<unsigned>(reason));
}

const char* suspicion_cause_name(SuspicionCause cause) {
  return word_of(
      "unknown\0crash\0hang\0helper_killed\0helper_vanished\0machine_cut\0"
      "application_died\0device_lost\0other_driver\0",
      static_cast<unsigned>(cause));
}

}  // namespace idletune::journal
