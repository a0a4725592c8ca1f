// Kernels of products that are bad on purpose, in processes of their own: none is ever chosen, none
// runs again after a restart; and what a killed process had found out is where the next one begins.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <idletune/agent.hpp>
#include <idletune/krylov.hpp>
#include <idletune/notes.hpp>

#include "kernels/krylov/device_kernels.hpp"
#include "kernels/krylov/first_runs.hpp"
#include "kernels/krylov/solve_memory.hpp"
#include "models/core/random.hpp"
#include "platform/os/process.hpp"
#include "tests/unit/forwarding_devices.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/made_up_notes.hpp"
#include "tests/unit/krylov/solver_subject.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/repeats.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;
using test::add_entry;
using test::end_row;

constexpr std::chrono::seconds kPatience(120);

// In place of `REAL sum = 0`, where a work item begins with a row.
const char* const kFaults[] = {
    "REAL sum = 0; if (row == 0) *(volatile GLOBAL int*)0 = 1",              // crash
    "REAL sum = 0; while (((volatile GLOBAL const REAL*)x)[0] == x[0]) {}",  // hang
    "REAL sum = 0; if (row == 5 && first == 0) sum = 1",                     // one row
    "REAL sum = first == 0 ? 1 : 0",                                         // all rows
    "REAL sum = 0; for (volatile int idle = 0; idle < 3000; ++idle) {}"};    // slow
enum Fault : int { kCrash, kHang, kWrongRow, kWrongFormat, kSlow };

struct Bad {
  Fault fault;
  SparseFormat format;
  KernelVariant variant;  // of which the work group is 0: all of the format
};

bool is_bad(const Bad& bad, const Chosen& chosen) {
  return chosen.format == bad.format && !chosen.fused &&
         (bad.variant.work_group == 0 ||
          (static_cast<std::int32_t>(chosen.work_group) == bad.variant.work_group &&
           chosen.group_per_row == (bad.variant.kind == 1) &&
           static_cast<std::int32_t>(chosen.lanes) == bad.variant.lanes()));
}

// What it compiles of a bad kernel is bad. Says so on the channel before.
class BadDevice final : public test::ForwardingDevice {
 public:
  BadDevice(Device& device, const Bad& bad) : ForwardingDevice(device), bad_(bad) {}
  Result<std::unique_ptr<Program>> compile(const CompileRequest& request) override {
    const std::string options(request.options), entry(request.entry);
    static const char* const kEntries[] = {"spmv_csr", "spmv_coo", "spmv_dia",
                                           "spmv_ell", "spmv_hyb", "spmv_sell"};
    const KernelVariant& variant = bad_.variant;
    const std::string wanted =
        joined("-DWG=% -DLANES=% -DGROUP_PER_ROW=% -DCG_SUMS=0", variant.work_group,
               variant.lanes(), variant.kind == 1 ? 1 : 0);
    const bool all = variant.work_group == 0;
    const bool found = all || options.find(wanted) == 0;
    if (entry != kEntries[static_cast<std::size_t>(bad_.format)] || !found)
      return device_.compile(request);
    ++compiled;
    CHECK(::write(kChannelDescriptor, "!", 1) == 1);
    std::string source(request.source);
    const std::string text = "REAL sum = 0";
    for (std::size_t at = source.find(text); at != std::string::npos;
         at = source.find(text, at + 60))
      source.replace(at, text.size(), kFaults[bad_.fault]);
    CompileRequest changed = request;
    changed.source = source;
    return device_.compile(changed);
  }
  int compiled = 0;

 private:
  Bad bad_;
};

SparseMatrix square_grid(std::int32_t side) {
  SparseMatrix matrix;
  matrix.pattern.columns = side * side;
  for (std::int32_t row = 0; row < side * side; ++row) {
    if (row >= side) add_entry(matrix, row - side, -1);
    if (row % side > 0) add_entry(matrix, row - 1, -1);
    add_entry(matrix, row, 4);
    if (row % side < side - 1) add_entry(matrix, row + 1, -1);
    if (row < side * (side - 1)) add_entry(matrix, row + side, -1);
    end_row(matrix);
  }
  return matrix;
}

