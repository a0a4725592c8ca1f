// Replays recorded launches on gpuocelot's emulator, at the same addresses, and compares all memory.
// usage: replay RECORDING...   (folders of record.cpp)
// A line per recording: its name, entry points, programs that ran, programs, launches that ran, words
// of 32 bits, words that either wrote, words that differ, launches that wrote outside allocations.
// What is refused is told on the error stream.
#include <hydrazine/Exception.h>
#include <ocelot/executive/EmulatedKernel.h>
#include <ocelot/executive/RuntimeException.h>
#include <ocelot/ir/Module.h>
#include <ocelot/parser/PTXParser.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "recording.hpp"

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMargin = 65536;
constexpr char kUntouched = 0x5a;
constexpr unsigned kSeconds = 900;

// What a child process tells of its launch.
struct Outcome {
  std::uint64_t words, written, differing, outside;
  bool done;
  char problem[8000];
};
Outcome* outcome;

void refuse(const std::string& problem) {
  std::snprintf(outcome->problem, sizeof outcome->problem, "%s", problem.c_str());
}

// As gpuocelot's grammar knows PTX: an older version, and nothing that is said for debuggers and
// assemblers only.
std::string older_ptx(const std::string& path) {
  static const std::regex pointer("\\.ptr( \\.(global|const|shared))?( \\.align [0-9]+)?");
  std::ifstream file(path);
  std::string line, text;
  while (std::getline(file, line)) {
    const auto has = [&line](const char* word) { return line.find(word) != std::string::npos; };
    if (line.find("\t.section") == 0) break;
    if (line.find(".version") == 0) line = ".version 3.1";
    if (line.find(".target") == 0) line = ".target sm_35";
    if (has("\t.loc\t") || has(".file\t") || has(".pragma")) line.clear();
    if (has(".ptr")) line = std::regex_replace(line, pointer, "");
    text += line + "\n";
  }
  return text;
}

// The launch's memory, mapped where it was, with a margin that nobody may write.
class Memory {
 public:
  explicit Memory(const Launch& launch) : allocations_(launch.allocations) {
    if (allocations_.empty()) return;
    begin_ = ~std::uint64_t{0};
    for (const Allocation& allocation : allocations_) {
      begin_ = std::min(begin_, allocation.address);
      end_ = std::max<std::uint64_t>(end_, allocation.address + allocation.before.size());
    }
    begin_ = begin_ / kPage * kPage - kMargin;
    end_ = (end_ + kPage - 1) / kPage * kPage + kMargin;
  }

  bool map() const {
    if (allocations_.empty()) return true;
    void* const wanted = reinterpret_cast<void*>(begin_);
    if (mmap(wanted, end_ - begin_, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != wanted)
      return false;
    std::memset(wanted, kUntouched, end_ - begin_);
    for (const Allocation& allocation : allocations_)
      std::memcpy(at(allocation), allocation.before.data(), allocation.before.size());
    return true;
  }

  void compare() const {
    for (const Allocation& allocation : allocations_) compare(allocation);
    // What was compared goes away: the rest is untouched.
    for (const Allocation& allocation : allocations_)
      std::memset(at(allocation), kUntouched, allocation.after.size());
    const char* const first = reinterpret_cast<const char*>(begin_);
    outcome->outside =
        std::any_of(first, first + (end_ - begin_), [](char byte) { return byte != kUntouched; });
  }

 private:
  static char* at(const Allocation& allocation) {
    return reinterpret_cast<char*>(allocation.address);
  }

  static void compare(const Allocation& allocation) {
    const char* const now = at(allocation);
    const std::size_t size = allocation.after.size();
    for (std::size_t i = 0; i < size; i += 4) {
      const std::size_t count = std::min<std::size_t>(4, size - i);
      const bool differs = std::memcmp(now + i, &allocation.after[i], count) != 0;
      const bool changed = std::memcmp(now + i, &allocation.before[i], count) != 0;
      outcome->words += count == 4;
      outcome->written += count == 4 && (differs || changed);
      outcome->differing += differs;
    }
  }

  const std::vector<Allocation>& allocations_;
  std::uint64_t begin_ = 0, end_ = 0;
};

bool set_arguments(executive::EmulatedKernel& kernel, const Launch& launch) {
  if (kernel.arguments.size() != launch.arguments.size()) return false;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    auto& parameter = kernel.arguments[i];
    const std::string& bytes = launch.arguments[i];
    const std::size_t size = parameter.getElementSize();
    parameter.arrayValues.resize(bytes.size() / size);
    for (std::size_t j = 0; j < parameter.arrayValues.size(); ++j)
      std::memcpy(&parameter.arrayValues[j], &bytes[j * size], size);
  }
  kernel.updateArgumentMemory();
  kernel.updateMemory();
  return true;
}

