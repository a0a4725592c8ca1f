#include "agent/host/cli/profiled_program.hpp"

#include <cxxabi.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/places.hpp"
#include "agent/host/cli/temporary_folder.hpp"
#include "models/core/plain_file.hpp"
#include "models/host/offload/analysis/function_name.hpp"

extern char** environ;

namespace idletune::cli {
namespace {

using offload::Profile;
using offload::RegionProfile;

constexpr std::uint64_t kFewestAccesses = 32;  // one window
constexpr double kPatienceOfUser = 0.5;
constexpr double kPatience = 10;  // seconds that a program has to write what it knows
constexpr double kAgain = 0.1;

struct Run {
  std::vector<std::string> words;  // the first one is searched for in PATH
  std::string output;              // file for standard output; empty: ours; "&2": standard error
  std::string errors;              // file for standard error; empty: ours
  double limit_s = 0;              // after which it is told to end; 0: none
};

struct Ended {
  int status = 0;        // of waitpid()
  bool stopped = false;  // told to end, or interrupted by the user
  bool killed = false;   // and had to be killed
};

Result<pid_t> start(const Run& run) {
  std::vector<char*> words;
  for (const std::string& word : run.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;
  if (run.output == "&2") {
    ::posix_spawn_file_actions_adddup2(&actions, 2, 1);
  } else if (!run.output.empty()) {
    ::posix_spawn_file_actions_addopen(&actions, 1, run.output.c_str(), kCreate, 0600);
  }
  if (!run.errors.empty()) {
    ::posix_spawn_file_actions_addopen(&actions, 2, run.errors.c_str(), kCreate, 0600);
  }
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return Status(
        StatusCode::not_found,
        "'" + run.words[0] + "' could not be started: it is not installed, or no program");
  }
  return pid;
}

using Clock = std::chrono::steady_clock;

Result<Ended> run_to_end(const Run& run) {
  const auto pid = must(start(run));
  Ended ended;
  const auto begin = Clock::now();
  double told_at = 0;
  double told_again = 0;
  for (;;) {
    const pid_t gone = ::waitpid(pid, &ended.status, WNOHANG);
    if (gone == pid) return ended;
    const double seconds = seconds_since(begin);
    if (!ended.stopped && ((run.limit_s > 0 && seconds > run.limit_s) || interrupted())) {
      ended.stopped = true;
      told_at = seconds;
    }
    // In a call of a library it ends where it is, but only when it is told once more.
    if (ended.stopped && seconds >= told_again) {
      told_again = seconds + kAgain;
      ::kill(pid, SIGTERM);
    }
    const double patience = interrupted() ? kPatienceOfUser : kPatience;
    if (ended.stopped && seconds > told_at + patience && !ended.killed) {
      ended.killed = true;
      ::kill(pid, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(seconds < 0.1 ? 2 : 20));
  }
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The line of the compiler's that says what is wrong; ours is without its place.
Status compiler_error(const std::string& source, const std::string& errors) {
  std::istringstream lines(errors);
  std::string line, last;
  while (std::getline(lines, line)) {
    const std::size_t ours = line.find("idletune: ");
    if (ours != std::string::npos) {
      return Status(line.find("no function") != std::string::npos ||
                            line.find("nothing is named") != std::string::npos
                        ? StatusCode::not_found
                        : StatusCode::unsupported,
                    "profiling '" + source + "': " + line.substr(ours + 10));
    }
    if (line.find("error: ") != std::string::npos ||
        line.find("undefined reference") != std::string::npos) {
      return Status(StatusCode::compile_error, "'" + source + "' does not compile: " + line);
    }
    if (!line.empty()) last = line;
  }
  return Status(StatusCode::compile_error, "'" + source + "' does not compile: " + last);
}

std::string readable_name(const std::string& linker_name) {
  // Anything else would be taken for a type: "f" for float.
  if (linker_name.rfind("_Z", 0) != 0) return linker_name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(linker_name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || name == nullptr) return linker_name;
  return offload::without_arguments(name.get());
}

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status));
}

std::vector<double> features_of(const json& found) {
  std::vector<double> features;
  for (const std::string& name : offload::profiled_features().names) {
    features.push_back(found["features"][name].get<double>());
  }
  return features;
}

RegionProfile region_of(const json& found, const std::string& program) {
  RegionProfile region;
  const std::string function = readable_name(found["name"].get<std::string>());
  const std::string label = found["label"].get<std::string>();
  region.name = label.empty() ? function : function + " " + label;
  region.groups.kernel = function;
  region.groups.program = program;
  region.features = features_of(found);
  for (const auto& [name, count] : found["counts"].items()) {
    region.counts.emplace_back(name, count.get<std::uint64_t>());
  }
  region.bytes_in = found["bytes_in"].get<std::uint64_t>();
  region.bytes_out = found["bytes_out"].get<std::uint64_t>();
  region.sampled = found["sampled"].get<bool>();
  for (const auto one : offload::kAllIterations) {
    if (found["iterations"] == offload::iterations_name(one)) region.iterations = one;
  }
  region.remarks = found["remarks"].get<std::vector<std::string>>();
  return region;
}

// What the walk could not know, for people and for who decides.
void add_unknown(const json& found, RegionProfile& region) {
  const auto decisions = found["decisions"].get<std::uint64_t>();
  const auto accesses = found["accesses"].get<std::uint64_t>();
  region.counts.emplace_back("unknown_decisions", decisions);
  region.counts.emplace_back("unknown_accesses", accesses);
  for (const json& other : found["others"]) region.others.push_back(features_of(other));
  if (decisions + accesses == 0) return;
  region.remarks.push_back(std::to_string(decisions) + " decisions and " +
                           std::to_string(accesses) +
                           " accesses depend on what the code does not say");
  const std::string names = listed(found["missing"]);
  if (!names.empty()) region.remarks.push_back("no value was given for " + names);
}

class Profiling {
 public:
  explicit Profiling(const ProfilingJob& job) : job_(job) {}

