// Boards that models are pushed to and journals pulled from, through the system's ssh and adb. A
// board needs idletune-board, or a shell with cat, mkdir, mv, rm, sync and wc; no scp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

namespace idletune::cli {

struct Board {
  enum class Way : std::uint8_t { folder, ssh, adb } way = Way::folder;
  std::string name;                    // as it was given
  std::string at;                      // ssh's host, adb's serial
  std::string state;                   // the agent's state folder there
  std::chrono::seconds patience{300};  // with each program that leads there
};

// "dir:/path", "ssh:host:/path", "adb:serial:/path" with the agent's state folder; "@file" with one of
// them in each line, # begins a comment. Each once, in order. Errors: invalid_argument (names the
// word, and the file's line), those of reading.
Result<std::vector<Board>> boards_of(const std::vector<std::string>& words);

// What the shell there writes to its standard output; `input` is on its standard input, cut off where
// the way breaks, and not by adb. Errors: timeout; io_error, with what it or the program that leads
// there says, in one line. Any thread.
Result<std::vector<std::uint8_t>> run_there(const Board& board, const std::string& script,
                                            Bytes input = {});
// The bytes become that file there, which may be cut off. Likewise.
Status copy_by_adb(const Board& board, const std::string& path, Bytes bytes);
// For the shell: 'it''s' as one word.
std::string quoted(const std::string& text);

}  // namespace idletune::cli
