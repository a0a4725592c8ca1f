// An application without a kernel of ours: zlib's level, strategy and memory, tuned by the calls
// that it makes anyway. What counts is the time until a file is at the other end of a slow link.
//
// usage: idletune_encoder STATE_FOLDER [PASSES [FILES [SEED [MODEL]]]]
//
// Each file is encoded with what the agent says and, not told to anybody, with zlib's default; in
// turns, so that both meet the same machine. The agent is opened anew after every third pass.
#include <idletune/calls.hpp>

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace idletune;
using Clock = std::chrono::steady_clock;
using Text = std::vector<Bytef>;

constexpr double kLinkBytesPerSecond = 4e6;
constexpr int kPassesPerProcess = 3;

// Words of a small language, numbers in lines, a smooth picture, pointers, or noise.
Text make_file(std::mt19937& random, int kind, std::size_t size) {
  Text text;
  std::vector<std::string> words;
  for (int i = 0; i < 300; ++i) {
    std::string word;
    for (unsigned k = 2 + random() % 8; k > 0; --k) word += static_cast<char>('a' + random() % 26);
    words.push_back(word + ' ');
  }
  double level = 128;
  unsigned line = 1000;
  while (text.size() < size) {
    std::string piece;
    switch (kind) {
      case 0: piece = words[std::min(random() % 300, random() % 300)]; break;
      case 1:
        piece = std::to_string(line += random() % 3) + ",sensor" + std::to_string(random() % 4) +
                "," + std::to_string(20 + random() % 5) + "\n";
        break;
      case 2:
        level = std::clamp(level + static_cast<double>(random() % 7) - 3, 0.0, 255.0);
        piece = static_cast<char>(static_cast<int>(level));
        break;
      case 3: piece = std::string({static_cast<char>(random() % 64), '\0', '\x40', '\x7f'}); break;
      default: piece = static_cast<char>(random());
    }
    text.insert(text.end(), piece.begin(), piece.end());
  }
  return text;
}

// Of the bytes, in eighths of a bit.
std::int64_t entropy(const Text& text) {
  std::vector<double> counts(256);
  for (const Bytef byte : text) ++counts[byte];
  double bits = 0;
  for (const double count : counts)
    if (count > 0) bits -= count * std::log2(count / static_cast<double>(text.size()));
  return std::lround(bits / static_cast<double>(text.size()));
}

struct Encoded {
  Text bytes;
  double seconds = 0;  // until the other end has them
  bool ok = false;
};

Encoded encode(const Text& text, const Configuration& settings) {
  Encoded encoded;
  const auto start = Clock::now();
  z_stream stream{};
  const auto setting = [&](std::size_t i) { return static_cast<int>(settings[i]); };
  encoded.ok = deflateInit2(&stream, setting(0), Z_DEFLATED, 15, setting(2), setting(1)) == Z_OK;
  if (!encoded.ok) return encoded;
  encoded.bytes.resize(deflateBound(&stream, text.size()));
  stream.next_in = const_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = encoded.bytes.data();
  stream.avail_out = static_cast<uInt>(encoded.bytes.size());
  encoded.ok = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  encoded.bytes.resize(stream.total_out);
  deflateEnd(&stream);
  encoded.seconds = std::chrono::duration<double>(Clock::now() - start).count() +
                    static_cast<double>(encoded.bytes.size()) / kLinkBytesPerSecond;
  return encoded;
}

bool is_right(const Text& text, const Text& encoded) {
  Text decoded(text.size());
  uLongf size = decoded.size();
  return uncompress(decoded.data(), &size, encoded.data(), encoded.size()) == Z_OK &&
         decoded == text;
}

CallDescription deflate_calls() {
  CallDescription description;
  description.name = "deflate";
  description.parameters = {{"LEVEL", {6, 1, 2, 3, 4, 5, 7, 8, 9}},
                            {"STRATEGY", {0, 1, 2, 3, 4}},
                            {"MEMORY", {8, 5, 7, 9}}};
  description.dimensions = {"ENTROPY"};
  description.runs_on = std::string("zlib ") + zlibVersion();
  return description;
}

