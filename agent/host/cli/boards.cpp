#include "agent/host/cli/boards.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/temporary_folder.hpp"
#include "platform/os/error.hpp"
#include "platform/os/storage.hpp"

namespace idletune::cli {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{64} << 20;
constexpr const char* kEnded = "idletune-ended=";  // old versions of adb tell no exit status

struct Answered {
  int status = 0;
  std::vector<std::uint8_t> output;
  std::string error;  // the line of standard error that says it
};

// The first line that begins as adb's errors do (advice follows them), else the last one.
std::string telling_line(Bytes bytes) {
  std::string text(bytes.begin(), bytes.end());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.rfind("error: ", 0) == 0 || line.rfind("adb: error: ", 0) == 0) return line;
    if (end == text.size()) return line;
  }
  return {};
}

// What a program or a board wrote where answers stand; nothing of what is no text.
std::string told_instead(Bytes output) {
  constexpr std::size_t kLongest = 300;
  std::string line = telling_line(output);
  const bool text = std::all_of(line.begin(), line.end(), [](unsigned char c) { return c >= ' '; });
  return text && line.size() <= kLongest ? line : std::string();
}

Status wait_for(pid_t child, const std::string& program, std::chrono::seconds patience,
                int& status) {
  using Clock = std::chrono::steady_clock;
  for (const Clock::time_point begin = Clock::now();;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return {};
    if (ended < 0 && errno != EINTR) return system_error("waiting for", program, errno);
    if (Clock::now() - begin > patience || interrupted()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  (void)::kill(child, SIGKILL);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (interrupted()) return {StatusCode::io_error, "stopped on the way"};
  return {StatusCode::timeout, "% had not ended after % s (--patience)", program, patience.count()};
}

// Files stand for its streams, so that nobody waits for anybody.
Result<Answered> run(const Board& board, const std::vector<std::string>& words,
                     const std::string& input) {
  if (interrupted()) return Status(StatusCode::io_error, "stopped before it");
  const TemporaryFolder folder;
  if (!folder.made().ok()) return folder.made();
  const std::string output = folder.path() + "/output";
  const std::string error = folder.path() + "/error";
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, 0, input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&streams, 1, output.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&streams, 2, error.c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, arguments[0], &streams, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  if (failed != 0) return system_error("starting", words[0], failed);
  Answered answered;
  Status waited = wait_for(child, words[0], board.patience, answered.status);
  if (!waited.ok()) return waited;
  Result<std::vector<std::uint8_t>> said = read_file(output, kMaxOutput);
  if (!said.ok()) return said.status();
  answered.output = std::move(*said);
  if (const auto complaints = read_file(error, kMaxOutput); complaints.ok())
    answered.error = telling_line(*complaints);
  return answered;
}

std::vector<std::string> words_for(const Board& board, const std::string& script) {
  switch (board.way) {
    case Board::Way::folder: return {"sh", "-c", script};
    case Board::Way::ssh:
      // Who falls silent is given up after a minute.
      return {"ssh",
              "-oBatchMode=yes",
              "-oConnectTimeout=15",
              "-oServerAliveInterval=15",
              "-oServerAliveCountMax=4",
              board.at,
              script};
    case Board::Way::adb: return {"adb", "-s", board.at, "exec-out", script};
  }
  return {};
}

Result<std::vector<std::uint8_t>> run_with(const Board& board, const std::string& script,
                                           const std::string& input) {
  Result<Answered> answered =
      run(board, words_for(board, "{ " + script + "\n}; echo " + kEnded + "$?"), input);
  if (!answered.ok()) return answered.status();
  std::vector<std::uint8_t>& output = answered->output;
  const std::string_view mark = kEnded;
  const auto at = std::find_end(output.begin(), output.end(), mark.begin(), mark.end());
  const bool whole = at != output.end();
  const bool well = whole && at + mark.size() != output.end() && at[mark.size()] == '0';
  if (!well) {
    std::string why = answered->error;
    // Behind adb what a command complains of is in its output.
    if (why.empty() && board.way == Board::Way::adb)
      why = told_instead(Bytes(output).subspan(0, static_cast<std::size_t>(at - output.begin())));
    if (why.empty()) why = whole ? "a command failed there" : "the connection ended early";
    return Status(StatusCode::io_error, why);
  }
  output.erase(at, output.end());
  return std::move(output);
}

Result<Board> board_named(const std::string& word) {
  Board board;
  board.name = word;
  if (word.rfind("dir:", 0) == 0) {
    board.state = word.substr(4);
  } else if (word.rfind("ssh:", 0) == 0 || word.rfind("adb:", 0) == 0) {
    board.way = word[0] == 's' ? Board::Way::ssh : Board::Way::adb;
    const std::size_t path = word.find(":/", 4);
    if (path != std::string::npos) {
      board.at = word.substr(4, path - 4);
      board.state = word.substr(path + 1);
    }
  }
  while (board.state.size() > 1 && board.state.back() == '/') board.state.pop_back();
  // A host that begins with a dash would be an option of ssh's.
  const bool reached = board.way == Board::Way::folder || (!board.at.empty() && board.at[0] != '-');
  if (!board.state.empty() && reached) return board;
  return Status(StatusCode::invalid_argument,
                "'" + word +
                    "': expected dir:STATE, ssh:HOST:/STATE or "
                    "adb:SERIAL:/STATE, STATE being the agent's state folder");
}

// A file for a program to read, as long as this lives.
struct Copy {
  explicit Copy(Bytes bytes)
      : written(folder.made().ok() ? write_file_atomically(path, bytes, FileSync::no)
                                   : folder.made()) {}
  const TemporaryFolder folder{};
  const std::string path = folder.path() + "/copy";
  const Status written;
};

}  // namespace

Result<std::vector<Board>> boards_of(const std::vector<std::string>& words) {
  std::vector<Board> boards;
  const auto add = [&](const std::string& word, const std::string& where) -> Status {
    Result<Board> board = board_named(word);
    if (!board.ok()) return Status(board.code(), where + board.status().message());
    const auto same = [&](const Board& each) {
      return each.way == board->way && each.at == board->at && each.state == board->state;
    };
    if (std::none_of(boards.begin(), boards.end(), same)) boards.push_back(std::move(*board));
    return {};
  };
  for (const std::string& word : words) {
    if (word.empty() || word[0] != '@') {
      if (Status added = add(word, ""); !added.ok()) return added;
      continue;
    }
    Result<std::vector<std::uint8_t>> bytes = read_file(word.substr(1), std::size_t{1} << 20);
    if (!bytes.ok()) return bytes.status();
    std::size_t number = 0;
    for (auto begin = bytes->begin(); begin != bytes->end();) {
      const auto end = std::find(begin, bytes->end(), '\n');
      std::string line(begin, end);
      begin = end == bytes->end() ? end : end + 1;
      ++number;
      for (std::size_t i = 0; i < line.size(); ++i)  // a path may have one in it
        if (line[i] == '#' &&
            (i == 0 || std::isspace(static_cast<unsigned char>(line[i - 1])) != 0))
          line.resize(i);
      while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0)
        line.pop_back();
      line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
      if (line.empty()) continue;
      const std::string where = word.substr(1) + ":" + std::to_string(number) + ": ";
      if (Status added = add(line, where); !added.ok()) return added;
    }
  }
  if (!boards.empty()) return boards;
  return Status(StatusCode::invalid_argument, "the list names no board");
}

Result<std::vector<std::uint8_t>> run_there(const Board& board, const std::string& script,
                                            Bytes input) {
  if (input.empty()) return run_with(board, script, "/dev/null");
  const Copy copy(input);
  if (!copy.written.ok()) return copy.written;
  return run_with(board, script, copy.path);
}

Status copy_by_adb(const Board& board, const std::string& path, Bytes bytes) {
  const Copy copy(bytes);
  if (!copy.written.ok()) return copy.written;
  const Result<Answered> answered =
      run(board, {"adb", "-s", board.at, "push", copy.path, path}, "/dev/null");
  if (!answered.ok()) return answered.status();
  if (answered->status == 0) return {};
  std::string why = answered->error;
  if (why.empty()) why = told_instead(answered->output);
  return Status(StatusCode::io_error, why.empty() ? "adb push failed" : why);
}

std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace idletune::cli
