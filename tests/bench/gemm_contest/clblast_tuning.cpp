#include "tests/bench/gemm_contest/clblast_tuning.hpp"

#include <clblast.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <unordered_map>

namespace idletune::bench {
namespace {

using Parameters = std::unordered_map<std::string, std::size_t>;

// "NAME VALUE" lines.
Parameters read_parameters(const std::string& file) {
  Parameters parameters;
  std::ifstream stream(file);
  std::string name;
  std::size_t value = 0;
  while (stream >> name >> value) parameters[name] = value;
  return parameters;
}

// Runs this program again, with the tuner's own output left out. What became of it.
std::string run_tuner(const std::string& kernel, const ClblastTuning& tuning,
                      const std::string& file) {
  const std::string share = std::to_string(tuning.share);
  const pid_t child = fork();
  if (child == 0) {
    alarm(tuning.seconds);
    const int nowhere = open("/dev/null", O_WRONLY);
    (void)dup2(nowhere, STDOUT_FILENO);
    execl("/proc/self/exe", "gemm_contest", "--tune-clblast-kernel", kernel.c_str(),
          "--tuner-share", share.c_str(), "--parameters", file.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return "could not be started";
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM
               ? "did not end within " + std::to_string(tuning.seconds) + " s"
               : "ended by signal " + std::to_string(WTERMSIG(status));
  }
  return WEXITSTATUS(status) == 0 ? "" : "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

int tune_clblast(const std::string& kernel, double share, const std::string& file) {
  Workplace work;
  Parameters parameters;
  const auto status =
      kernel == "Xgemm"
          ? clblast::TuneXgemm<float>(work.queue(), 1024, 1024, 1024, share, parameters)
          : clblast::TuneXgemmDirect<float>(work.queue(), 256, 256, 256, share, parameters);
  if (status != clblast::StatusCode::kSuccess || parameters.empty()) return 1;
  std::ofstream stream(file);
  for (const auto& [name, value] : parameters) stream << name << ' ' << value << '\n';
  return stream.flush() ? 0 : 1;
}

std::string use_tuned_clblast(Workplace& work, const ClblastTuning& tuning) {
  std::string said;
  for (const char* kernel : {"Xgemm", "XgemmDirect"}) {
    const std::string file = tuning.folder + "/clblast_" + kernel;
    std::string failure;
    if (read_parameters(file).empty()) failure = run_tuner(kernel, tuning, file);
    const Parameters parameters = read_parameters(file);
    said += std::string(said.empty() ? "" : "; ") + kernel + ": ";
    if (!failure.empty() || parameters.empty()) {
      said += "as installed, its tuner " + (failure.empty() ? "found nothing" : failure);
      continue;
    }
    const auto status =
        clblast::OverrideParameters(work.device(), kernel, clblast::Precision::kSingle, parameters);
    said += status == clblast::StatusCode::kSuccess
                ? "tuned"
                : "as installed, its parameters were refused: " +
                      std::to_string(static_cast<int>(status));
  }
  return said;
}

}  // namespace idletune::bench
