#include "agent/cli/exploration_files.hpp"

#include <utility>

#include <unistd.h>

#include "agent/cli/places.hpp"
#include "platform/os/boot.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {

Status refuse_strange_output(const std::string& output, const std::string& folder) {
  if (::access(output.c_str(), F_OK) != 0 || ::access(folder.c_str(), F_OK) == 0) return {};
  return Status(StatusCode::invalid_argument,
                output +
                    " exists, and there is no progress beside it to go on with: remove it or name "
                    "another output");
}

Result<std::unique_ptr<explore::Log>> open_progress_log(const std::string& folder,
                                                        const explore::Identity& identity) {
  auto storage = open_posix_storage(folder);
  if (!storage.ok()) return storage.status();
  auto log = explore::Log::open(std::move(*storage), identity);
  if (!log.ok()) return Status(log.code(), folder + ": " + log.status().message());
  return log;
}

Result<Quarantine> Quarantine::open(const std::string& chosen, const std::string& output,
                                    CliContext& context) {
  const std::string folder = chosen.empty() ? output + ".progress/state" : chosen;
  if (Status made = make_folders(folder); !made.ok()) return made;
  journal::JournalOptions options;
  options.boot = boot_identity();
  auto journal = journal::Journal::open(open_posix_storage(folder), options);
  if (!journal->storage_status().ok()) {
    context.warn("quarantine is not kept: " + journal->storage_status().message());
  }
  if (const Status damage = journal->recovery().damage(); !damage.ok()) {
    context.warn(damage.message());
  }
  return Quarantine(std::move(journal), context);
}

void Quarantine::close() {
  const Status closed = journal_->shutdown();
  if (!closed.ok() && journal_->storage_status().ok()) {
    context_->warn("quarantine is not kept: " + closed.message());
  }
}

}  // namespace idletune::cli
