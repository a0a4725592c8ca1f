// Kernels of products that run for the first time in this process with a structure: noted before, so
// that one which takes the process or the board along is not run by the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <idletune/device.hpp>
#include <idletune/notes.hpp>

#include "kernels/krylov/kernel_marks.hpp"

namespace idletune::krylov {

// Of one solver; solvers of several threads may share the notes. Without notes everything may run.
class FirstRuns {
 public:
  FirstRuns() = default;
  ~FirstRuns() { rest(); }
  FirstRuns(const FirstRuns&) = delete;
  FirstRuns& operator=(const FirstRuns&) = delete;
  // `structure`: its digest. The notes must outlive it.
  void open(Notes* notes, const DeviceInfo& device, std::size_t number_bytes,
            std::uint64_t structure);
  // For this structure, as of the last look at the notes.
  KernelMarks marks() const;

  enum class Answer : std::uint8_t {
    begin,  // it may run: that it does is on the medium, or was survived before
    wait,   // not yet; to be asked again
    never
  };
  // Before it is compiled. One at a time: who was announced before and has not ended is withdrawn.
  // Waits for the medium at most so long.
  Answer announce(const ProductKernel& kernel, Nanoseconds wait = Nanoseconds{0});
  // Waits for a second at most, but not again before the medium has answered.
  Answer announce_and_wait(const ProductKernel& kernel);

  enum class End : std::uint8_t { well, wrong, died, did_not_run };
  void ended(const ProductKernel& kernel, End how);
  // What was announced does not run after all.
  void withdraw();
  // The same where nothing follows at once: what ended is brought to the medium, too.
  void rest();
  // Notes are not for ever: what is marked is noted anew.
  void refresh();

 private:
  void look();
  void write(bool of_structure);
  bool refuses(const ProductKernel& kernel) const;

  Notes* notes_ = nullptr;
  std::uint64_t key_ = 0, structure_ = 0;
  KernelMarks marks_;
  KernelMarks own_;  // the structure's, of kernels that others in this process had survived
  std::optional<ProductKernel> announced_;
  bool announced_here_ = false;  // among the structure's own
  bool closed_ = false;          // announcements, which the medium may still have open
  bool stuck_ = false;           // the medium did not answer
};

// For played processes: nothing has run yet.
void begin_process();
// For tests: of how many kernels with structures this process knows how they ran.
std::size_t first_runs_known();

}  // namespace idletune::krylov
