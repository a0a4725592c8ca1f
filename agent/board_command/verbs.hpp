// One function for each verb of idletune-board. Errors name what was wrong, where, and what was
// expected; nothing but the verb's own purpose is changed on the board.
#pragma once

#include "agent/board_command/call.hpp"

namespace idletune::board {

Status list_devices(const Call& call, Facts& answer);
Status tell_sensors(const Call& call, Facts& answer);
// What the journal says. Also while an agent has it: nothing is changed, locked or made.
Status tell_status(const Call& call, Facts& answer);
// The journal to standard output; with JSON only what is in it.
Status write_journal(const Call& call, Facts& answer);
// A model from standard input into `incoming`, whole or not at all.
Status receive_model(const Call& call, Facts& answer);
// Of the model on trial; busy while an agent has the folder.
Status confirm_model(const Call& call, Facts& answer);
Status reject_model(const Call& call, Facts& answer);
// Tunes in the foreground; the journal keeps what is measured. Ends early where somebody interrupts.
Status explore_kernel(const Call& call, Facts& answer);

}  // namespace idletune::board
