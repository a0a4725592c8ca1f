// Models that are pushed to a board: tried, and taken back. A program contains this only if it names
// model_slots(): for AgentOptions::slots. agent/slots/README.md has the files and the rules.
#pragma once

#include <cstdint>

#include <idletune/result.hpp>

namespace idletune {

// What is known of the model in use.
enum class ModelState : std::uint8_t {
  none = 0,       // there is none
  confirmed = 1,  // by the application, by a trial; or it came with the program
  trial = 2       // used, and gone back from should it fail
};
const char* model_state_name(ModelState state);  // "none", "confirmed", "trial"

struct ModelStanding {
  ModelState state = ModelState::none;
  std::uint64_t lowest_generation = 0;  // what is pushed with a lower one is refused
  std::uint32_t refuted = 0;            // models that are refused for good
  Status gone_back;  // untrusted: why the last model was gone back from, one sentence; ok: none was
};

class ModelSlots;

// Keeps what is pushed in two slots of the state folder, beside the program's own model: a model in
// `STATE/incoming/*.itmodel`, or that reload_model() names, is verified, copied and tried while the
// confirmed one stays. Agent::confirm_model() and reject_model() end a trial; so do three starts
// that end within a minute in another way than by closing the agent, and what its first picks and
// deaths were worth beside the confirmed one's, by tests that are wrong in one case of a hundred.
// (That a minute has passed idle() or the background thread sees: one of them has to run.)
// The last 32 that were gone back from are refused, and what is older than the confirmed one, also
// after a restart. Without a state folder, or where another process has it, nothing is tried.
const ModelSlots* model_slots();

}  // namespace idletune
