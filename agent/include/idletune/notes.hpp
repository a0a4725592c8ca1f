// What libraries beside the agent find out and want to know again: short texts in its journal, which
// outlive power cuts like all that is in there.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace idletune {

class Agent;

class Notes {
 public:
  virtual ~Notes() = default;
  // What was noted last under the digest, in this or an earlier process; empty: nothing. Waits while
  // somebody tunes where this process has not met the digest lately.
  virtual std::string noted(std::uint64_t digest) const = 0;
  // Takes the place of what was noted under it. At most 3,000 bytes, else nothing is noted. The
  // oldest notes go first where many are made (the limit is of bytes: thousands of short ones).
  // Waits for nobody: written by a thread of the agent's, once nobody tunes and at the next call of
  // these or of Agent::flush(), which waits for the medium.
  virtual void note(std::uint64_t digest, const std::string& text) = 0;
  // Whether all that was noted here is on the medium, or nothing is kept and only this process
  // knows. The first question lets that thread sync; to be asked again, since this waits for at most
  // `wait`.
  virtual bool synced(std::chrono::nanoseconds wait) = 0;
  // The library's own work took so long, of which `lost` went into trying things beyond what those
  // have saved: for the agent's ledger, so that both keep to one limit. Waits for nobody: what comes
  // while somebody tunes is entered later.
  virtual void account(std::chrono::nanoseconds work, std::chrono::nanoseconds lost) = 0;
};

// Any number of threads; to open and to end it waits while somebody tunes. Ends before the agent.
// Where another process has its state folder, or there is none, notes are lost with this process,
// and AgentStatus::storage says why.
std::unique_ptr<Notes> open_notes(Agent& agent);

}  // namespace idletune
