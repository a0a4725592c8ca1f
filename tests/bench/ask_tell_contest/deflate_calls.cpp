// Every setting of zlib on one made-up file, under callgrind: see `record`. A line for each:
// LEVEL STRATEGY MEMORY WINDOW, and the bytes that came out.
#include <zlib.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "recorded_calls.hpp"

namespace {

using Text = std::vector<Bytef>;

// Words, lines of a sensor, and a smooth picture, in turns.
Text make_file(std::size_t size) {
  std::mt19937 random(1);
  std::vector<std::string> words;
  for (int i = 0; i < 200; ++i) {
    std::string word;
    for (unsigned k = 2 + random() % 7; k > 0; --k) word += static_cast<char>('a' + random() % 26);
    words.push_back(word + ' ');
  }
  Text text;
  unsigned line = 1000, level = 128;
  while (text.size() < size) {
    std::string piece;
    for (int i = 0; i < 60; ++i) piece += words[random() % 200 * (random() % 200) / 200];
    for (int i = 0; i < 30; ++i) {
      piece += std::to_string(line += random() % 3) + ",sensor" + std::to_string(random() % 4) +
               "," + std::to_string(20 + random() % 5) + "\n";
    }
    for (int i = 0; i < 600; ++i) piece += static_cast<char>(level += random() % 5 - 2);
    text.insert(text.end(), piece.begin(), piece.end());
  }
  text.resize(size);
  return text;
}

std::size_t deflated(const Text& text, int level, int strategy, int memory, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, window, memory, strategy) != Z_OK) return 0;
  Text out(deflateBound(&stream, text.size()));
  stream.next_in = const_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  const bool ended = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  const std::size_t bytes = stream.total_out;
  deflateEnd(&stream);
  return ended ? bytes : 0;
}

}  // namespace

int main() {
  const Text text = make_file(32 << 10);
  for (int level = 1; level <= 9; ++level) {
    for (int strategy = 0; strategy <= 4; ++strategy) {
      for (int memory = 1; memory <= 9; ++memory) {
        for (int window = 9; window <= 15; ++window) {
          const std::string label = std::to_string(level) + ' ' + std::to_string(strategy) + ' ' +
                                    std::to_string(memory) + ' ' + std::to_string(window);
          std::size_t bytes = 0;
          idletune::bench::count_instructions(
              label.c_str(), [&] { bytes = deflated(text, level, strategy, memory, window); });
          std::printf("%s %zu\n", label.c_str(), bytes);
        }
      }
    }
  }
}
