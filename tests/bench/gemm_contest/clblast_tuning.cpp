#include "tests/bench/gemm_contest/clblast_tuning.hpp"

#include <clblast.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

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
std::string run_tuner(const ClblastKernel& kernel, const ClblastTuning& tuning) {
  const std::string share = std::to_string(tuning.share);
  const std::string sizes[] = {std::to_string(kernel.size.m), std::to_string(kernel.size.n),
                               std::to_string(kernel.size.k)};
  const pid_t child = fork();
  if (child == 0) {
    alarm(tuning.seconds);
    const int nowhere = open("/dev/null", O_WRONLY);
    (void)dup2(nowhere, STDOUT_FILENO);
    execl("/proc/self/exe", "gemm_contest", "--tune-clblast-kernel", kernel.name.c_str(), "--m",
          sizes[0].c_str(), "--n", sizes[1].c_str(), "--k", sizes[2].c_str(), "--tuner-share",
          share.c_str(), "--tuned-clblast", tuning.folder.c_str(), nullptr);
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

std::string ClblastKernel::file_in(const std::string& folder) const {
  return folder + "/clblast_" + name + '_' + std::to_string(size.m) + '_' + std::to_string(size.n) +
         '_' + std::to_string(size.k);
}

std::vector<ClblastKernel> usual_clblast_kernels() {
  return {{"Xgemm", {1024, 1024, 1024}}, {"XgemmDirect", {256, 256, 256}}};
}

std::vector<ClblastKernel> clblast_kernels_at(const Size& size) {
  return {{"Xgemm", size}, {"XgemmDirect", size}};
}

int tune_clblast(const ClblastKernel& kernel, const ClblastTuning& tuning) {
  Workplace work;
  Parameters parameters;
  const auto [m, n, k, turned_a, turned_b] = kernel.size;
  const auto status =
      kernel.name == "Xgemm"
          ? clblast::TuneXgemm<float>(work.queue(), m, n, k, tuning.share, parameters)
          : clblast::TuneXgemmDirect<float>(work.queue(), m, n, k, tuning.share, parameters);
  if (status != clblast::StatusCode::kSuccess || parameters.empty()) return 1;
  std::ofstream stream(kernel.file_in(tuning.folder));
  for (const auto& [name, value] : parameters) stream << name << ' ' << value << '\n';
  return stream.flush() ? 0 : 1;
}

std::string use_tuned_clblast(Workplace& work, const ClblastTuning& tuning,
                              const std::vector<ClblastKernel>& kernels) {
  std::string said;
  for (const ClblastKernel& kernel : kernels) {
    const std::string file = kernel.file_in(tuning.folder);
    std::string failure;
    if (read_parameters(file).empty()) failure = run_tuner(kernel, tuning);
    const Parameters parameters = read_parameters(file);
    said += std::string(said.empty() ? "" : "; ") + kernel.name + ": ";
    if (!failure.empty() || parameters.empty()) {
      said += "as before, its tuner " + (failure.empty() ? "found nothing" : failure);
      continue;
    }
    const auto status = clblast::OverrideParameters(work.device(), kernel.name,
                                                    clblast::Precision::kSingle, parameters);
    said += status == clblast::StatusCode::kSuccess ? "tuned"
                                                    : "as before, its parameters were refused: " +
                                                          std::to_string(static_cast<int>(status));
  }
  return said;
}

}  // namespace idletune::bench
