// Trials in the application's own process: for AgentOptions::in_process. They have a header of
// their own because a program contains them (some 20 KiB) only if the program names them.
#pragma once

namespace idletune {

class TrialsInProcess;

// Configurations are tried in the application's process, on the agent's own thread, where no
// program can be started. This promises less than the helper: a configuration that takes its
// process down takes the application down, once. The next start suspects it. Any thread.
const TrialsInProcess* trials_in_process();

}  // namespace idletune
