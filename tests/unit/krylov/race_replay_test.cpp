// Races on times that were recorded: whether the kernel that wins is the best, timed by turns that
// the race has not seen.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/krylov/kernel_choice.hpp"
#include "tests/paths.hpp"

namespace {

using namespace idletune;
using namespace idletune::krylov;

struct Recorded {
  KernelVariant variant;
  std::vector<double> alone, in_a_row;  // microseconds, by turns
};
using Field = std::vector<Recorded>;  // the candidates of one matrix and format

std::vector<Field> recorded_fields() {
  std::ifstream file(IDLETUNE_TEST_DATA_FOLDER "/krylov/race_times.txt");
  std::vector<Field> fields;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    if (line[0] == 'm') {
      fields.emplace_back();
      continue;
    }
    std::istringstream words(line);
    Recorded recorded;
    words >> recorded.variant.kind >> recorded.variant.work_group;
    std::vector<double>* times = &recorded.alone;
    for (std::string word; words >> word;) {
      if (word == "|") {
        times = &recorded.in_a_row;
      } else {
        times->push_back(std::stod(word));
      }
    }
    fields.back().push_back(recorded);
  }
  return fields;
}

// The median of every other turn.
double half_median(const std::vector<double>& times, std::size_t half) {
  std::vector<double> chosen;
  for (std::size_t i = half; i < times.size(); i += 2) chosen.push_back(times[i]);
  std::sort(chosen.begin(), chosen.end());
  return chosen[(chosen.size() - 1) / 2];
}

const Recorded& recorded_of(const Field& field, const KernelVariant& variant) {
  return *std::find_if(field.begin(), field.end(),
                       [&](const Recorded& each) { return same(each.variant, variant); });
}

// The winner, from the turns of one half; `in_a_row` as KernelChoice::begin() takes it.
const Recorded& winner(const Field& field, std::size_t half, std::uint32_t in_a_row) {
  KernelChoice race;
  std::vector<KernelVariant> variants;
  for (const Recorded& recorded : field) variants.push_back(recorded.variant);
  race.begin(variants, in_a_row);
  std::vector<std::size_t> turns(field.size());
  int products = 0;
  while (!race.over()) {
    race.go_on();
    const Recorded& now = recorded_of(field, race.current());
    const auto& times = race.in_a_row() > 1 ? now.in_a_row : now.alone;
    std::size_t& turn = turns[static_cast<std::size_t>(&now - field.data())];
    const std::size_t of_half = (times.size() - half + 1) / 2;
    const bool counted = !race.first_run();
    race.took(times[half + 2 * (turn % of_half)]);
    turn += counted ? 1 : 0;
    ++products;
  }
  CHECK(products <= 50);
  return recorded_of(field, race.best());
}

}  // namespace

TEST_CASE("on recorded times most races find the best kernel of a format, or one as fast") {
  const std::vector<Field> fields = recorded_fields();
  REQUIRE(fields.size() == 78);
  int good[2] = {};  // in a row, and alone
  for (const Field& field : fields) {
    for (const std::size_t half : {0, 1}) {
      double best = 0, other = 0;  // by one half, and what the other half says of it
      for (const Recorded& recorded : field) {
        const double us = half_median(recorded.in_a_row, half);
        if (best > 0 && us >= best) continue;
        best = us;
        other = half_median(recorded.in_a_row, 1 - half);
      }
      for (const std::uint32_t in_a_row : {0, 1}) {
        const double own = half_median(winner(field, half, in_a_row).in_a_row, 1 - half);
        good[in_a_row] += other / own >= 0.98;
      }
    }
  }
  // Of 156, within 2 %.
  CHECK(good[0] >= 130);
  CHECK(good[1] <= 110);
}