void emulate(const Launch& launch, const std::string& ptx) {
  const Memory memory(launch);
  if (!memory.map()) return refuse("memory is not mapped");
  std::istringstream text(ptx);
  ir::Module module;
  module.load(text);
  ir::IRKernel* const parsed = module.getKernel(launch.kernel);
  if (parsed == nullptr) return refuse("no such kernel");
  executive::EmulatedKernel kernel(parsed, nullptr, true);
  const auto& shape = launch.shape;
  kernel.setKernelShape(shape[3], shape[4], shape[5]);
  kernel.setExternSharedMemorySize(shape[6]);
  if (!set_arguments(kernel, launch)) return refuse("other arguments");
  kernel.launchGrid(shape[0], shape[1], shape[2]);
  memory.compare();
  outcome->done = true;
}

void emulate_or_refuse(const Launch& launch, const std::string& ptx) {
  try {
    emulate(launch, ptx);
  } catch (const executive::RuntimeException& exception) {
    ir::PTXInstruction instruction = exception.instruction;
    refuse(exception.message + " at " + instruction.toString());
  } catch (const std::exception& exception) {
    const std::string problem = exception.what();
    const bool is_shuffle = problem.find("syntax error") != std::string::npos &&
                            ptx.find("shfl.sync") != std::string::npos;
    refuse(is_shuffle ? "shfl.sync" : problem);
  } catch (...) {
    refuse("an unknown exception");
  }
}

// In a process of its own, as gpuocelot ends it where something is wrong.
void replay(const Launch& launch, const std::string& ptx) {
  *outcome = Outcome{};
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    emulate_or_refuse(launch, ptx);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) refuse("signal " + std::to_string(WTERMSIG(status)));
}

struct Sums {
  std::set<std::string> kernels;
  std::set<std::uint64_t> programs, ran;
  std::map<std::string, int> refusals;
  std::uint64_t launches = 0, words = 0, written = 0, differing = 0, outside = 0;

  void add(const Launch& launch) {
    programs.insert(launch.program);
    if (!outcome->done) {
      ++refusals[outcome->problem];
      return;
    }
    ran.insert(launch.program);
    kernels.insert(launch.kernel);
    ++launches;
    words += outcome->words;
    written += outcome->written;
    differing += outcome->differing;
    outside += outcome->outside;
  }

  void print(const std::string& name) const {
    std::printf("%s %zu %zu %zu", name.c_str(), kernels.size(), ran.size(), programs.size());
    for (std::uint64_t number : {launches, words, written, differing, outside})
      std::printf(" %llu", static_cast<unsigned long long>(number));
    std::printf("\n");
    std::fflush(stdout);
    for (const auto& refusal : refusals)
      std::fprintf(stderr, "%s: %d launches refused: %s\n", name.c_str(), refusal.second,
                   refusal.first.c_str());
  }
};

void replay_all(const std::string& folder) {
  Recording recording(folder + "/launches");
  std::map<std::uint64_t, std::string> texts;
  Launch launch;
  Sums sums;
  while (recording.next(launch)) {
    std::string& text = texts[launch.program];
    if (text.empty()) text = older_ptx(folder + "/" + std::to_string(launch.program) + ".ptx");
    replay(launch, text);
    sums.add(launch);
  }
  sums.print(folder.substr(folder.rfind('/') + 1));
}

}  // namespace

int main(int count, char** arguments) {
  outcome = static_cast<Outcome*>(
      mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (outcome == MAP_FAILED) return 1;
  for (int i = 1; i < count; ++i) replay_all(arguments[i]);
  return 0;
}
