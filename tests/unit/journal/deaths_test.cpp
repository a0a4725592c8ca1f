// The tables of deaths and of syncs on the journal's page are the code's, cell by cell.
#include "agent/journal/deaths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "agent/journal/journal.hpp"
#include "tests/paths.hpp"
#include "tests/unit/journal/small_journal.hpp"

namespace idletune::journal {
namespace {

using test::trial_of;
using Cells = std::vector<std::string>;

Cells cells_of(const std::string& line) {
  Cells cells;
  for (std::size_t start = 1; start < line.size();) {
    const std::size_t end = line.find('|', start);
    if (end == std::string::npos) break;
    std::string cell = line.substr(start, end - start);
    while (!cell.empty() && cell.front() == ' ') cell.erase(0, 1);
    while (!cell.empty() && cell.back() == ' ') cell.pop_back();
    cells.push_back(cell);
    start = end + 1;
  }
  return cells;
}

// The rows below the header that begins with `title`.
std::vector<Cells> table_on_page(const std::string& title) {
  std::ifstream page(std::string(IDLETUNE_SOURCE_FOLDER) + "/agent/journal/README.md");
  REQUIRE(page.good());
  std::vector<Cells> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.empty() || line[0] != '|') {
      if (inside) break;
    } else if (inside) {
      if (line.find("---") == std::string::npos) rows.push_back(cells_of(line));
    } else {
      inside = cells_of(line).front() == title;
    }
  }
  return rows;
}

struct Column {
  Where place;
  bool begun;
};
constexpr Column kColumns[] = {
    {Where::helper, true}, {Where::helper, false}, {Where::launches, true}, {Where::here, true}};

// In the page's words, what becomes of one that compiles and of one that runs.
std::string said(const Verdict* compiling, const Verdict* running) {
  if (running == nullptr) return compiling == nullptr ? "–" : "?";
  if (running->conclusion == Conclusion::quarantine) return "Q";
  if (compiling == nullptr) return "S, not if it compiled";
  const bool seen =
      running->cause == SuspicionCause::crash || running->cause == SuspicionCause::hang;
  return seen ? "S, crash seen" : "S";
}

std::string said(Ending ending, const Column& column, Witness witness) {
  std::vector<Open> open{{trial_of(1), column.place, IntentStage::compile, column.begun},
                         {trial_of(2), column.place, IntentStage::run, column.begun}};
  const Verdict* found[2] = {nullptr, nullptr};
  const std::vector<Verdict> verdicts = judge(open, ending, witness);
  for (const Verdict& verdict : verdicts) {
    found[verdict.trial.configuration == trial_of(2).configuration] = &verdict;
    REQUIRE(verdict.at.size() == 1);
    CHECK(verdict.at[0].shape == trial_of(1).key().shape);
    CHECK(verdict.at[0].place == column.place);
  }
  return said(found[0], found[1]);
}

TEST_CASE("the page's table of deaths is the code's, cell by cell") {
  const std::vector<Cells> rows = table_on_page("what ended");
  REQUIRE(rows.size() == kEndingCount);
  for (std::size_t e = 0; e < kEndingCount; ++e) {
    REQUIRE(rows[e].size() == 5);
    for (std::size_t c = 0; c < 4; ++c) {
      CAPTURE(rows[e][0]);
      CAPTURE(c);
      for (const Witness witness : {Witness::supervisor, Witness::trace}) {
        CHECK(said(static_cast<Ending>(e), kColumns[c], witness) == rows[e][c + 1]);
      }
      // Who knows only what is open takes it for begun.
      Column begun = kColumns[c];
      begun.begun = false;
      CHECK(said(static_cast<Ending>(e), begun, Witness::next_start) ==
            rows[e][c == 1 ? 1 : c + 1]);
    }
  }
}

// --- Syncs ---

struct Step {
  const char* said;
  std::function<void(Journal&)> before;
  std::function<void(Journal&)> make;
};