Agent open_agent(const std::string& folder) {
  AgentOptions options;
  options.state = folder;
  options.mode = Mode::cached;
  options.model = kNoModel;
  options.read_environment = false;
  auto agent = Agent::open(options);
  REQUIRE(agent.ok());
  return std::move(*agent);
}

std::string text_of(const Chosen& chosen) {
  return joined("%/%/%/%", sparse_format_name(chosen.format), chosen.group_per_row ? 1 : 0,
                chosen.lanes, chosen.work_group);
}

int number_from(const char* name) {
  const char* text = std::getenv(name);
  REQUIRE(text != nullptr);
  return std::atoi(text);
}

// Of this program, the test case that is skipped otherwise.
std::unique_ptr<ChildProcess> start(const std::string& test_case,
                                    std::vector<std::string> environment) {
  ProcessOptions options;
  options.program = "/proc/self/exe";
  options.arguments = {"--no-skip", "--test-case=" + test_case};
  options.environment = std::move(environment);
  auto child = ChildProcess::start(options);
  REQUIRE(child.ok());
  return std::move(*child);
}

std::unique_ptr<ChildProcess> start_bad(const std::string& folder, const Bad& bad, int again) {
  return start(
      "a process with a bad product kernel",
      {"BAD_STATE=" + folder, joined("BAD_FAULT=%", static_cast<int>(bad.fault)),
       joined("BAD_FORMAT=%", static_cast<int>(bad.format)), joined("BAD_KIND=%", bad.variant.kind),
       joined("BAD_GROUP=%", bad.variant.work_group), joined("BAD_AGAIN=%", again)});
}

// What a process that solves tells once it is on the medium.
struct Acknowledged {
  std::int32_t side;
  std::uint32_t iterations;
  char chosen[32];
};

SolverOptions noting(Notes& notes) {
  SolverOptions options;
  options.notes = &notes;
  options.choosing = Choosing::always;
  options.steps = Steps::apart;
  return options;
}

// Of 3 rows, the last one apart. Jacobi makes numbers of it that single precision cannot hold.
SparseMatrix steep(double first, double second) {
  return {{3, 3, {0, 2, 4, 5}, {0, 1, 0, 1, 2}}, {first, 1, 1, second, 1}};
}

// The medium answers from this iteration on.
SolveReport solve_steep(krylov::Solver& solver, test::MadeUpNotes& notes, std::uint32_t from) {
  struct Medium {
    test::MadeUpNotes& notes;
    std::uint32_t from;
  } medium{notes, from};
  notes.answers = false;
  SolveOptions options;
  options.tolerance = 1e-5;
  options.preconditioner = Preconditioner::jacobi;
  options.user = &medium;
  options.progress = [](void* user, std::uint32_t iteration, double) {
    const Medium& self = *static_cast<Medium*>(user);
    self.notes.answers = iteration >= self.from;
  };
  std::vector<double> x(3, 0.0);
  const auto report = solver.solve(std::vector<double>{1e-12, 1e-12, 1}, x, options);
  REQUIRE(report.ok());
  return *report;
}

}  // namespace

TEST_CASE("a process with a bad product kernel" * doctest::skip()) {
  const Bad bad = {static_cast<Fault>(number_from("BAD_FAULT")),
                   static_cast<SparseFormat>(number_from("BAD_FORMAT")),
                   {number_from("BAD_KIND"), number_from("BAD_GROUP")}};
  const bool again = number_from("BAD_AGAIN") != 0;
  const test::Subject subject = test::open_subject();
  BadDevice device(*subject.device, bad);
  Agent agent = open_agent(std::getenv("BAD_STATE"));
  const auto notes = open_notes(agent);
  SolverOptions options = noting(*notes);
  options.fixed_format = bad.fault != kWrongFormat;
  options.format = bad.format;
  const SparseMatrix matrix = square_grid(30);
  auto solver = Solver::make(device, *subject.queue, matrix, options);
  REQUIRE_MESSAGE(solver.ok(), solver.status().to_string());
  const std::vector<double> b(900, 1.0);
  for (int i = 0; i < 3; ++i) {
    const test::Solved solved = test::solve(*solver, b);
    CHECK(solved.report.ended == Ended::converged);
    CHECK_MESSAGE(!is_bad(bad, solved.report.chosen), text_of(solved.report.chosen));
    if (again) CHECK(solved.report.memory.find("not run again here: ") != std::string::npos);
  }
  if (again) CHECK(device.compiled == 0);
  if (bad.fault == kSlow) CHECK(device.compiled <= 1);
}

