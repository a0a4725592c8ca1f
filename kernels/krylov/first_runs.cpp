#include "kernels/krylov/first_runs.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "kernels/krylov/solve_memory.hpp"

namespace idletune::krylov {
namespace {

constexpr std::chrono::seconds kLongestWait(1);
constexpr std::size_t kMostRuns = 1000;

// Of all solvers of this process.
struct Run {
  std::uint64_t key, structure;
  ProductKernel kernel;
  int running = 0;    // for the first time, in so many solvers
  bool well = false;  // it was survived
};

struct Runs {
  std::mutex mutex;  // notes are read and written under it, too
  std::vector<Run> all;
  Run& of(std::uint64_t key, std::uint64_t structure, const ProductKernel& kernel) {
    for (Run& each : all) {
      if (each.key == key && each.structure == structure && same(each.kernel, kernel)) return each;
    }
    all.push_back({key, structure, kernel});
    return all.back();
  }
  // With any structure: whether it runs, or that was survived.
  bool any(std::uint64_t key, const ProductKernel& kernel, bool well) const {
    for (const Run& each : all) {
      if ((well ? each.well : each.running > 0) && each.key == key && same(each.kernel, kernel))
        return true;
    }
    return false;
  }
  bool running(std::uint64_t key, const ProductKernel& kernel) const {
    return any(key, kernel, false);
  }
  bool survived(std::uint64_t key, const ProductKernel& kernel) const {
    return any(key, kernel, true);
  }
  // Of too many only that some structure survived is kept: with others it is announced anew.
  void forget() {
    if (all.size() < kMostRuns) return;
    for (std::size_t i = all.size(); i-- > 0;) {
      Run& each = all[i];
      const bool well = std::exchange(each.well, false);
      if (each.running == 0 && (!well || survived(each.key, each.kernel))) {
        each = all.back();
        all.pop_back();
      } else {
        each.well = well;
      }
    }
  }
};

Runs& runs() {
  static Runs all;
  return all;
}

}  // namespace

void FirstRuns::open(Notes* notes, const DeviceInfo& device, std::size_t number_bytes,
                     std::uint64_t structure) {
  notes_ = notes;
  if (notes == nullptr) return;
  key_ = device_digest(device, number_bytes);
  structure_ = structure;
  const std::lock_guard<std::mutex> lock(runs().mutex);
  runs().forget();
  look();
}

void FirstRuns::look() {
  marks_ = marks_in(notes_->noted(key_));
  marks_.bury([&](const ProductKernel& kernel) { return runs().running(key_, kernel); });
  own_ = marks_in(notes_->noted(~structure_));
  own_.bury(
      [&](const ProductKernel& kernel) { return runs().of(key_, structure_, kernel).running > 0; });
}

void FirstRuns::write(bool of_structure) {
  notes_->note(of_structure ? ~structure_ : key_, text_of(of_structure ? own_ : marks_));
}

KernelMarks FirstRuns::marks() const {
  KernelMarks all = marks_;
  for (const auto& [kernel, mark] : own_.all()) all.put(kernel, mark);
  return all;
}

bool FirstRuns::refuses(const ProductKernel& kernel) const {
  return marks_.refuses(kernel) || own_.refuses(kernel);
}

FirstRuns::Answer FirstRuns::announce(const ProductKernel& kernel, Nanoseconds wait) {
  if (notes_ == nullptr || is_default(kernel)) return Answer::begin;
  if (announced_ && !same(*announced_, kernel)) withdraw();
  bool refused = false;
  {
    const std::lock_guard<std::mutex> lock(runs().mutex);
    look();
    refused = refuses(kernel);
    Run& run = runs().of(key_, structure_, kernel);
    if (run.well && !refused) return Answer::begin;
    if (!announced_ && !refused) {
      announced_here_ = runs().survived(key_, kernel);
      ++run.running;
      announced_ = kernel;
      (announced_here_ ? own_ : marks_).put(kernel, KernelMark::running);
      write(announced_here_);
    }
  }
  if (refused) return withdraw(), Answer::never;
  return notes_->synced(wait) ? Answer::begin : Answer::wait;
}

FirstRuns::Answer FirstRuns::announce_and_wait(const ProductKernel& kernel) {
  if (stuck_) stuck_ = !notes_->synced(Nanoseconds{0});
  const Answer answer = announce(kernel, stuck_ ? Nanoseconds{0} : kLongestWait);
  if (answer != Answer::wait) return answer;
  stuck_ = true;
  return withdraw(), Answer::never;
}

void FirstRuns::ended(const ProductKernel& kernel, End how) {
  if (notes_ == nullptr || is_default(kernel)) return;
  const bool bad = how == End::wrong || how == End::died;
  if (!announced_ && !bad) return;
  const std::lock_guard<std::mutex> lock(runs().mutex);
  // What has run well here before does not take the device along.
  if (!announced_ && how == End::died && runs().of(key_, structure_, kernel).well) return;
  look();  // while this one still runs
  const bool here = announced_ ? announced_here_ : runs().survived(key_, kernel);
  KernelMarks& marks = here ? own_ : marks_;
  Run& run = runs().of(key_, structure_, kernel);
  run.well = how == End::well;
  if (announced_) --run.running;
  announced_.reset();
  closed_ = true;
  if (bad) {
    marks.put(kernel, how == End::wrong ? KernelMark::wrong : KernelMark::died);
  } else if (!runs().running(key_, kernel) && !marks.refuses(kernel)) {
    marks.erase(kernel);
  }
  write(here);
  if (bad) rest();
}

void FirstRuns::withdraw() {
  if (announced_) ended(ProductKernel(*announced_), End::did_not_run);
}

void begin_process() { runs().all.clear(); }

std::size_t first_runs_known() { return runs().all.size(); }

void FirstRuns::rest() {
  withdraw();
  if (closed_ && notes_->synced(Nanoseconds{0})) closed_ = false;
}

void FirstRuns::refresh() {
  if (notes_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(runs().mutex);
  look();
  if (!marks_.all().empty()) write(false);
  if (!own_.all().empty()) write(true);
}

}  // namespace idletune::krylov
