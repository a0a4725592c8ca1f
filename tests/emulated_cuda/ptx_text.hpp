// PTX as text: a place in it, and what stands between two semicolons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace emulated_cuda {

std::string trimmed(std::string_view text);
// At `separator` outside brackets, without blanks around the parts; none for nothing but blanks.
std::vector<std::string> split(std::string_view text, char separator);
// What stands between blanks; brackets count as blanks.
std::vector<std::string> words_of(std::string_view text);
// False if `text` is no integer, or one of more than 64 bits.
bool parse_integer(std::string_view text, std::uint64_t& value);

// A place in PTX without its comments. Problems name the line.
class PtxText {
 public:
  explicit PtxText(std::string_view source);

  int line() const { return line_; }
  bool at_end() const { return at_ >= text_.size(); }
  char next() const { return at_end() ? '\0' : text_[at_]; }
  void skip_blanks();
  void skip_character();
  std::string rest_of_line();
  // Whether `word` stands here, with no letter or digit behind it.
  bool at_word(std::string_view word) const;
  // Up to one of `ends` outside parentheses, which is skipped. Problem: there is none.
  std::string until(std::string_view ends, char& end);
  // The word before a ':' if one begins here, which is then skipped with it; else empty.
  std::string label();
  // What stands between the brace here and the one that closes it is skipped.
  void skip_braces();

  [[noreturn]] void fail(const std::string& what) const { fail_at(line_, what); }
  [[noreturn]] static void fail_at(int line, const std::string& what);

 private:
  std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

// "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8]"
struct Statement {
  Statement(std::string_view text, int ptx_line);
  bool has(std::string_view modifier) const;

  int line;
  std::string guard;                   // "!%p1"; empty: always
  std::string opcode;                  // "ld.global.v2.f32"
  std::string base;                    // "ld"
  std::vector<std::string> modifiers;  // "global", "v2", "f32"
  std::vector<std::string> operands;   // "{%f1, %f2}", "[%rd1+8]"
};

}  // namespace emulated_cuda
