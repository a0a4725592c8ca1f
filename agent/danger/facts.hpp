// What may run where: one answer, asked at the moment by whoever proposes, starts, builds, races,
// recalls, offers or publishes. It follows from the journal's records, the quirk table and the
// checks of this process alone; nobody else remembers danger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <idletune/device.hpp>

#include "agent/journal/deaths.hpp"
#include "agent/journal/journal.hpp"
#include "agent/trial/quirks.hpp"
#include "models/package/package_specs.hpp"

namespace idletune::detail {

using journal::Where;

// A kernel on a device. A plain value; both outlive it.
struct FactSubject {
  const KernelPackage& package;
  const DeviceInfo& device;

  // Under the plain driver: danger does not depend on the data.
  journal::Trial trial(const Configuration& configuration, const Shape& shape) const;
};

// One thread, the journal's, which must outlive it. Every record of danger passes here.
class Facts {
 public:
  // `quirks`: null: none.
  Facts(journal::Journal& journal, std::shared_ptr<const QuirkTable> quirks)
      : journal_(journal), quirks_(std::move(quirks)) {}

  // Reads what the journal says was wrong, and right in both checks, before anything of the kernel
  // is offered.
  void learn(const FactSubject& subject);

  // Null: the configuration may run there at that shape. Else why not: static text. Launches need
  // both checks besides, which whoever publishes has seen.
  const char* why_not(const FactSubject& subject, const Configuration& configuration,
                      const Shape& shape, Where where) const;
  bool may(const FactSubject& subject, const Configuration& configuration, const Shape& shape,
           Where where) const {
    return why_not(subject, configuration, shape, where) == nullptr;
  }
  // Where it died before, if only in a helper, it does not race.
  bool may_race(const FactSubject& subject, const Configuration& configuration) const;
  // The classes of shapes at which launches may run it unchecked (KernelPackage::class_key).
  std::vector<std::uint64_t> classes(const FactSubject& subject,
                                     const Configuration& configuration) const;
  bool passed_in_class(const FactSubject& subject, const Configuration& configuration,
                       const Shape& shape) const;
  // The quirk table names it, or may with figures that only a launch tells.
  bool quirky(const FactSubject& subject, const Configuration& configuration) const;
  // One was right and wrong: what the kernel's classes rest on does not hold.
  bool classes_fail(const FactSubject& subject) const;
  // Rises whenever an answer may have changed.
  std::uint64_t version() const { return version_; }

  // --- what changes the answers ---
  // It passed both checks at the shape; it failed one.
  void passed(const FactSubject& subject, const Configuration& configuration, const Shape& shape);
  void wrong(const FactSubject& subject, const journal::Trial& trial);
  // A supervisor saw that end of what was in hand.
  void died(const journal::Open& open, journal::Ending ending, const std::string& detail);
  // The reference ran in a new helper, or failed there.
  void reference_ran(const DeviceInfo& device, bool well);
  // It came to an outcome of its own at that place, and everybody survived.
  void survived(const journal::Trial& trial, Where where);

  // Suspects get one trial a session, in a helper, from begin_retry to end_retry; one more at the
  // shape of a death that they survived elsewhere. Not in the session of the death, unless launches
  // miss it (`missed`). The trial's shape is where it would be made.
  // Calls have no helper: what ran in one when the board went down runs in calls of that shape
  // again, one after the other, also once a session (`where` is launches). Who died with the
  // application alone does not: nobody knows whether that was a crash.
  bool may_retry(const journal::Trial& trial, bool missed, Where where) const;
  void begin_retry(const journal::Trial& trial, Where where);
  // `tried`: it came to an end of its own; else it may be made again.
  void end_retry(const journal::Trial& trial, bool tried);

 private:
  struct Check {
    std::uint64_t subject;
    std::uint64_t configuration;
    std::uint64_t class_key;
    bool right;
  };
  struct Retry {
    journal::TrialKey key;
    Where where;
    bool open;
  };
  static std::uint64_t key_of(const FactSubject& subject);
  const char* why_not_suspect(const journal::Suspect& suspect, const journal::Trial& trial,
                              Where where) const;
  void note(const FactSubject& subject, const Configuration& configuration, std::uint64_t class_key,
            bool right);

  journal::Journal& journal_;
  std::shared_ptr<const QuirkTable> quirks_;
  std::vector<Check> checks_;
  std::vector<std::uint64_t> refuted_;  // subjects
  std::vector<Retry> retries_;          // of this process
  std::uint64_t version_ = 1;
};

}  // namespace idletune::detail