// IDLETUNE_TEST_BAD_PRODUCTS=20: all of them.
TEST_CASE("of 20 bad product kernels none is chosen, and none runs again after a restart") {
  const SparseFormat formats[] = {SparseFormat::csr, SparseFormat::dia, SparseFormat::ell,
                                  SparseFormat::sell};
  std::vector<Bad> all;
  for (const SparseFormat format : formats) {
    const bool rows = format == SparseFormat::csr;
    all.push_back({kCrash, format, rows ? KernelVariant{4, 64} : KernelVariant{1, 16}});
    all.push_back({kHang, format, rows ? KernelVariant{0, 32} : KernelVariant{0, 16}});
    all.push_back({kWrongRow, format, {0, 256}});
    all.push_back({kSlow, format, {0, 128}});
  }
  all.push_back({kWrongFormat, SparseFormat::dia, {0, 0}});
  all.push_back({kWrongRow, SparseFormat::hyb, {0, 16}});
  all.push_back({kCrash, SparseFormat::hyb, {0, 256}});
  all.push_back({kHang, SparseFormat::coo, {0, 256}});
  REQUIRE(all.size() == 20);
  // Compiling them takes most of the time: one of each four, of every fault one.
  const bool every = test::number_from_environment("IDLETUNE_TEST_BAD_PRODUCTS", 5) > 5;
  int tried = 0, left_out = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!every && (i / 4 + i) % 4 != 0) {
      ++left_out;
      continue;
    }
    const Bad& bad = all[i];
    CAPTURE(static_cast<int>(bad.fault));
    CAPTURE(sparse_format_name(bad.format));
    const test::TemporaryFolder folder;
    const auto first = start_bad(folder.path(), bad, 0);
    std::uint8_t compiled = 0;
    if (!first->channel().receive(MutableBytes(&compiled, 1), kPatience).ok()) {
      // What else is slow here can end a race before it is tried.
      REQUIRE(first->ended(kPatience));
      CHECK_MESSAGE(first->exit_status().clean(), first->exit_status().to_string());
      continue;
    }
    ++tried;
    if (bad.fault == kHang) {
      CHECK_FALSE(first->ended(std::chrono::milliseconds(700)));
      first->kill();
    }
    REQUIRE(first->ended(kPatience));
    const bool lives = bad.fault > kHang;
    CHECK_MESSAGE(first->exit_status().clean() == lives, first->exit_status().to_string());
    const auto second = start_bad(folder.path(), bad, bad.fault != kSlow);
    REQUIRE(second->ended(kPatience));
    CHECK_MESSAGE(second->exit_status().clean(), second->exit_status().to_string());
  }
  CHECK(2 * tried > 20 - left_out);
}

TEST_CASE("a process that solves one structure after the other" * doctest::skip()) {
  const test::Subject subject = test::open_subject();
  Agent agent = open_agent(std::getenv("BAD_STATE"));
  const auto notes = open_notes(agent);
  for (std::int32_t side = 10; side < 1000; ++side) {
    krylov::Solver solver = test::make_solver(subject, square_grid(side), noting(*notes));
    const auto rows = static_cast<std::size_t>(side * side);
    const test::Solved solved = test::solve(solver, std::vector<double>(rows, 1.0));
    REQUIRE(agent.flush().ok());
    Acknowledged said{side, solved.report.iterations, {}};
    std::snprintf(said.chosen, sizeof said.chosen, "%s", text_of(solved.report.chosen).c_str());
    REQUIRE(::write(kChannelDescriptor, &said, sizeof said) == sizeof said);
  }
}

