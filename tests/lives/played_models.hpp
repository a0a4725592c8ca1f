// Models that somebody pushes to a board, kept on the disk of its journal.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "agent/api/agent_models.hpp"
#include "agent/slots/slotted_models.hpp"
#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::lives {

class PlayedSlots final : public ModelSlots {
 public:
  explicit PlayedSlots(std::shared_ptr<test::Disk> disk) : disk_(std::move(disk)) {}
  std::unique_ptr<detail::KeptModels> make(const FileTrust* trust, const MonotonicClock& clock,
                                           detail::AgentState& agent) const override;

 private:
  std::shared_ptr<test::Disk> disk_;
};

// As pushers write: beside, synced, renamed. Nothing where the storage fails.
void push_model(const std::shared_ptr<test::Disk>& disk, const std::vector<std::uint8_t>& bytes);

// What a process says of its models.
struct Models {
  std::uint64_t used = 0;  // digest; 0: none
  slots::SlotRecord record;
};

// What the application was told that is done: no death takes it back.
class ToldModels {
 public:
  void confirmed(const Models& now);
  // Whoever goes back from the confirmed one may go to an older one. Whether that is done is told
  // later.
  void rejects(const Models& now);
  void rejected(std::uint64_t digest) { rejected_.insert(digest); }
  // Empty, or what is wrong.
  const char* wrong(const Models& now) const;

 private:
  std::uint64_t lowest_generation_ = 0;
  std::set<std::uint64_t> rejected_;
};

}  // namespace idletune::lives
