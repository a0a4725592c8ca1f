// idletune push and pull: models to boards, and their journals home.
#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "agent/host/cli/boards.hpp"
#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/progress.hpp"
#include "agent/host/cli/text_layout.hpp"
#include "agent/host/cli/verbs.hpp"
#include "agent/journal/journal.hpp"
#include "agent/journal/summary.hpp"
#include "agent/signing/pushed_file.hpp"
#include "agent/slots/slot_record.hpp"
#include "models/predict/model.hpp"
#include "platform/os/mutex.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kAtOnce = 8;
constexpr const char* kStopped = "stopped; call again for the boards that it did not come to";

// What a board's journal says of a model, and what was done about it.
enum class Standing : std::uint8_t { confirmed, trial, refuted, superseded, unknown };
constexpr const char* kStandings[] = {"confirmed", "on trial", "refuted", "has a newer one",
                                      "not there"};

struct BoardAnswer {
  Status status;  // of what was asked of it
  slots::SlotRecord models;
  Standing standing = Standing::unknown;
  std::string done = "nothing";
};

// Each on its board, several at once; the bar counts those that have ended.
void for_each_board(std::size_t boards, const std::string& what,
                    const std::function<void(std::size_t)>& work, const CliContext& context) {
  Progress progress(what, boards, context.json());
  std::atomic<std::size_t> next{0};
  Mutex told;
  std::size_t ended = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(kAtOnce, boards); ++i) {
    threads.emplace_back([&] {
      for (std::size_t one = next++; one < boards; one = next++) {
        work(one);
        const MutexLock lock(told);
        progress.update(++ended);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Shell: whether the board has the command for boards, and it runs.
constexpr const char* kHasCommand = "idletune-board --version </dev/null >/dev/null 2>&1";

Result<std::vector<std::uint8_t>> journal_of(const Board& board) {
  // A board on which no agent has run yet has none. One whose command does not read it, yet: we may.
  const std::string has = kHasCommand;
  return run_there(board, "CDPATH= cd -- " + quoted(board.state) +
                              " && if [ -f journal ]; then { " + has +
                              " && idletune-board journal . 2>/dev/null; } || cat journal; fi");
}

Standing standing_of(const slots::SlotRecord& models, std::uint64_t digest,
                     std::uint64_t generation) {
  if (models.confirmed.digest == digest) return Standing::confirmed;
  if (models.trial.digest == digest) return Standing::trial;
  switch (models.admits({digest, generation, slots::Place::image}).code()) {
    case StatusCode::ok: return Standing::unknown;
    case StatusCode::untrusted: return Standing::refuted;
    default: return Standing::superseded;
  }
}

struct BoardArguments {
  std::vector<std::string> names;
  unsigned patience_s = 300;
};

std::vector<Board> boards_in(const BoardArguments& arguments) {
  std::vector<Board> boards = must(boards_of(arguments.names));
  for (Board& board : boards) board.patience = std::chrono::seconds(arguments.patience_s);
  return boards;
}

// --- push ---

struct PushArguments {
  std::string model;
  BoardArguments boards;
  double canary = 0;
};

struct Pushed {
  std::vector<std::uint8_t> file;
  std::uint64_t digest = 0;
  std::uint64_t generation = 0;
};

Pushed pushed_in(const std::string& path) {
  Pushed pushed;
  pushed.file = must(read_file(path, kMaxModelBytes));
  const auto model = must(Model::open(must(believed_part(pushed.file, path, nullptr)), path));
  pushed.digest = model->content_digest();
  pushed.generation = model->generation();
  return pushed;
}

void look_at(const Board& board, const Pushed& pushed, BoardAnswer& answer) {
  const auto journal = journal_of(board);
  answer.status = journal.status();
  if (!journal.ok() || journal->empty()) return;
  const auto summary = journal::read_journal(*journal);
  answer.status = summary.status();
  if (!summary.ok()) return;
  (void)slots::SlotRecord::decode(summary->state.models(), answer.models);
  answer.standing = standing_of(answer.models, pushed.digest, pushed.generation);
}

// Beside, then synced, then under the name that the agent looks for. What was cut off is not renamed.
// With adb what is beside is there already; else it is named for the shell that writes it, so that
// what others left is told from what they are writing.
std::string taking_script(const Board& board, const Pushed& pushed, const std::string& copied) {
  const std::string incoming = board.state + "/incoming";
  const std::string size = std::to_string(pushed.file.size());
  const bool beside = board.way == Board::Way::adb;
  const std::string part = quoted(copied) + (beside ? "" : ".$$");
  const std::string sweep = "for left in " + quoted(incoming) +
                            "/part-*; do [ -d /proc/${left##*.} ] || rm -f \"$left\"; done";
  std::string command = "idletune-board receive " + quoted(board.state) + " --length " + size +
                        " --digest " + hexadecimal(pushed.digest) + " >/dev/null";
  if (beside) command += " < " + part + "; got=$?; " + sweep + "; [ $got = 0 ]";
  std::string shell = "[ $(wc -c < " + part + ") -eq " + size + " ] && sync && mv -f " + part +
                      " " + quoted(incoming + "/pushed.itmodel") + " && sync; got=$?; rm -f " +
                      part + "; " + sweep + "; [ $got = 0 ]";
  if (!beside) {  // what takes room goes before
    shell =
        "mkdir -p " + quoted(incoming) + " && { " + sweep + "; } && cat > " + part + " && " + shell;
  }
  return std::string("if ") + kHasCommand + "; then " + command + "; else " + shell + "; fi";
}

void push_to(const Board& board, const Pushed& pushed, BoardAnswer& answer) {
  if (!answer.status.ok() || answer.standing != Standing::unknown) return;
  const std::string part = board.state + "/incoming/part-" + hexadecimal(pushed.digest);
  const std::string script = taking_script(board, pushed, part);
  if (board.way == Board::Way::adb) {
    answer.status = run_there(board, "mkdir -p " + quoted(board.state + "/incoming")).status();
    if (answer.status.ok()) answer.status = copy_by_adb(board, part, pushed.file);
    if (answer.status.ok()) answer.status = run_there(board, script).status();
  } else {
    answer.status = run_there(board, script, pushed.file).status();
  }
  if (answer.status.ok()) answer.done = "pushed";
}

void say_boards(const std::vector<Board>& boards, const std::vector<BoardAnswer>& answers,
                const Pushed& pushed, CliContext& context) {
  TextTable table({"board", ">confirmed", ">on trial", "this model", "done"});
  json all = json::array();
  const auto generation = [](const slots::KnownModel& model) {
    return model.is_there() ? std::to_string(model.generation) : std::string("-");
  };
  for (std::size_t i = 0; i < boards.size(); ++i) {
    const BoardAnswer& answer = answers[i];
    const char* standing = kStandings[static_cast<std::size_t>(answer.standing)];
    table.add_row({boards[i].name, generation(answer.models.confirmed),
                   generation(answer.models.trial), standing,
                   answer.status.ok() ? answer.done : "failed"});
    all.push_back({{"board", boards[i].name},
                   {"standing", standing},
                   {"done", answer.status.ok() ? answer.done : "failed"},
                   {"error", answer.status.ok() ? json(nullptr) : json(answer.status.message())},
                   {"confirmed_generation", answer.models.confirmed.generation},
                   {"trial_generation", answer.models.trial.generation},
                   {"reason", answer.models.reason}});
    if (!answer.status.ok()) context.fail(boards[i].name + ": " + answer.status.message());
  }
  if (interrupted()) context.stopped(kStopped);
  if (!context.json()) return context.print(table);
  context.print_json(
      {{"generation", pushed.generation}, {"digest", hexadecimal(pushed.digest)}, {"boards", all}});
}

void run_push(const PushArguments& arguments, CliContext& context) {
  const KeepsPart keeps;
  const Pushed pushed = pushed_in(arguments.model);
  const std::vector<Board> boards = boards_in(arguments.boards);
  std::vector<BoardAnswer> answers(boards.size());
  for_each_board(
      boards.size(), "looking", [&](std::size_t i) { look_at(boards[i], pushed, answers[i]); },
      context);
  // (0.14 times 50 is a little more than 7.)
  const double share = arguments.canary * static_cast<double>(boards.size());
  const auto canaries = static_cast<std::size_t>(std::ceil(share - 1e-9));
  std::size_t last = boards.size();
  if (canaries > 0) {
    const auto end = answers.begin() + static_cast<std::ptrdiff_t>(canaries);
    const auto confirmed = [](const BoardAnswer& answer) {
      return answer.status.ok() && answer.standing == Standing::confirmed;
    };
    if (!std::all_of(answers.begin(), end, confirmed)) last = canaries;
    for (std::size_t i = last; i < boards.size(); ++i) {
      if (answers[i].standing == Standing::unknown) answers[i].done = "waits for canaries";
    }
    for (std::size_t i = 0; i < canaries; ++i) {
      if (answers[i].standing == Standing::refuted)
        context.fail(boards[i].name + ": went back from it (" + answers[i].models.reason + ")");
    }
  }
  for_each_board(
      last, "pushing", [&](std::size_t i) { push_to(boards[i], pushed, answers[i]); }, context);
  say_boards(boards, answers, pushed, context);
}

// --- pull ---

struct PullArguments {
  BoardArguments boards;
  std::string output;
};

std::string folder_for(const Board& board) {
  std::string name = board.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  return name;
}

// The only copy of much more than the board has by now is not replaced. (Full journals forget a
// few.)
Status refuse_to_lose(const std::string& path, std::size_t measurements) {
  const auto bytes = read_file(path, journal::kMaxFileBytes);
  if (!bytes.ok()) return {};
  const auto old = journal::read_journal(*bytes);
  if (!old.ok() || old->state.measurement_count() <= 2 * measurements) return {};
  return {StatusCode::invalid_argument, "'%' has many more measurements (--force replaces it)",
          path};
}

void run_pull(const PullArguments& arguments, CliContext& context) {
  const KeepsPart keeps;
  const std::vector<Board> boards = boards_in(arguments.boards);
  std::map<std::string, std::string> owners;  // of folders
  for (const Board& board : boards) {
    const auto [owner, first] = owners.insert({folder_for(board), board.name});
    if (first || owner->second == board.name) continue;
    must(Status(
        StatusCode::invalid_argument,
        "pull: '%' and '%' would share the folder '%', expected two calls with an --output each",
        owner->second, board.name, owner->first));
  }
  struct Answer {
    Status status;
    std::string folder;
    std::size_t measurements = 0;
    std::uint64_t dropped = 0;
  };
  std::vector<Answer> answers(boards.size());
  const auto pull = [&](std::size_t i) {
    Answer& answer = answers[i];
    const auto bytes = journal_of(boards[i]);
    answer.status = bytes.status();
    if (!bytes.ok()) return;
    const auto summary = journal::read_journal(*bytes);
    answer.status =
        bytes->empty() ? Status(StatusCode::not_found, "no agent has run there") : summary.status();
    if (!answer.status.ok()) return;
    answer.folder = arguments.output + "/" + folder_for(boards[i]);
    answer.measurements = summary->state.measurement_count();
    answer.dropped = summary->dropped_bytes();
    const std::string path = answer.folder + "/" + journal::kJournalName;
    if (!context.insists()) answer.status = refuse_to_lose(path, answer.measurements);
    if (!answer.status.ok()) return;
    std::error_code failed;
    std::filesystem::create_directories(answer.folder, failed);
    answer.status = write_file_atomically(path, *bytes);
  };
  for_each_board(boards.size(), "pulling", pull, context);
  TextTable table({"board", ">measurements", "folder"});
  json all = json::array();
  for (std::size_t i = 0; i < boards.size(); ++i) {
    const Answer& answer = answers[i];
    table.add_row({boards[i].name, std::to_string(answer.measurements), answer.folder});
    all.push_back({{"board", boards[i].name},
                   {"folder", answer.folder},
                   {"measurements", answer.measurements},
                   {"dropped_bytes", answer.dropped},
                   {"error", answer.status.ok() ? json(nullptr) : json(answer.status.message())}});
    if (!answer.status.ok()) context.fail(boards[i].name + ": " + answer.status.message());
  }
  if (interrupted()) context.stopped(kStopped);
  if (context.json()) return context.print_json({{"boards", all}});
  context.print(table);
}

void add_board_arguments(Verb& verb, const std::string& words, BoardArguments& arguments) {
  verb.required(words, arguments.names,
                "dir:STATE, ssh:HOST:/STATE or adb:SERIAL:/STATE, with the agent's state folder; "
                "@FILE has one in each line")
      .one_at_a_time();
  verb.option("--patience N[s]", arguments.patience_s,
              "A board is given up when ssh, adb or a shell runs longer")
      .between(1, 86400);
}

}  // namespace

void add_push_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<PushArguments>();
  Verb verb = line.add_verb("push", "brings a model to boards that lack it");
  verb.required("model", arguments->model, "An .itmodel, signed or not");
  add_board_arguments(verb, "--to BOARD", arguments->boards);
  verb.option("--canary SHARE", arguments->canary,
              "Only to this share of the boards, the first ones, until all of them have confirmed "
              "it: call again")
      .between(0.0, 1.0);
  verb.example("push signed.itmodel --to ssh:board-7:/data/idletune --to @boards --canary 0.1");
  verb.runs([arguments, &context] { run_push(*arguments, context); });
}

void add_pull_verb(CommandLine& line, CliContext& context) {
  auto arguments = std::make_shared<PullArguments>();
  Verb verb = line.add_verb("pull", "fetches boards' journals, for import and learn");
  add_board_arguments(verb, "--from BOARD", arguments->boards);
  verb.required("-o,--output FOLDER", arguments->output,
                "A folder for each board is made in it, which import reads")
      .writes_below(/*replaces=*/true);
  verb.example("pull --from @boards -o boards");
  verb.runs([arguments, &context] { run_pull(*arguments, context); });
}

}  // namespace idletune::cli
