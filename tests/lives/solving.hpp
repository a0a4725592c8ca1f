// A further customer of the agent's journal: solvers of linear systems in the application's process, which
// choose their kernels while they iterate and note what these did. The solvers are the real ones, on the
// device double of solver_device.hpp; beside them stands what their kernels really did.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <idletune/krylov.hpp>
#include <idletune/notes.hpp>

#include "kernels/krylov/background_conversion.hpp"
#include "tests/lives/played_time.hpp"
#include "tests/lives/promises.hpp"
#include "tests/lives/solver_device.hpp"
#include "tests/lives/world.hpp"

namespace idletune::lives {

// What a kernel of products does; the default is sound.
enum class ProductNature : std::uint8_t {
  good,
  wrong,       // everywhere
  wrong_row,   // in one row
  wrong_here,  // with one structure only
  crash,
  crash_here,
  hang,     // until somebody kills the application
  refused,  // by the compiler
  fails     // by an error of the device
};

class Solving {
 public:
  static constexpr int kStructures = 3, kSolvers = 2 * kStructures;  // two of each

  struct Parts {
    std::function<PlayedTime*()> time;
    std::function<bool()> alive;
    std::function<void()> dies;  // the application, of a kernel
    std::function<double()> speed;
    std::function<bool()> keeps;              // the storage takes what is noted, and always did
    std::function<std::size_t()> operations;  // of the disk, so far
    // Whether what was told then is on the medium by now.
    std::function<bool(std::size_t)> synced_since;
    std::function<std::string(std::uint64_t)> on_medium;  // what is noted there under a digest
    // Seconds of work, and lost, in the agent's account.
    std::function<void(double, double)> entered;
  };
  Solving(const World& world, Report& report, Parts parts);
  ~Solving();

  // How lives begin and end. `version`: of the driver.
  void begin_life(int version, std::unique_ptr<Notes> notes);
  void died(bool clean, bool faults);
  void end_process();  // before its agent goes
  void check_start(bool reliable);
  // What the application does.
  void solve(int s, int times);
  void multiply(int s, int times);
  void begin_anew(int s) { solvers_.erase(s); }
  void error_after(int runs) { runs_to_error_ = runs; }
  void flushed();

 private:
  class WatchedNotes;
  class Account;
  struct Structure {
    krylov::SparseMatrix matrix;
    Nanoseconds csr{0};  // a product of the default
  };
  // A solver, and what it cost beside the default.
  struct Running {
    std::optional<krylov::Solver> solver;
    krylov::SolverOptions options;
    double spent = 0, standard = 0;  // seconds
    double told = 0;                 // to the agent, that it lost
    bool disturbed = false;          // by an error, or the board's speed
    bool products_follow = false;
    bool is_known = false;  // its structure, from an earlier life
  };
  // What a kernel did to somebody.
  struct Harm {
    bool kept = false;  // that nobody forgets any more
    std::size_t operation = 0;
    std::string as;
  };

  void make_structures();
  SolverScript script();
  krylov::PlayedConversion conversion();
  ProductNature nature(const krylov::ProductKernel& kernel) const;
  Nanoseconds time_of(const krylov::ProductKernel& kernel) const;
  Status compiled(const krylov::ProductKernel& kernel);
  Status ran(const krylov::ProductKernel& kernel, Span<double> y);
  void check_run(const krylov::ProductKernel& kernel, const std::string& name);
  const Harm* harm_of(const std::string& name) const;
  bool is_running(const std::string& name) const;
  void harmed(const krylov::ProductKernel& kernel, const char* as);
  bool is_right(const krylov::ProductKernel& kernel) const;  // for this solver, or the default
  void noted(std::uint64_t digest, const std::string& before, const std::string& text);
  Running* solver_of(int s);
  bool works(const char* what, const Status& status);
  std::vector<double> numbers(std::size_t count);  // in [-1, 1), all but near 0
  void paid(Running& running, double seconds, std::uint32_t products, double others, bool last);
  static std::uint32_t products_of(const krylov::SolveReport& report,
                                   const krylov::SolveOptions& options);
  void passes_beside(Nanoseconds time);
  void rests(const Running& running, bool nothing_follows);
  void waits();
  void waits_in_vain(Nanoseconds more);
  Structure& structure_of(int s) { return structures_[static_cast<std::size_t>(s % kStructures)]; }
  const Structure& structure_of(int s) const {
    return structures_[static_cast<std::size_t>(s % kStructures)];
  }
  void say(const std::string& code, const std::string& detail) { report_.say(code, detail); }

  const World& world_;
  Report& report_;
  const Parts parts_;
  std::vector<Structure> structures_;
  std::uint64_t counter_ = 0;
  // Of lives so far, by version of the driver; by kernel, and structure where it is about that only.
  std::map<int, std::map<std::string, Harm>> harm_;
  std::map<int, std::set<std::uint64_t>> digests_;              // of notes that mark kernels
  std::map<int, std::set<std::string>> exposed_;                // may be on record as running
  std::map<int, std::set<std::string>> accused_;                // for a reason
  std::map<std::uint64_t, std::vector<std::string>> expected_;  // of these one is noted
  std::map<int, std::set<int>> remembered_;  // structures that were solved with, for good
  bool ended_cleanly_ = false;
  // Of this life.
  int version_ = 0, life_ = -1;
  int solved_version_ = 0;  // in the life before
  std::unique_ptr<SolverDevice> device_;
  std::unique_ptr<SolverQueue> queue_;
  std::unique_ptr<WatchedNotes> notes_;
  std::map<int, Running> solvers_;
  std::set<int> solved_;                         // structures, in solves that ended well
  std::set<std::pair<int, std::string>> begun_;  // with a structure
  std::set<std::pair<int, std::string>> right_;  // by solver: found to be
  std::set<std::string> announced_;
  std::map<std::uint64_t, std::set<std::string>> running_;  // by the note that says so
  std::map<std::string, std::size_t> closed_;  // announcements, at which operation of the disk
  std::map<std::uint64_t, std::vector<std::string>> flushed_;  // what was noted then, and since
  int current_ = 0;                                            // the solver
  int runs_to_error_ = 0;
  bool failed_ = false;  // an error of the device that is nobody's fault
  // For the medium; in this call, since the medium answered.
  Nanoseconds waited_{0}, in_vain_{0};
  Nanoseconds beside_{0};  // of this call: what is no product
};

}  // namespace idletune::lives