struct Account {
  double spent = 0, standard = 0, worst = 0;
  int calls = 0;
  void add(double seconds, double default_seconds) {
    constexpr int kFew = 100;  // of which a single one that somebody disturbs is a per cent
    spent += seconds;
    standard += default_seconds;
    if (++calls > kFew) worst = std::max(worst, spent / standard - 1);
  }
};

const Configuration kStandard{6, 0, 8};

// Encodes the file with what the agent says, and with the default, in either order.
Status send(const Text& file, TunedCalls& calls, bool default_first,
            std::vector<Account*> accounts) {
  auto call = calls.begin({entropy(file)});
  if (!call.ok()) return call.status();
  Encoded usual = default_first ? encode(file, kStandard) : Encoded();
  const Encoded encoded = encode(file, call->configuration);
  if (!default_first) usual = encode(file, kStandard);
  Measurement told;
  if (!encoded.ok) {
    told.status = TrialStatus::runtime;
  } else if (!is_right(file, encoded.bytes)) {
    told.status = TrialStatus::correctness;
  }
  // Files are of different sizes: time for a mebibyte.
  told.run_time = Nanoseconds(static_cast<std::int64_t>(encoded.seconds * 1e9 * (1 << 20) /
                                                        static_cast<double>(file.size())));
  for (Account* account : accounts) account->add(encoded.seconds, usual.seconds);
  return calls.end(*call, told);
}

// What runs by now, a line for each problem; how many were tried.
std::string running(const TunedCalls& calls, std::uint64_t& tried) {
  std::string text;
  for (std::int64_t bits = 0; bits <= 8; ++bits) {
    const auto why = calls.explain({bits});
    if (!why.ok()) continue;
    tried += why->evaluated;
    text += "ENTROPY " + std::to_string(bits) + ": " + why->running_text + "\n";
  }
  return text;
}

// A process' worth of passes over all files.
Result<std::string> play(const char* state, const char* model, std::vector<Text>& files, int passes,
                         std::mt19937& random, Account& now, Account& all, std::uint64_t& tried) {
  AgentOptions options;
  options.state = state;
  options.model = model;
  options.read_environment = false;
  auto agent = Agent::open(options);
  if (!agent.ok()) return agent.status();
  auto calls = open_calls(*agent, deflate_calls());
  if (!calls.ok()) return calls.status();
  for (; passes > 0; --passes) {
    std::shuffle(files.begin(), files.end(), random);
    for (const Text& file : files) {
      Status sent = send(file, *calls, random() % 2 == 0, {&now, &all});
      if (!sent.ok()) return sent;
      agent->idle(std::chrono::milliseconds(1));
    }
  }
  return running(*calls, tried);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s STATE_FOLDER [PASSES [FILES [SEED [MODEL]]]]\n", *argv);
    return 2;
  }
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const int passes = number(2, 30), count = number(3, 200);
  std::mt19937 random(static_cast<unsigned>(number(4, 1)));
  std::vector<Text> files;
  for (int i = 0; i < count; ++i) files.push_back(make_file(random, i % 5, 4096u << random() % 5));
  std::printf("| passes | of the default's time | so far | at worst so far | tried |\n");
  std::printf("|---|---|---|---|---|\n");
  Account all;
  std::string last;
  for (int pass = 0; pass < passes; pass += kPassesPerProcess) {
    const int more = std::min(passes - pass, kPassesPerProcess);
    Account now;
    std::uint64_t tried = 0;
    const auto runs =
        play(argv[1], argc > 5 ? argv[5] : kNoModel, files, more, random, now, all, tried);
    if (!runs.ok()) {
      std::fprintf(stderr, "%s\n", runs.status().message().c_str());
      return EXIT_FAILURE;
    }
    last = *runs;
    std::printf("| %d to %d | %.3f | %.3f | %+.2f %% | %llu |\n", pass + 1, pass + more,
                now.spent / now.standard, all.spent / all.standard, 100 * all.worst,
                static_cast<unsigned long long>(tried));
  }
  std::printf("\n%s", last.c_str());
  return EXIT_SUCCESS;
}
