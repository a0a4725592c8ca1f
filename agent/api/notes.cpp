#include <idletune/notes.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "agent/api/agent_state.hpp"

namespace idletune {
namespace detail {

// Of all notes of an agent: what was read and noted, so that nobody waits for who tunes with the
// agent's mutex. It enters the journal when that mutex is free next.
class NotePad final : public LateNotes {
 public:
  explicit NotePad(AgentState& agent) : agent_(agent) {}

  std::optional<std::string> find(std::uint64_t digest) {
    const MutexLock lock(mutex_);
    const auto found = at(digest);
    return found != pages_.end() ? std::optional<std::string>(found->text) : std::nullopt;
  }
  void put(std::uint64_t digest, const std::string& text, bool late) {
    const MutexLock lock(mutex_);
    const auto found = at(digest);
    if (found == pages_.end()) {
      pages_.push_back({digest, text, late});
    } else if (late) {
      found->text = text;
      found->late = true;
    }
  }
  void enter() override IDLETUNE_NO_THREAD_SAFETY_ANALYSIS {
    const MutexLock lock(mutex_);
    for (Page& each : pages_) {
      if (!std::exchange(each.late, false)) continue;
      agent_.journal_->named({journal::NameKind::note, each.digest, each.text});
      agent_.engine_->begin_write();
    }
    if (pages_.size() > kMost) pages_.erase(pages_.begin(), pages_.end() - kMost);
  }

  int users = 0;  // under the agent's mutex

 private:
  static constexpr std::ptrdiff_t kMost = 64;  // the journal has the others
  struct Page {
    std::uint64_t digest;
    std::string text;
    bool late;  // not in the journal yet
  };
  std::vector<Page>::iterator at(std::uint64_t digest) IDLETUNE_REQUIRES(mutex_) {
    return std::find_if(pages_.begin(), pages_.end(),
                        [digest](const Page& each) { return each.digest == digest; });
  }

  AgentState& agent_;
  Mutex mutex_;  // after the agent's
  std::vector<Page> pages_ IDLETUNE_GUARDED_BY(mutex_);
};

class AgentNotes final : public Notes {
 public:
  explicit AgentNotes(AgentState& agent) : agent_(agent) {
    const MutexLock lock(agent.mutex_);
    if (agent.late_notes_ == nullptr) agent.late_notes_ = new NotePad(agent);
    pad_ = static_cast<NotePad*>(agent.late_notes_);
    ++pad_->users;
  }
  ~AgentNotes() override {
    const MutexLock lock(agent_.mutex_);
    enter();
    if (--pad_->users > 0) return;
    agent_.late_notes_ = nullptr;
    delete pad_;
  }
  std::string noted(std::uint64_t digest) const override {
    if (const auto known = pad_->find(digest)) return *known;
    const MutexLock lock(agent_.mutex_);
    const auto name = agent_.journal_->state().name(journal::NameKind::note, digest);
    pad_->put(digest, name ? name->text : std::string(), false);
    return *pad_->find(digest);
  }
  void note(std::uint64_t digest, const std::string& text) override {
    if (text.size() > journal::kMaxNameBytes) return;
    pad_->put(digest, text, true);
    new_ = true;
    enter_if_free();
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
    enter_if_free();
  }

 private:
  void enter_if_free() {
    if (!agent_.mutex_.try_lock()) return;
    const AdoptedLock lock(agent_.mutex_);
    enter();
  }
  void enter() IDLETUNE_REQUIRES(agent_.mutex_) {
    pad_->enter();
    agent_.engine_->library_worked(Nanoseconds(work_ns_.exchange(0)),
                                   Nanoseconds(lost_ns_.exchange(0)));
  }
  bool durable() {
    if (!agent_.mutex_.try_lock()) return false;
    const AdoptedLock lock(agent_.mutex_);
    if (new_.exchange(false)) due_ = 0;
    enter();
    if (due_ == 0) due_ = agent_.journal_->sync_soon();
    agent_.engine_->begin_write();
    return agent_.journal_->durable(due_);
  }

  AgentState& agent_;
  NotePad* pad_ = nullptr;
  std::atomic<std::int64_t> work_ns_{0}, lost_ns_{0};           // not in the ledger yet
  std::atomic<bool> new_{false};                                // noted since a sync was asked for
  journal::Serial due_ IDLETUNE_GUARDED_BY(agent_.mutex_) = 0;  // 0: nobody asked for a sync
};

std::unique_ptr<Notes> open_notes(AgentState& agent) { return std::make_unique<AgentNotes>(agent); }

}  // namespace detail

std::unique_ptr<Notes> open_notes(Agent& agent) { return detail::open_notes(*agent.state_); }

}  // namespace idletune
