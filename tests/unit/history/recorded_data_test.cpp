// Everything in data/tuning of the shared folder imports, survives its own file and both exports.
#include <string>

#include <doctest/doctest.h>

#include "models/host/history/export.hpp"
#include "models/host/history/import.hpp"
#include "tests/unit/history/recorded_data.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::test;

namespace {

const History& by_kernel(const std::vector<History>& histories) {
  REQUIRE(histories.size() == 1);
  return histories.front();
}

std::vector<History> import_recorded(const std::string& path) {
  return required(import_histories(read_bytes(path), path));
}

}  // namespace

TEST_CASE("every recorded T4 and KTT file imports and survives the round trips" *
          doctest::test_suite("recorded data")) {
  if (recorded_caches("t4").empty()) return skip(kNoRecordedData);
  std::size_t files = 0;
  for (const char* folder : {"t4", "ktt"}) {
    for (const std::string& path : recorded_caches(folder)) {
      CAPTURE(path);
      const std::vector<History> histories = import_recorded(path);
      const History& history = by_kernel(histories);
      CHECK(history.rows() >= 175);
      CHECK(space_of(history).ok());
      const auto read = required(read_history(write_history(history), path));
      CHECK(read == history);
      const auto t4 = required(import_t4(*export_t4(history), path));
      CHECK(t4 == history);
      const auto cache = required(import_kernel_tuner(*export_kernel_tuner(history), path));
      CHECK(cache == in_unit(history, 1e6));
      ++files;
    }
  }
  CHECK(files == 8);
}

TEST_CASE("a space recorded both as cache and as T4 is the same measurements" *
          doctest::test_suite("recorded data")) {
  const std::vector<std::string> paths = recorded_caches("t4");
  if (paths.empty()) return skip(kNoRecordedData);
  std::size_t compared = 0;
  for (const std::string& path : paths) {
    CAPTURE(path);
    const std::string name = path.substr(path.find_last_of('/') + 1);
    const std::string cache = path.substr(0, path.find_last_of('/')) + "/../kernel_tuner/" +
                              name.substr(0, name.find(".t4")) + ".json.gz";
    const std::vector<History> from_t4 = import_recorded(path);
    const std::vector<History> from_cache = import_recorded(cache);
    const History& a = by_kernel(from_t4);
    const History& b = by_kernel(from_cache);
    CHECK(a.warnings.front().find("T4 files name no kernel") == 0);
    CHECK(a.warnings.back().find("'miliseconds': taken as milliseconds") != std::string::npos);
    CHECK(a.parameters == b.parameters);
    CHECK(a.status == b.status);
    CHECK(a.samples == b.samples);
    std::size_t other_times = 0;
    for (std::size_t row = 0; row < a.rows(); ++row) {
      if (a.correct(row) && a.run_time[row] != b.run_time[row]) ++other_times;
    }
    CHECK(other_times == 0);
    CHECK(extra(a, "framework_time") == extra(b, "framework_time"));
    CHECK(extra(a, "verification_time") == extra(b, "verification_time"));
    ++compared;
  }
  CHECK(compared == 2);
}

TEST_CASE("recorded KTT results have the figures that their authors give" *
          doctest::test_suite("recorded data")) {
  const std::vector<std::string> paths = recorded_caches("ktt");
  if (paths.empty()) return skip(kNoRecordedData);
  for (const std::string& path : paths) {
    CAPTURE(path);
    const std::vector<History> histories = import_recorded(path);
    const History& h = by_kernel(histories);
    CHECK(h.nanoseconds_per_unit == 1e3);
    if (path.find("convolution-2080Ti") != std::string::npos) {
      CHECK(h.rows() == 6768);
      CHECK(h.count(TrialStatus::correct) == 5280);
      CHECK(h.count(TrialStatus::runtime) == 1488);
      CHECK(h.best_time_ns() == 706112);
      CHECK(h.valid_count == 0);
    } else if (path.find("coulomb3d") != std::string::npos) {
      CHECK(h.rows() == 1260);
      CHECK(h.valid_count == 1260);
      CHECK(h.compile_time_ns(0) == doctest::Approx(91001.2e3).epsilon(1e-12));
    } else if (path.find("gemm-pocl") != std::string::npos) {
      CHECK(h.rows() == 700);
      CHECK(h.valid_count == 5788);
    }
  }
}

TEST_CASE("recorded best parameters without times are refused" *
          doctest::test_suite("recorded data")) {
  const std::vector<std::string> paths = recorded_caches("clblast");
  if (paths.empty()) return skip(kNoRecordedData);
  for (const std::string& path : paths) {
    const auto imported = import_histories(read_bytes(path), path);
    CHECK(imported.code() == StatusCode::unsupported);
  }
}
