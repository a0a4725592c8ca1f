// Files that hold the measurements of many problems.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/host/history/emulated.hpp"
#include "models/host/history/import.hpp"
#include "models/schema/history_generated.h"
#include "tests/unit/learn/feature_kernel.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

std::vector<History> some_problems() {
  std::vector<History> histories = feature_histories({{64, 2}, {100, 2}, {64, 12.1}});
  histories[0].notes = {{"explore", "{\"a\": 1}"}, {"explore", ""}};
  histories[1].warnings = {"one", "two"};
  histories[1].valid_count = 99;
  histories[2].extras.emplace_back("message");
  for (std::size_t row = 0; row < histories[2].rows(); ++row) {
    histories[2].extras[0].push_text(row == 3 ? "slow" : "fine");
  }
  histories[2].sample_count[1] = 2;
  histories[2].samples = {1.5, 2.5};
  return histories;
}

std::uint32_t version_of(const std::vector<std::uint8_t>& bytes) {
  return history_schema::GetHistoryFile(bytes.data())->format_version();
}

}  // namespace

TEST_CASE("many problems come back from one file as they were") {
  const std::vector<History> histories = some_problems();
  const std::vector<std::uint8_t> bytes = write_histories(histories);
  const auto read = required(read_histories(bytes, "x"));
  REQUIRE(read.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(read[i] == histories[i]);
  CHECK(problem_text(read[2]) == "N=64 mean_row=12.1 rest=0");
  CHECK(version_of(bytes) == 2);
  const auto imported = required(import_histories(bytes, "x.ithistory"));
  CHECK(imported.size() == 3);
  const auto renamed = required(import_histories(bytes, "x.ithistory", {"other", "Emulated"}));
  CHECK(renamed[2].kernel == "other");
  CHECK_FALSE(check_measured(renamed[2]).ok());
  const auto one = read_history(bytes, "x");
  CHECK(one.code() == StatusCode::unsupported);
  CHECK(one.status().message() == "history 'x': it holds 3 problems, expected one");
}

TEST_CASE("only files that older readers would misread have a newer version") {
  const std::vector<History> plain = feature_histories({{64, 2}}, false);
  CHECK(version_of(write_histories(plain)) == 1);
  const auto named = required(read_history(write_history(plain[0]), "x"));
  CHECK(named.inputs == std::vector<std::string>{"N"});
  const std::vector<History> one = feature_histories({{64, 2}});
  CHECK(version_of(write_history(one[0])) == 2);
  const auto read = required(read_history(write_history(one[0]), "x"));
  CHECK(read == one[0]);
}

TEST_CASE("what differs in more than the problem has a file of its own") {
  const std::vector<History> histories = some_problems();
  CHECK(can_share_file(histories[0], histories[1]));
  CHECK(can_share_file(histories[0], histories[2]));  // a further column is no difference
  const auto differs = [&](auto change) {
    History other = histories[1];
    change(other);
    return !can_share_file(histories[0], other);
  };
  CHECK(differs([](History& h) { h.device = "other"; }));
  CHECK(differs([](History& h) { h.driver = "other"; }));
  CHECK(differs([](History& h) { h.inputs[1] = "other"; }));
  CHECK(differs([](History& h) { h.shape = Shape{64}; }));
  CHECK(differs([](History& h) { h.nanoseconds_per_unit = 1e6; }));
  CHECK(differs([](History& h) { h.parameters.pop_back(); }));
}

TEST_CASE("a file of many problems that was cut or changed is refused") {
  const std::vector<std::uint8_t> bytes = write_histories(some_problems());
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    CHECK_FALSE(read_histories(Bytes(bytes.data(), size), "cut").ok());
  }
  std::vector<std::uint8_t> claimed = bytes;
  auto* file = flatbuffers::GetMutableRoot<flatbuffers::Table>(claimed.data());
  file->SetField<std::uint32_t>(history_schema::HistoryFile::VT_FORMAT_VERSION, 3, 0);
  const auto newer = read_histories(claimed, "newer");
  CHECK(newer.code() == StatusCode::version_mismatch);
  CHECK(newer.status().message() == "history 'newer': format version 3, expected 1 or 2");
}
