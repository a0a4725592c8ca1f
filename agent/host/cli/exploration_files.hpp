// What an exploration keeps on the disk beside the history that it writes.
#pragma once

#include "agent/host/cli/exploration_task.hpp"
#include "agent/host/report/sections.hpp"
#include "models/host/history/history.hpp"

namespace idletune::cli {

// `output` exists, and beside it there is no progress to go on with (of one exploration, or of
// `several`): invalid_argument.
Status refuse_strange_output(const std::string& output, bool several);

// Where the progress of one of several problems is. `source`: what it is, where its name tells too
// little (a matrix, of which another folder may have one of that name); or empty.
std::string progress_folder(const std::string& folder, const std::string& problem,
                            const std::string& source);

// What the context has told already.
inline const Status kSaid{StatusCode::io_error, ""};

// One answer, or those of several problems with what they have in sum.
json answer_of(json answers, std::size_t problems_left);

// The journal that says which configurations are never tried again. Where it cannot be kept, the
// user is warned and exploring goes on.
class Quarantine {
 public:
  // `chosen` is the user's folder, or empty for one beside `output`. Failure: it cannot be made.
  Quarantine(const std::string& chosen, const std::string& output, CliContext& context);
  journal::Journal& journal() { return *journal_; }
  void close();

 private:
  std::unique_ptr<journal::Journal> journal_;
  CliContext& context_;
};

// What --shape, --captured and --problem name, each with its text.
struct GivenProblem {
  enum class Kind : std::uint8_t { shape, captured, matrix };
  Kind kind = Kind::shape;
  std::string text;
};

// Folders of matrices are unfolded, and none is there twice. Error: not_found (a folder without
// any).
Result<std::vector<GivenProblem>> given_problems(const ExploreArguments& arguments);

// Used by one thread.
class LivePage {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kRenewSeconds = 3;

  LivePage(std::string path, bool insists) : path_(std::move(path)) { outputs_.begin({}, insists); }
  // Whether it is time to write again: at most every kRenewSeconds, and writing takes at most a
  // twentieth of the time.
  bool due() const;
  // What was measured so far, in the order in which it was. `total`: of the whole task. `over`: the
  // last time of this call; the page then renews itself no more. Errors: those of writing.
  Status write(const History& history, const std::vector<double>& times_ns, std::uint64_t total,
               const report::KnownRates& rates, bool over);

 private:
  std::string path_;
  Outputs outputs_;
  Clock::time_point next_{};
};

}  // namespace idletune::cli
