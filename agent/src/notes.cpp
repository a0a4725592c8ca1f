#include <idletune/notes.hpp>

#include "agent/src/agent_state.hpp"

namespace idletune {
namespace {

class AgentNotes final : public Notes {
 public:
  explicit AgentNotes(detail::AgentState& agent) : agent_(agent) {}
  std::string noted(std::uint64_t digest) const override { return agent_.noted(digest); }
  void note(std::uint64_t digest, const std::string& text) override { agent_.note(digest, text); }
  bool synced() override { return agent_.notes_synced(); }

 private:
  detail::AgentState& agent_;
};

}  // namespace

std::unique_ptr<Notes> open_notes(Agent& agent) {
  return std::make_unique<AgentNotes>(*agent.state_);
}

}  // namespace idletune