  Result<Profile> run() {
    find_parts();
    if (job_.from_code) return from_code();
    compile(false);
    link(false);
    const auto result = must(run_program(false));
    auto profile = must(profile_of(result));
    const bool complete = result["end"].get<std::string>() == "finished";
    if (!job_.time || !complete) return profile;
    try {
      add_times(profile);
    } catch (const Failure& failure) {
      for (RegionProfile& region : profile.regions)
        region.remarks.push_back("not timed: " + failure.status().message());
    }
    return profile;
  }

 private:
  void find_parts() {
    must(folder_.made());
    if (is_no_plain_file(job_.source) || !std::ifstream(job_.source).good()) {
      throw Failure(StatusCode::not_found,
                    "'" + job_.source + "' cannot be read; expected a C or C++ source file");
    }
    const bool is_c = job_.source.size() > 2 && job_.source.rfind(".c") == job_.source.size() - 2;
    compiler_ = is_c ? "clang-14" : "clang++-14";
    const std::pair<std::string*, const char*> parts[] = {
        {&pass_, "idletune_profiler_pass.so"},
        {&profiler_, "libidletune_profiler.a"},
        {&timer_, "libidletune_timer.a"},
        {&headers_, "include/idletune/offload_region.h"}};
    for (const auto& [path, name] : parts) {
      const Result<std::string> found = find_shipped(name);
      if (!found.ok()) {
        throw Failure(StatusCode::not_found,
                      "the profiler is not there: " + found.status().message() +
                          "; it is built where clang-14 and llvm-14-dev are installed");
      }
      *path = *found;
    }
    headers_ = headers_.substr(0, headers_.rfind("/idletune/"));
  }

  std::string settings(bool timed) const {
    std::string settings = timed ? "time=1;" : "";
    for (const std::string& function : job_.functions) settings += "function=" + function + ";";
    if (job_.full) settings += "full=1;";
    if (job_.from_code) {
      settings += "static=1;limit=" + std::to_string(job_.limit_s) + ";";
      for (const std::string& value : job_.values) settings += "value=" + value + ";";
    }
    return settings + "result=" + folder_.file("result");
  }

  void compile(bool timed) {
    std::ofstream(folder_.file("settings.h"))
        << "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
        << "__attribute__((used)) extern const char idletune_profile_settings[];\n"
        << "const char idletune_profile_settings[] = " << json(settings(timed)).dump() << ";\n";
    Run compile;
    compile.words = {compiler_,
                     "-O2",
                     "-ffp-contract=off",
                     "-w",
                     "-DIDLETUNE_PROFILING",
                     "-isystem",
                     headers_,
                     "-include",
                     folder_.file("settings.h"),
                     "-fpass-plugin=" + pass_};
    // The names of parameters; and no code for a machine that ours may not know.
    if (job_.from_code) {
      compile.words.insert(compile.words.end(), {"-fno-discard-value-names", "-emit-llvm"});
    }
    if (compiler_ == "clang++-14") compile.words.push_back("-std=c++17");
    compile.words.insert(compile.words.end(), job_.options.begin(), job_.options.end());
    // Whatever its name ends in.
    compile.words.insert(compile.words.end(), {"-x", compiler_ == "clang-14" ? "c" : "c++", "-c",
                                               job_.source, "-o", folder_.file("program.o")});
    run_compiler(std::move(compile));
  }

