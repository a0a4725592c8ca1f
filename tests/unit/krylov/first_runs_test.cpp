#include "kernels/krylov/first_runs.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernels/krylov/product_choice.hpp"
#include "kernels/krylov/solve_memory.hpp"
#include "tests/unit/krylov/made_up_notes.hpp"

using namespace idletune;
using namespace idletune::krylov;
using test::MadeUpNotes;
using Answer = FirstRuns::Answer;
using End = FirstRuns::End;

namespace {

constexpr ProductKernel kFour = {SparseFormat::csr, {4, 64}};
constexpr ProductKernel kEll = {SparseFormat::ell, {0, 64}};

// What has run well is known to the whole process: each test has a device of its own.
struct Board {
  explicit Board(const char* name) { device.name = name; }
  void open(FirstRuns& runs, std::uint64_t structure = 1) {
    runs.open(&notes, device, 8, structure);
  }
  std::string noted() const { return notes.noted(device_digest(device, 8)); }
  void leave(const std::string& text) { notes.texts[device_digest(device, 8)] = text; }
  DeviceInfo device;
  MadeUpNotes notes;
};

}  // namespace

TEST_CASE("marks are read as they were written, and what is none is left out") {
  KernelMarks marks;
  marks.put(kFour, KernelMark::wrong);
  marks.put(kEll, KernelMark::running);
  marks.put({SparseFormat::dia, {0, 16, 1}}, KernelMark::died);
  marks.put({}, KernelMark::wrong);  // the default is never marked
  const std::string text = text_of(marks);
  CHECK(text == "products CSR/4/64/0=wrong ELL/0/64/0=running DIA/0/16/1=died");
  CHECK(text_of(marks_in(text)) == text);
  CHECK(marks_in("").all().empty());
  CHECK(marks_in("products CSR/4=wrong XYZ/0/1/0=died ELL/0/64/0=fine").all().empty());
  for (std::size_t i = 0; i < text.size(); ++i) CHECK(marks_in(text.substr(0, i)).all().size() < 3);
}

TEST_CASE("where marks have no room left nothing but the default may run") {
  KernelMarks marks;
  for (std::int32_t i = 0; i < 200; ++i)
    marks.put({SparseFormat::hyb, {i, 1 << 30, 2}}, KernelMark::died);
  CHECK(marks.all().size() == KernelMarks::kMost);
  CHECK(text_of(marks).size() <= 3000);
  CHECK(marks.refuses(kFour));
  CHECK_FALSE(marks.refuses({}));
  marks.erase({SparseFormat::hyb, {0, 1 << 30, 2}});
  CHECK_FALSE(marks.refuses(kFour));
}

TEST_CASE("a kernel runs for the first time once that is on the medium") {
  Board board("a first run");
  FirstRuns runs;
  board.open(runs);
  board.notes.answers = false;
  CHECK(runs.announce({}) == Answer::begin);  // the default
  CHECK(board.notes.written == 0);
  CHECK(runs.announce(kFour) == Answer::wait);
  CHECK(board.noted() == "products CSR/4/64/0=running");
  CHECK(runs.announce(kFour) == Answer::wait);
  CHECK(board.notes.written == 1);
  board.notes.answers = true;
  CHECK(runs.announce(kFour) == Answer::begin);
  runs.ended(kFour, End::well);
  CHECK(board.noted() == "products");
  // In this process it was survived.
  board.notes.answers = false;
  CHECK(runs.announce(kFour) == Answer::begin);
  CHECK(board.notes.written == 2);
}

TEST_CASE("who announced something else, or goes, withdraws what has not run") {
  Board board("withdrawn");
  {
    FirstRuns runs, others;
    board.open(runs);
    board.open(others);
    CHECK(runs.announce(kFour) == Answer::begin);
    CHECK(runs.announce(kEll) == Answer::begin);
    CHECK(board.noted() == "products ELL/0/64/0=running");
    // Another solver of this process may run it, too; the last one to end takes the mark away.
    CHECK(others.announce(kEll) == Answer::begin);
    runs.ended(kEll, End::did_not_run);
    CHECK(board.noted() == "products ELL/0/64/0=running");
  }
  CHECK(board.noted() == "products");
}

TEST_CASE("what ran when a process ended is not run again, and what was wrong neither") {
  Board board("after a death");
  board.leave("products CSR/4/64/0=running");  // of a process that is gone
  FirstRuns runs;
  board.open(runs);
  CHECK(runs.marks().refuses(kFour));
  CHECK(runs.announce(kFour) == Answer::never);
  CHECK(runs.announce(kEll) == Answer::begin);
  CHECK(board.noted() == "products CSR/4/64/0=died ELL/0/64/0=running");
  runs.ended(kEll, End::wrong);
  CHECK(board.noted() == "products CSR/4/64/0=died ELL/0/64/0=wrong");
  CHECK(runs.announce(kEll) == Answer::never);
  FirstRuns later;
  board.open(later);
  CHECK(later.marks().refuses(kEll));
  // Of another precision nothing is known.
  FirstRuns single;
  single.open(&board.notes, board.device, 4, 1);
  CHECK(single.announce(kEll) == Answer::begin);
}