std::vector<Step> steps() {
  const auto nothing = [](Journal&) {};
  const auto announce = [](IntentStage stage) {
    return [stage](Journal& journal) { journal.intent({trial_of(1), stage, true}); };
  };
  const auto rest = [](Journal& journal) {
    journal.parked(trial_of(1), Where::helper);
    journal.closed(trial_of(1), Where::helper);
    journal.measured(test::measurement_of(1));
    journal.named({NameKind::driver, 3, "22.1"});
    journal.note_ledger({std::chrono::nanoseconds(1)}, std::chrono::nanoseconds(0));
  };
  const auto whole = [=](Journal& journal) {
    announce(IntentStage::compile)(journal);
    announce(IntentStage::run)(journal);
    journal.measured(test::measurement_of(1));
    journal.closed(trial_of(1), Where::helper);
  };
  return {
      {"intent before the first compile", nothing, announce(IntentStage::compile)},
      {"intent before the first run", announce(IntentStage::compile), announce(IntentStage::run)},
      {"parked, closed, measured, names, notes", announce(IntentStage::run), rest},
      {"**a whole step**", nothing, whole},
      {"exposures, all that are recorded together", nothing,
       [](Journal& journal) {
         const std::vector<Trial> trials{trial_of(1), trial_of(2)};
         journal.exposed(trials, Where::here);
       }},
      {"withdrawn: announced and never begun", announce(IntentStage::run),
       [](Journal& journal) { journal.withdrawn(trial_of(1), Where::helper); }},
      {"adopted, demoted, suspected, quarantine, wrong, models", nothing,
       [](Journal& journal) { journal.wrong(trial_of(1), 7); }},
      {"compaction", rest, [](Journal& journal) { (void)journal.compact(); }},
      {"shutdown", rest, [](Journal& journal) { (void)journal.shutdown(); }}};
}

std::uint64_t number_in(const std::string& cell) {
  const std::size_t digit = cell.find_first_of("0123456789");
  return digit == std::string::npos ? 0 : std::stoull(cell.substr(digit));
}

const Cells& on_page(const std::vector<Cells>& rows, const std::string& said) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Cells& cells) { return cells[0] == said; });
  REQUIRE_MESSAGE(row != rows.end(), said);
  REQUIRE(row->size() == 3);
  return *row;
}

TEST_CASE("the page's table of syncs is the code's") {
  const std::vector<Cells> rows = table_on_page("step");
  CHECK(rows.size() == steps().size() + 3);  // and opening, in three ways
  const auto disk = std::make_shared<idletune::test::Disk>();
  for (const char* said : {"open, no journal", "open, journal exists"}) {
    const auto journal = test::open_on(disk);
    CHECK(journal->outbox().file_syncs() == number_in(on_page(rows, said)[1]));
    CHECK(journal->outbox().folder_syncs() == number_in(on_page(rows, said)[2]));
  }
  for (const Step& step : steps()) {
    CAPTURE(step.said);
    const auto journal = test::open_on(std::make_shared<idletune::test::Disk>());
    step.before(*journal);
    const std::uint64_t file = journal->outbox().file_syncs();
    const std::uint64_t folder = journal->outbox().folder_syncs();
    step.make(*journal);
    CHECK(journal->outbox().file_syncs() - file == number_in(on_page(rows, step.said)[1]));
    CHECK(journal->outbox().folder_syncs() - folder == number_in(on_page(rows, step.said)[2]));
  }
}

// --- Verdicts ---

TEST_CASE("a death is one verdict per configuration, at all the shapes where it was under way") {
  Trial elsewhere = trial_of(1);
  elsewhere.shape = Shape{7, 7};
  Trial lent = trial_of(1);
  lent.data = 99;
  Trial other_driver = trial_of(1);
  other_driver.driver = 4;
  const std::vector<Verdict> verdicts = judge({{trial_of(1), Where::helper},
                                               {trial_of(2), Where::helper},
                                               {elsewhere, Where::launches},
                                               {lent, Where::here},
                                               {other_driver, Where::here}},
                                              Ending::machine_cut, Witness::next_start);
  REQUIRE(verdicts.size() == 3);
  CHECK(verdicts[0].at.size() == 3);
  CHECK(verdicts[0].cause == SuspicionCause::machine_cut);
  CHECK(verdicts[1].trial.configuration == trial_of(2).configuration);
  CHECK(verdicts[2].trial.driver == 4);
  CHECK(judge({}, Ending::machine_cut, Witness::next_start).empty());
}

}  // namespace
}  // namespace idletune::journal