  void link(bool timed) {
    Run link;
    link.words = {"clang++-14", folder_.file("program.o"), timed ? timer_ : profiler_, "-o",
                  folder_.file("program")};
    link.words.insert(link.words.end(), job_.options.begin(), job_.options.end());
    run_compiler(std::move(link));
  }

  void run_compiler(Run run) const {
    run.errors = folder_.file("errors");
    const auto ended = must(run_to_end(run));
    if (ended.stopped) throw Failure(StatusCode::timeout, "interrupted while compiling");
    if (ended.status != 0) return must(compiler_error(job_.source, text_of(run.errors)));
  }

  Result<json> run_program(bool timed) {
    Run run;
    run.words = {folder_.file("program")};
    run.words.insert(run.words.end(), job_.arguments.begin(), job_.arguments.end());
    run.limit_s = job_.limit_s;
    run.output = timed ? "/dev/null" : job_.quiet ? "&2" : "";
    if (timed) run.errors = "/dev/null";
    ::unlink(folder_.file("result").c_str());
    return result_of(must(run_to_end(run)));
  }

  Result<json> result_of(const Ended& ended) const {
    json result = json::parse(text_of(folder_.file("result")), nullptr, false);
    if (ended.killed) {
      return Status(StatusCode::timeout,
                    "the program had to be killed: no region of it came to an end");
    }
    if (result.is_object() && result.contains("error")) {
      return Status(StatusCode::unsupported, "profiling '" + job_.source + "': " +
                                                 result["error"]["message"].get<std::string>());
    }
    if (!result.is_object() || !result.contains("regions") || !result.contains("end")) {
      return Status(
          StatusCode::device_error,
          "the program ended before it could say what it did (" + how_it_ended(ended.status) + ")");
    }
    return result;
  }

  Result<Profile> profile_of(const json& result) const {
    Profile profile;
    const std::size_t slash = job_.source.rfind('/');
    profile.program = job_.source.substr(slash == std::string::npos ? 0 : slash + 1);
    const std::string end = result["end"].get<std::string>();
    for (const json& found : result["regions"]) {
      RegionProfile region = region_of(found, profile.program);
      const auto accesses = found["counts"]["accesses"].get<std::uint64_t>();
      if (accesses < kFewestAccesses) {
        return Status(StatusCode::invalid_argument,
                      "region '" + region.name + "' makes " + std::to_string(accesses) +
                          " accesses to memory in all its entries; at least " +
                          std::to_string(kFewestAccesses) + " are needed to say anything");
      }
      if (end != "finished") {
        region.remarks.push_back(end == "inside" ? "the program ended within a region"
                                                 : "the run was stopped before its end");
      }
      const auto same = [&region](const RegionProfile& other) { return other.name == region.name; };
      if (std::any_of(profile.regions.begin(), profile.regions.end(), same)) {
        region.name += " #" + std::to_string(profile.regions.size());
      }
      profile.regions.push_back(std::move(region));
    }
    if (!profile.regions.empty()) return profile;
    const std::string names =
        listed(job_.functions, ", ", [](const auto& name) { return "'" + name + "'"; });
    return Status(StatusCode::not_found,
                  (names.empty() ? "no marked region" : "no region of " + names) + " was entered" +
                      (end == "finished" ? "" : " before the run was stopped") +
                      ": what the program does depends on its arguments (behind --)");
  }

  void add_times(Profile& profile) {
    compile(true);
    link(true);
    const auto result = must(run_program(true));
    const json& times = result["regions"];
    for (std::size_t i = 0; i < times.size() && i < profile.regions.size(); ++i) {
      const double ms = times[i]["ms"].get<double>();
      if (ms > 0) profile.regions[i].cpu_ms = ms;
    }
  }

  Result<Profile> from_code() {
    compile(false);
    const auto result = must(result_of({}));
    auto profile = must(profile_of(result));
    for (std::size_t i = 0; i < profile.regions.size(); ++i) {
      add_unknown(result["static"][i], profile.regions[i]);
    }
    return profile;
  }

  const ProfilingJob& job_;
  TemporaryFolder folder_;
  std::string compiler_, pass_, headers_, profiler_, timer_;
};

}  // namespace

Result<Profile> profile_program(const ProfilingJob& job) { return Profiling(job).run(); }

}  // namespace idletune::cli
