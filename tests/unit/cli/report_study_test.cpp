#include <doctest/doctest.h>

#include <cmath>

#include "agent/host/cli/exploration_files.hpp"
#include "agent/host/lab/verbs/lab_verbs.hpp"
#include "agent/host/report/device_pairs.hpp"
#include "platform/os/storage.hpp"
#include "tests/unit/os/temporary_folder.hpp"
#include "tests/unit/required.hpp"

using namespace idletune;
using namespace idletune::report;

namespace {

constexpr double kFailed = -1;

// One parameter x = 0, 1, 2, ... with these run times; a negative one failed, 0 was not measured.
Recording recording_of(const std::string& kernel, const std::string& device,
                       const std::vector<double>& times, const std::string& parameter = "x",
                       Shape shape = {}) {
  Recording recording;
  recording.file = device + ".json";
  History& history = recording.history;
  history.kernel = kernel;
  history.device = device;
  history.shape = shape;
  history.parameters.emplace_back(parameter);
  history.valid_count = times.size();
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    history.parameters[0].push_integer(static_cast<std::int64_t>(i));
    const bool correct = times[i] > 0;
    history.status.push_back(correct ? TrialStatus::correct : TrialStatus::runtime);
    history.run_time.push_back(correct ? times[i] : std::nan(""));
    history.compile_time.push_back(std::nan(""));
    history.sample_count.push_back(0);
  }
  return recording;
}

std::vector<std::string> titles_of(const Study& study) {
  std::vector<std::string> titles;
  for (const Group& group : study.groups) titles.push_back(group.title);
  return titles;
}

bool all_of_it(const std::string&) { return true; }

}  // namespace

TEST_CASE("histories of one kernel, its parameters and its size are one group") {
  std::vector<Recording> histories;
  histories.push_back(recording_of("gemm", "A100", {1, 2}));
  histories.push_back(recording_of("blur", "A100", {1, 2}));
  histories.push_back(recording_of("gemm", "V100", {1, 2}));
  const Study study = study_of(std::move(histories), {});
  CHECK(titles_of(study) == std::vector<std::string>{"gemm", "blur"});
  REQUIRE(study.groups[0].sources.size() == 2);
  CHECK(study.groups[0].sources[1].device == "V100");
  CHECK(study.source_count() == 3);
}

TEST_CASE("groups of one kernel say in which way they differ") {
  std::vector<Recording> sizes;
  sizes.push_back(recording_of("gemm", "A100", {1, 2}, "x", {16, 16}));
  sizes.push_back(recording_of("gemm", "A100", {1, 2}, "x", {32, 32}));
  CHECK(titles_of(study_of(std::move(sizes), {})) ==
        std::vector<std::string>{"gemm 16x16", "gemm 32x32"});
  std::vector<Recording> parameters;
  parameters.push_back(recording_of("gemm", "A100", {1, 2}));
  parameters.push_back(recording_of("gemm", "A100", {1, 2}, "y"));
  CHECK(titles_of(study_of(std::move(parameters), {})) ==
        std::vector<std::string>{"gemm (1\xc2\xa0parameter)", "gemm (1\xc2\xa0parameter) #2"});
}

TEST_CASE("repeated runs on one device are combined by the median") {
  std::vector<Recording> histories;
  for (const double time : {10.0, 30.0, 20.0})
    histories.push_back(recording_of("gemm", "A100", {time, 40}));
  const Study study = study_of(std::move(histories), {});
  REQUIRE(study.groups.size() == 1);
  REQUIRE(study.groups[0].sources.size() == 1);
  CHECK(study.groups[0].sources[0].recordings.size() == 3);
  CHECK(study.groups[0].sources[0].history->run_time[0] == 20);
}

TEST_CASE("a history in which nothing ran is left out with a warning") {
  std::vector<Recording> histories;
  histories.push_back(recording_of("gemm", "A100", {kFailed, kFailed}));
  histories.push_back(recording_of("gemm", "V100", {kFailed, 1}));
  const Study study = study_of(std::move(histories), {});
  CHECK(study.source_count() == 1);
  REQUIRE(study.warnings.size() == 1);
  CHECK(study.warnings[0].find("A100.json") == 0);
  CHECK(study_of({}, {}).groups.empty());
}

TEST_CASE(
    "what the user says of a parameter outweighs descriptions, and the kernel's own outweighs "
    "others'") {
  ParameterKinds kinds;
  kinds.describe("gemm", "MWG", ParameterKind::tile);
  kinds.describe("blur", "MWG", ParameterKind::padding);
  CHECK(kinds.of("gemm", "MWG") == ParameterKind::tile);
  CHECK(kinds.of("blur", "MWG") == ParameterKind::padding);
  CHECK(kinds.of("Xgemm", "MWG") == ParameterKind::tile);
  CHECK_FALSE(kinds.of("gemm", "NWG").has_value());
  kinds.decide("MWG", ParameterKind::atomics);
  CHECK(kinds.of("gemm", "MWG") == ParameterKind::atomics);
}

