#include "kernels/krylov/first_runs.hpp"

#include <mutex>
#include <vector>

#include "kernels/krylov/solve_memory.hpp"

namespace idletune::krylov {
namespace {

constexpr std::chrono::seconds kLongestWait(1);

// Of all solvers of this process.
struct Run {
  std::uint64_t key;
  ProductKernel kernel;
  int running = 0;    // for the first time, in so many solvers
  bool well = false;  // it was survived
};

struct Runs {
  std::mutex mutex;  // notes are read and written under it, too
  std::vector<Run> all;
  Run& of(std::uint64_t key, const ProductKernel& kernel) {
    for (Run& each : all) {
      if (each.key == key && same(each.kernel, kernel)) return each;
    }
    all.push_back({key, kernel});
    return all.back();
  }
};

Runs& runs() {
  static Runs all;
  return all;
}

}  // namespace

void FirstRuns::open(Notes* notes, const DeviceInfo& device, std::size_t number_bytes) {
  notes_ = notes;
  if (notes == nullptr) return;
  key_ = device_digest(device, number_bytes);
  const std::lock_guard<std::mutex> lock(runs().mutex);
  look();
}

void FirstRuns::look() {
  marks_ = marks_in(notes_->noted(key_));
  marks_.bury([&](const ProductKernel& kernel) { return runs().of(key_, kernel).running > 0; });
}

void FirstRuns::write() { notes_->note(key_, text_of(marks_)); }

FirstRuns::Answer FirstRuns::announce(const ProductKernel& kernel, Nanoseconds wait) {
  if (notes_ == nullptr || is_default(kernel)) return Answer::begin;
  if (announced_ && !same(*announced_, kernel)) withdraw();
  if (!announced_) {
    const std::lock_guard<std::mutex> lock(runs().mutex);
    look();
    Run& run = runs().of(key_, kernel);
    if (marks_.refuses(kernel)) return Answer::never;
    if (run.well) return Answer::begin;
    ++run.running;
    announced_ = kernel;
    marks_.put(kernel, KernelMark::running);
    write();
  }
  return notes_->synced(wait) ? Answer::begin : Answer::wait;
}

FirstRuns::Answer FirstRuns::announce_and_wait(const ProductKernel& kernel) {
  const Answer answer = announce(kernel, stuck_ ? Nanoseconds{0} : kLongestWait);
  stuck_ = stuck_ || answer == Answer::wait;
  return answer == Answer::wait ? Answer::never : answer;
}

void FirstRuns::ended(const ProductKernel& kernel, End how) {
  if (notes_ == nullptr || is_default(kernel)) return;
  const bool bad = how == End::wrong || how == End::died;
  if (!announced_ && !bad) return;
  const std::lock_guard<std::mutex> lock(runs().mutex);
  look();  // while this one still runs
  Run& run = runs().of(key_, kernel);
  run.well = how == End::well;
  if (announced_) --run.running;
  announced_.reset();
  closed_ = true;
  if (bad) {
    marks_.put(kernel, how == End::wrong ? KernelMark::wrong : KernelMark::died);
  } else if (run.running == 0 && !marks_.refuses(kernel)) {
    marks_.erase(kernel);
  }
  write();
  if (bad) rest();
}

void FirstRuns::withdraw() {
  if (announced_) ended(ProductKernel(*announced_), End::did_not_run);
}

void begin_process() { runs().all.clear(); }

void FirstRuns::rest() {
  withdraw();
  if (closed_) (void)notes_->synced({});
  closed_ = false;
}

}  // namespace idletune::krylov
