#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include "models/core/random.hpp"
#include "models/host/history/history.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

History small_history() {
  History history;
  history.kernel = "blur";
  history.device = "Board One";
  history.driver = "1.2.3";
  history.shape = Shape{640, 480};
  history.nanoseconds_per_unit = 1e6;
  history.valid_count = 99;
  history.parameters.emplace_back("wg");
  history.parameters.emplace_back("mode");
  history.extras.emplace_back("note");
  const char* modes[] = {"row", "tile", "row"};
  for (int row = 0; row < 3; ++row) {
    history.parameters[0].push_integer(16 << row);
    history.parameters[1].push_text(modes[row]);
    history.status.push_back(row == 1 ? TrialStatus::timeout : TrialStatus::correct);
    history.run_time.push_back(row == 1 ? kMissing : 0.1 + row);
    history.compile_time.push_back(row == 2 ? kMissing : 17.25);
    history.sample_count.push_back(row == 0 ? 2 : 0);
  }
  history.samples = {0.1, 0.30000000000000004};
  history.extras[0].push_absent();
  history.extras[0].push_real(-0.0);
  history.extras[0].push_boolean(true);
  history.constraints = {"wg <= 1024", "mode != tile"};
  history.notes = {{"origin", "by hand"}};
  history.warnings = {"one", "two"};
  return history;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace

TEST_CASE("a history comes back from its file bit by bit") {
  const History history = small_history();
  const auto read = required(read_history(write_history(history), "x"));
  CHECK(history == read);
}

TEST_CASE("histories that differ in anything are not equal") {
  const History history = small_history();
  CHECK(history == small_history());
  const auto differs = [&](auto change) {
    History other = small_history();
    change(other);
    return other != history;
  };
  CHECK(differs([](History& h) { h.driver = "x"; }));
  CHECK(differs([](History& h) { h.constraints.pop_back(); }));
  CHECK(differs([](History& h) { h.status[1] = TrialStatus::crash; }));
  CHECK(differs([](History& h) { h.compile_time[2] = 1; }));
  CHECK(differs([](History& h) { h.samples[0] = 0.2; }));
  CHECK(differs([](History& h) { h.extras.clear(); }));
  CHECK(differs([](History& h) { h.warnings.clear(); }));
}

TEST_CASE("a file of format version 1 as first released stays readable") {
  const std::string path = idletune::test::test_data("history_v1/words.ithistory");
  const std::vector<std::uint8_t> bytes = idletune::test::read_bytes(path);
  const auto read = required(read_history(bytes, path));
  CHECK(read.kernel == "blur");
  CHECK(read.device == "Board One");
  CHECK(read.shape == Shape{640, 480});
  CHECK(read.constraints.empty());
  CHECK(read.samples == std::vector<double>{4.5, 3.5, 2.0, 2.0, 2.1});
  CHECK(read.status[6] == TrialStatus::runtime);
  // The same measurements as an import of today, by whatever names its warnings go.
  const History today = idletune::test::import_one("kernel_tuner/words.json");
  CHECK(read.parameters == today.parameters);
  CHECK(same_bits(read.run_time, today.run_time));
  CHECK(same_bits(read.compile_time, today.compile_time));
}

TEST_CASE("an empty history comes back from its file") {
  History history;
  history.kernel = "k";
  history.device = "d";
  history.parameters.emplace_back("p");
  const auto read = required(read_history(write_history(history), "x"));
  CHECK(history == read);
}

TEST_CASE("writing the same history twice gives the same bytes") {
  CHECK(write_history(small_history()) == write_history(small_history()));
}

TEST_CASE("values have the same code whatever their file called them") {
  CellColumn column("p");
  column.push_integer(8);
  column.push_real(8.0);
  column.push_boolean(true);
  column.push_real(0.5);
  column.push_text("row");
  CHECK(column.code(0) == column.code(1));
  CHECK(column.code(2) == 1);
  CHECK(column.code(3) != 0);
  CellColumn other("q");
  other.push_text("tile");
  other.push_text("row");
  CHECK(other.code(1) == column.code(4));
  CHECK(other.code(0) != column.code(4));
}

TEST_CASE("the rows of a history are the configurations of its space, in order") {
  const History history = small_history();
  const auto space = required(space_of(history));
  CHECK(space.valid_count() == 3);
  for (std::size_t row = 0; row < 3; ++row) CHECK(space.at(row) == history.configuration(row));
}

TEST_CASE("other files are refused by name") {
  const std::vector<std::uint8_t> junk(100, 'x');
  const auto read = read_history(junk, "some.file");
  CHECK(read.code() == StatusCode::corrupt);
  CHECK(read.status().message().find("some.file") != std::string::npos);
  CHECK_FALSE(read_history({}, "empty").ok());
}

TEST_CASE("every cut of a history file is refused, but for the padding at its end") {
  const History history = small_history();
  const std::vector<std::uint8_t> bytes = write_history(history);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = read_history(Bytes(bytes.data(), size), "cut");
    if (size + 4 <= bytes.size()) {
      CHECK_FALSE(read.ok());
    } else if (read.ok()) {
      CHECK(history == *read);
    }
  }
}

TEST_CASE("no flipped byte of a history file changes a measurement") {
  const History history = small_history();
  const std::vector<std::uint8_t> bytes = write_history(history);
  int refused = 0;
  Random random(7);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::uint8_t> damaged = bytes;
    damaged[i] = static_cast<std::uint8_t>(damaged[i] ^ (1 + random.below(255)));
    const auto read = read_history(damaged, "damaged");
    if (!read.ok()) {
      ++refused;
      continue;
    }
    // What is outside of the checksummed columns is names and notes.
    CHECK(same_bits(history.samples, read->samples));
    CHECK(same_bits(history.run_time, read->run_time));
    CHECK(history.status == read->status);
  }
  CHECK(refused > static_cast<int>(bytes.size()) / 3);
}