TEST_CASE("rank correlation of known data") {
  CHECK(rank_correlation({{1, 10}, {2, 20}, {3, 1000}}) == doctest::Approx(1));
  CHECK(rank_correlation({{1, 3}, {2, 2}, {3, 1}}) == doctest::Approx(-1));
  // Ranks 1 2 3 4 against 1 2.5 2.5 4: covariance 4.5, variances 5 and 4.5.
  CHECK(rank_correlation({{1, 1}, {2, 5}, {3, 5}, {4, 9}}) ==
        doctest::Approx(4.5 / std::sqrt(5 * 4.5)));
  CHECK(std::isnan(rank_correlation({{1, 1}, {2, 2}})));
  CHECK(std::isnan(rank_correlation({{1, 1}, {2, 1}, {3, 1}})));
}

TEST_CASE("a pair of devices counts what is good on each and on both") {
  std::vector<Recording> histories;
  histories.push_back(recording_of("gemm", "A100", {10, 10.5, 20, 40, 40}));
  histories.push_back(recording_of("gemm", "V100", {30, 60, 15, 16, kFailed}));
  const Study study = study_of(std::move(histories), {});
  const std::vector<DevicePair> pairs = pairs_of(study.groups[0], 0.9, 10);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].first == "A100");
  CHECK(pairs[0].second == "V100");
  CHECK(pairs[0].ran_on_both == 4);
  CHECK(pairs[0].failed_on_one == 1);
  CHECK(pairs[0].good_on_first == 2);
  CHECK(pairs[0].good_on_second == 2);
  CHECK(pairs[0].good_on_both == 0);
  CHECK(pairs[0].first_best_on_second == doctest::Approx(0.5));
  CHECK(pairs[0].second_best_on_first == doctest::Approx(0.5));
  CHECK(pairs[0].points[2].x == doctest::Approx(0.5));
  CHECK(pairs[0].points[2].y == doctest::Approx(1));
  CHECK(pairs_of(study.groups[0], 0.9, 0).empty());
}

TEST_CASE("what a device has not measured says nothing, and did not fail") {
  std::vector<Recording> histories;
  histories.push_back(recording_of("gemm", "A100", {1, 2, 4}));
  histories.push_back(recording_of("gemm", "V100", {0, 1, 2}));
  histories.push_back(recording_of("gemm", "P100", {1, 2, 4}));
  const Study study = study_of(std::move(histories), {});
  const std::vector<DevicePair> pairs = pairs_of(study.groups[0], 0.9, 10);
  CHECK(pairs[0].first_best_on_second == 1);
  CHECK(pairs[0].second_best_on_first == 0.5);
  const Section best = best_section(study, {}, all_of_it);
  CHECK(std::get<Table>(best.parts[0]).rows[0][7] == "1 (1 without)");
}

TEST_CASE("of a board that only measured what was chosen no distribution is drawn") {
  std::vector<Recording> histories;
  histories.push_back(recording_of("gemm", "A100", {1, 2}));
  History& history = histories[0].history;
  history.valid_count = 10;
  history.extras.emplace_back(kProposalColumn);
  for (int row = 0; row < 2; ++row) history.extras[0].push_text("portfolio");
  const Study study = study_of(std::move(histories), {});
  const Section section = distribution_section(study, {}, all_of_it);
  CHECK(std::get<Figure>(section.parts[1]).panels.size() == 1);
  // Searches are played on all rows, and the share is one of these.
  const Section searchers = searcher_section(study, {}, all_of_it);
  CHECK(std::get<Figure>(searchers.parts[3]).panels[0].remark.find("%, 100\u00a0%.") !=
        std::string::npos);
}

TEST_CASE("work is known also where one size is the same everywhere") {
  std::vector<Recording> histories;
  for (std::int64_t size = 8; size <= 64; size += 8)
    histories.push_back(recording_of("gemm", "A100", {1, 2}, "x", {size, 64}));
  ReportOptions options;
  options.rates = [](const History&) { return KnownRates{1, 1, 1}; };
  const Section section = selection_section(study_of(std::move(histories), {}), options, all_of_it);
  CHECK(std::get<Figure>(section.parts[2]).panels[0].svg.find("GFLOP/s") != std::string::npos);
}

TEST_CASE("beside a default that is faster the best configuration does not stand at the top") {
  const History history = recording_of("gemm", "A100", {4, 2}).history;
  const test::TemporaryFolder folder;
  const std::string file = folder.file("live.html");
  cli::LivePage page(file, false);
  REQUIRE(page.write(history, {4, 2}, 2, {history.best_time_ns() / 2, 0, 0}, true).ok());
  const auto html = required(read_file(file, 1 << 20));
  const std::string text(html.begin(), html.end());
  CHECK(text.find("class=\"curve s1\" d=\"M44 185.5L318 185.5 318 133\"") != std::string::npos);
}
