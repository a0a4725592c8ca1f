// What a journal says of an application that died.
#pragma once

#include <doctest/doctest.h>
#include <algorithm>
#include <vector>

#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/journal/journal.hpp"
#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/agent/watched_agent.hpp"
#include "tests/unit/os/temporary_folder.hpp"

namespace idletune::test {

// What was under way when the application died, and what the next start makes of it.
struct Death {
  std::size_t compiling = 0;
  std::size_t running = 0;  // configurations that may have run
  std::uint32_t accused = 0;
};

inline Death death_of(const std::string& state) {
  Death death;
  const journal::JournalSummary found = journal_of(state);
  std::vector<Configuration> running;
  for (const journal::Dangers::OpenTrial& trial : found.state.dangers().open_trials()) {
    const Configuration& configuration = trial.trial.configuration;
    if (trial.stage != journal::IntentStage::run) {
      ++death.compiling;
    } else if (std::find(running.begin(), running.end(), configuration) == running.end()) {
      running.push_back(configuration);
    }
  }
  death.running = running.size();
  // Judged on a copy.
  const TemporaryFolder copy;
  const auto bytes = read_file(state + "/" + journal::kJournalName, 8u << 20);
  REQUIRE(bytes.ok());
  REQUIRE(write_file_atomically(copy.file(journal::kJournalName), *bytes).ok());
  journal::JournalOptions options;
  options.boot = boot_identity();
  const auto judged = journal::Journal::open(open_posix_storage(copy.path()), options);
  death.accused = judged->recovery().new_suspects + judged->recovery().new_quarantines;
  return death;
}

}  // namespace idletune::test
