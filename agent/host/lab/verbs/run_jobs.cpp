#include "agent/host/lab/verbs/run_jobs.hpp"

#include <atomic>
#include <thread>

#include "agent/host/cli/interrupts.hpp"
#include "agent/host/cli/progress.hpp"

namespace idletune::cli {

Result<FinishedJobs> run_jobs(const char* task, std::size_t total, bool quiet, Jobs::Job job,
                              OnInterrupt on_interrupt) {
  constexpr int kPatience = 20;  // looks, for jobs that nearly are done
  const bool keeps = on_interrupt == OnInterrupt::keep_finished;
  std::optional<KeepsPart> part;
  if (keeps) part.emplace();
  const auto finished = std::make_shared<std::vector<std::atomic<bool>>>(total);
  auto jobs = std::make_unique<Jobs>(
      0, total, kJobThreads,
      [finished, job = std::move(job)](std::size_t i) {
        Status status = job(i);
        (*finished)[i].store(status.ok());
        return status;
      },
      keeps ? interrupted : nullptr);
  Progress progress(task, total, quiet);
  for (int looks = 0; jobs->running() && looks < kPatience;
       looks += keeps && interrupted() ? 1 : 0) {
    progress.update(jobs->done());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FinishedJobs done;
  for (const std::atomic<bool>& one : *finished) done.finished.push_back(one.load());
  if (jobs->running()) {
    done.all = jobs->done() == total;
    (void)jobs.release();  // nobody waits for them
    return done;
  }
  if (Status status = jobs->wait(); !status.ok()) return status;
  done.all = jobs->done() == total;
  return done;
}

}  // namespace idletune::cli
