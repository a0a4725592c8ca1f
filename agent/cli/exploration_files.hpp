// What an exploration keeps on the disk beside the history that it writes.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <idletune/result.hpp>

#include "agent/cli/context.hpp"
#include "agent/explore/log.hpp"
#include "agent/journal/journal.hpp"

namespace idletune::cli {

// `output` exists, and nothing to go on with stands beside it in `folder`: invalid_argument.
Status refuse_strange_output(const std::string& output, const std::string& folder);

// What was measured so far. Errors name the folder: it cannot be written, or holds another's
// progress.
Result<std::unique_ptr<explore::Log>> open_progress_log(const std::string& folder,
                                                        const explore::Identity& identity);

// The journal that says which configurations are never tried again. Where it cannot be kept, the
// user is warned and exploring goes on.
class Quarantine {
 public:
  // `chosen` is the user's folder, or empty for one beside `output`. Errors: it cannot be made.
  static Result<Quarantine> open(const std::string& chosen, const std::string& output,
                                 CliContext& context);
  journal::Journal& journal() { return *journal_; }
  void close();

 private:
  Quarantine(std::unique_ptr<journal::Journal> journal, CliContext& context)
      : journal_(std::move(journal)), context_(&context) {}

  std::unique_ptr<journal::Journal> journal_;
  CliContext* context_;
};

}  // namespace idletune::cli