TEST_CASE("where another structure was survived, a death is about this one only") {
  Board board("another structure");
  FirstRuns one, other;
  board.open(one);
  board.open(other, 2);
  CHECK(one.announce(kFour) == Answer::begin);
  one.ended(kFour, End::well);
  CHECK(other.announce(kFour) == Answer::begin);
  CHECK(board.noted() == "products");
  CHECK(board.notes.noted(~std::uint64_t{2}) == "products CSR/4/64/0=running");
  begin_process();  // killed
  FirstRuns later, of_other;
  board.open(later);
  board.open(of_other, 2);
  CHECK(later.announce(kFour) == Answer::begin);
  CHECK(of_other.marks().refuses(kFour));
  CHECK(of_other.announce(kFour) == Answer::never);
}

TEST_CASE("what has run well is not accused of an error, but of a wrong product") {
  Board board("an error later");
  FirstRuns runs, others;
  board.open(runs);
  board.open(others);
  CHECK(runs.announce(kFour) == Answer::begin);
  runs.ended(kFour, End::well);
  CHECK(others.announce(kFour) == Answer::begin);
  others.ended(kFour, End::died);
  CHECK_FALSE(others.marks().refuses(kFour));
  others.ended(kFour, End::wrong);
  CHECK(others.marks().refuses(kFour));
  CHECK(runs.announce(kFour) == Answer::never);
}

TEST_CASE("a medium that does not answer is waited for once, a second at most") {
  Board board("a medium that hangs");
  board.notes.answers = false;
  FirstRuns runs;
  board.open(runs);
  CHECK(runs.announce_and_wait(kFour) == Answer::never);
  CHECK(board.notes.waits == 1);
  CHECK(board.notes.waited <= std::chrono::seconds(1));
  CHECK(runs.announce_and_wait(kEll) == Answer::never);
  CHECK(board.notes.waits == 1);
  CHECK(runs.announce(kEll) == Answer::wait);
  runs.withdraw();
  CHECK(board.noted() == "products");
  // Once it has answered it is waited for again.
  board.notes.answers = true;
  CHECK(runs.announce_and_wait(kFour) == Answer::begin);
  board.notes.answers = false;
  CHECK(runs.announce_and_wait(kEll) == Answer::never);
  CHECK(board.notes.waits == 2);
}

TEST_CASE("without notes everything may run") {
  FirstRuns runs;
  runs.open(nullptr, DeviceInfo(), 8, 1);
  CHECK(runs.announce(kFour) == Answer::begin);
  runs.ended(kFour, End::died);
  CHECK(runs.announce(kFour) == Answer::begin);
  CHECK(runs.marks().all().empty());
}

TEST_CASE("a choice leaves out what is refused, also where it was the fastest before") {
  const ModelChoice none;
  KernelMarks marks;
  marks.put({SparseFormat::csr, {0, 256}}, KernelMark::died);
  SolveMemory memory;
  memory.variant = {0, 256};
  memory.product_us = 10;
  ProductChoice choice(SolverOptions(), none);
  choice.refuse(marks);
  choice.remember(memory);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  CHECK(same(choice.race().current(), KernelVariant()));
  for (const KernelVariant& each : choice.entrants(SparseFormat::csr))
    CHECK_FALSE(same(each, KernelVariant{0, 256}));
  // In other formats it is another kernel.
  CHECK(choice.entrants(SparseFormat::ell).size() == choice.entrants(SparseFormat::csr).size() + 1);
}

TEST_CASE("a format of which every kernel is refused is not converted to") {
  const ModelChoice none;
  ProductChoice all(SolverOptions(), none);
  KernelMarks marks;
  for (const KernelVariant& each : all.entrants(SparseFormat::dia))
    marks.put({SparseFormat::dia, each}, KernelMark::wrong);
  for (const bool refused : {false, true}) {
    ProductChoice choice(SolverOptions(), none);
    if (refused) choice.refuse(marks);
    choice.begins_in(SparseFormat::csr, 1e-4, "");
    const Outlook outlook{1e6, 1e6, 1e6};
    while (choice.look_ahead(outlook) != ProductChoice::Wish::sizes) choice.took(40);
    choice.sized({1000, 2000, 500, 2000, 2000, 2000}, 0, 0);
    const ProductChoice::Wish wish = choice.look_ahead(outlook);
    CHECK(wish == (refused ? ProductChoice::Wish::nothing : ProductChoice::Wish::conversion));
  }
}

TEST_CASE("marks of a structure are noted anew as those of a device are") {
  Board board("noted anew");
  board.notes.texts[~std::uint64_t{2}] = "products CSR/4/64/0=died";
  FirstRuns runs;
  board.open(runs, 2);
  runs.refresh();
  CHECK(board.notes.written == 1);
}

TEST_CASE("a process that sees ever new structures does not remember each") {
  Board board("ever new structures");
  FirstRuns waiting;
  board.open(waiting, 7);
  CHECK(waiting.announce(kEll) == Answer::begin);
  for (std::uint64_t structure = 1000; structure < 3000; ++structure) {
    FirstRuns runs;
    board.open(runs, structure);
    CHECK(runs.announce(kFour) == Answer::begin);
    runs.ended(kFour, End::well);
  }
  CHECK(first_runs_known() < 1100);
  // That kFour was survived is known, and that kEll runs.
  FirstRuns runs;
  board.open(runs, 1000);
  CHECK(runs.announce(kFour) == Answer::begin);
  CHECK(board.noted() == "products ELL/0/64/0=running");
  waiting.ended(kEll, End::well);
  CHECK(board.noted() == "products");
}
