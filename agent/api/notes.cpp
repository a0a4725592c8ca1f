#include <idletune/notes.hpp>

#include <atomic>
#include <thread>

#include "agent/api/agent_state.hpp"

namespace idletune {
namespace detail {

class AgentNotes final : public Notes {
 public:
  explicit AgentNotes(AgentState& agent) : agent_(agent) {}
  ~AgentNotes() override {
    const MutexLock lock(agent_.mutex_);
    enter();
  }
  std::string noted(std::uint64_t digest) const override {
    const MutexLock lock(agent_.mutex_);
    const auto name = agent_.journal_->state().name(journal::NameKind::note, digest);
    return name ? name->text : std::string();
  }
  void note(std::uint64_t digest, const std::string& text) override {
    const MutexLock lock(agent_.mutex_);
    agent_.journal_->named({journal::NameKind::note, digest, text});
    due_ = 0;
    agent_.engine_->begin_write();
  }
  bool synced(Nanoseconds wait) override {
    const auto end = std::chrono::steady_clock::now() + wait;
    while (!durable()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }
  void account(Nanoseconds work, Nanoseconds lost) override {
    work_ns_ += work.count();
    lost_ns_ += lost.count();
    if (!agent_.mutex_.try_lock()) return;
    const AdoptedLock lock(agent_.mutex_);
    enter();
  }

 private:
  void enter() IDLETUNE_REQUIRES(agent_.mutex_) {
    agent_.engine_->library_worked(Nanoseconds(work_ns_.exchange(0)),
                                   Nanoseconds(lost_ns_.exchange(0)));
  }
  bool durable() {
    if (!agent_.mutex_.try_lock()) return false;
    const AdoptedLock lock(agent_.mutex_);
    if (due_ == 0) due_ = agent_.journal_->sync_soon();
    agent_.engine_->begin_write();
    return agent_.journal_->durable(due_);
  }

  AgentState& agent_;
  std::atomic<std::int64_t> work_ns_{0}, lost_ns_{0};           // not in the ledger yet
  journal::Serial due_ IDLETUNE_GUARDED_BY(agent_.mutex_) = 0;  // 0: nobody asked for a sync
};

std::unique_ptr<Notes> open_notes(AgentState& agent) { return std::make_unique<AgentNotes>(agent); }

}  // namespace detail

std::unique_ptr<Notes> open_notes(Agent& agent) { return detail::open_notes(*agent.state_); }

}  // namespace idletune