TEST_CASE("a process that is killed at any moment loses nothing that it was told is kept") {
  const test::Subject subject = test::open_subject();
  Random random(44);
  std::size_t known = 0;
  const std::uint64_t moments = test::number_from_environment("IDLETUNE_TEST_KILLS", 20);
  for (std::uint64_t moment = 0; moment < moments; ++moment) {
    const test::TemporaryFolder folder;
    const auto child = start("a process that solves one structure after the other",
                             {"BAD_STATE=" + folder.path()});
    std::vector<Acknowledged> told;
    const auto receive = [&](std::chrono::nanoseconds wait) {
      Acknowledged said{};
      MutableBytes bytes(reinterpret_cast<std::uint8_t*>(&said), sizeof said);
      const bool more = child->channel().receive_all(bytes, wait).ok();
      if (more) told.push_back(said);
      return more;
    };
    REQUIRE(receive(kPatience));
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(400000)));
    child->kill();
    REQUIRE(child->ended(kPatience));
    while (receive(std::chrono::nanoseconds(0))) {
    }
    known += told.size();
    Agent agent = open_agent(folder.path());
    const auto notes = open_notes(agent);
    for (const Acknowledged& each : told) {
      CAPTURE(each.side);
      krylov::Solver solver = test::make_solver(subject, square_grid(each.side), noting(*notes));
      // Of another format it begins with CSR, and converts.
      const std::string chosen = text_of(solver.chosen());
      if (std::string(each.chosen).find("CSR") == 0) CHECK(chosen == each.chosen);
      if (each.side != told.back().side) continue;
      const auto rows = static_cast<std::size_t>(each.side * each.side);
      const test::Solved solved = test::solve(solver, std::vector<double>(rows, 1.0));
      CHECK(solved.report.memory.find(
                joined("the last solve took % iterations, in ", each.iterations)) == 0);
    }
  }
  MESSAGE(known, " solves that were acknowledged");
}

TEST_CASE("where sums leave the range of single precision no fused steps are marked") {
  const test::Subject subject = test::open_subject();
  for (std::uint32_t begin = 0; begin < 4; ++begin) {  // the iteration that they may begin with
    CAPTURE(begin);
    begin_process();
    test::MadeUpNotes notes;
    SolverOptions options = noting(notes);
    options.precision = Precision::f32;
    options.choosing = Choosing::none;
    options.steps = Steps::fused;
    krylov::Solver solver = test::make_solver(subject, steep(1, 1e-30), options);
    std::vector<double> y(3);
    for (int i = 0; i < 4; ++i) REQUIRE(solver.multiply(std::vector<double>(3, 1.0), y).ok());
    CHECK(solve_steep(solver, notes, begin).ended == Ended::overflow);
    CHECK(notes.noted(device_digest(subject.device->info(), 4)) == "products");
  }
}

TEST_CASE("empty slots times what is infinite are no fault of a format") {
  const test::Subject subject = test::open_subject();
  for (int warm = 3; warm < 14; warm += 3) {  // products before, so that the next kernel is due
    CAPTURE(warm);
    begin_process();
    test::MadeUpNotes notes;
    SolverOptions options = noting(notes);
    options.precision = Precision::f32;
    options.fixed_format = true;
    options.format = SparseFormat::ell;
    krylov::Solver solver = test::make_solver(subject, steep(1e-30, 1), options);
    std::vector<double> y(3);
    for (int i = 0; i < warm; ++i)
      REQUIRE(solver.multiply(std::vector<double>(3, 1.0), y, 10).ok());
    CHECK(solve_steep(solver, notes, 0).ended == Ended::overflow);
    const std::string noted = notes.noted(device_digest(subject.device->info(), 4));
    CHECK_MESSAGE(noted.find('=') == std::string::npos, noted);
    CHECK(solver.chosen().format == SparseFormat::ell);
  }
}
