// What a choice of kernels may lose while nobody says how many products come.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/krylov/kernel_marks.hpp"
#include "kernels/krylov/model_choice.hpp"
#include "kernels/krylov/product_choice.hpp"
#include "kernels/krylov/solve_memory.hpp"

namespace {

using namespace idletune::krylov;

constexpr double kFirstUs = 100;
constexpr double kSecondUs = 80;
constexpr double kOthersUs = 110;
constexpr double kTrialUs = 400;  // compilation and check
constexpr int kProducts = 2000;

struct Played {
  double most_lost = 0;  // of the first kernel's time, at any moment after its own trial
  int trials = 0;
};

// As many products are expected behind each one as there were, and so many are announced.
Played play(double announced) {
  const ModelChoice none;
  SolverOptions options;
  options.fixed_format = true;
  ProductChoice choice(options, none);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  Played played;
  double us = 0;
  for (int done = 1; done <= kProducts; ++done) {
    const auto product_us = [&](const KernelVariant& variant) {
      if (same(variant, {0, 64})) return kFirstUs;
      return same(variant, {0, 256}) ? kSecondUs : kOthersUs;
    };
    if (choice.race().running()) {
      const double took = product_us(choice.race().current());
      us += took * choice.race().in_a_row();
      if (choice.race().first_run()) {
        choice.tried(1e-6 * (took + kTrialUs), true);
        if (played.trials++ > 0) us += kTrialUs;
      }
      choice.took(took);
    } else {
      us += product_us(choice.race().best());
      choice.ran();
    }
    if (played.trials > 1) {
      played.most_lost = std::max(played.most_lost, us / (kFirstUs * done) - 1);
    }
    choice.look_ahead({static_cast<double>(done), static_cast<double>(done), announced});
  }
  return played;
}

}  // namespace

TEST_CASE("should no solve come that was not announced, a choice has lost next to nothing") {
  const Played guessed = play(0);
  CHECK(guessed.trials > 1);
  CHECK(guessed.most_lost < 0.02);
  // Where they are announced it pays for trials at once.
  CHECK(play(kProducts).most_lost > 0.02);
}

namespace {

// Products in CSR and in ELL, while the device's clock changes.
struct Clocked {
  const ModelChoice none;
  ProductChoice choice{SolverOptions(), none};
  double csr_us = 100, ell_us = 70, ell_bytes = 0.7;
  double slower = 1;

  Clocked() { choice.begins_in(SparseFormat::csr, 1e-4, ""); }
  // Until nothing is measured any more.
  void run(int products) {
    for (int i = 0; i < products; ++i) {
      if (!choice.race().running()) {
        choice.ran();
      } else {
        const double us = slower * (choice.active() == SparseFormat::csr ? csr_us : ell_us);
        if (choice.race().first_run()) choice.tried(2e-6 * us, true);
        choice.took(us);
      }
      meet(choice.look_ahead({1e6, 1e6, 1e6}));
    }
  }
  void meet(ProductChoice::Wish wish) {
    if (wish == ProductChoice::Wish::sizes) {
      size();
      meet(choice.look_ahead({1e6, 1e6, 1e6}));
    } else if (wish == ProductChoice::Wish::conversion) {
      choice.converted(1e-3);
      slower = after;
    }
  }
  void size() {
    std::array<std::uint64_t, kSparseFormats> bytes;
    bytes.fill(100000000);
    bytes[0] = 10000000;
    bytes[static_cast<std::size_t>(SparseFormat::ell)] =
        static_cast<std::uint64_t>(1e7 * ell_bytes);
    choice.sized(bytes, 1, 1e-5);
  }
  double after = 1;  // what `slower` becomes with the conversion
};

}  // namespace

TEST_CASE("a format is compared with what CSR takes then, not with what it took before") {
  for (const bool slows : {false, true}) {
    Clocked solve;
    solve.after = slows ? 2 : 0.5;
    solve.ell_us = slows ? 70 : 130;
    solve.run(2000);
    CHECK(solve.choice.wanted() == SparseFormat::ell);
    CHECK(solve.choice.is_converted() == slows);
    CHECK(solve.choice.active() == (slows ? SparseFormat::ell : SparseFormat::csr));
    CHECK(solve.choice.csr_us() == doctest::Approx(slows ? 200 : 50));
  }
}

TEST_CASE("what is expected of a format follows the best kernel of CSR") {
  Clocked solve;
  solve.run(3);
  REQUIRE(solve.choice.csr_us() == doctest::Approx(100));
  solve.size();
  CHECK(solve.choice.predicted_us(SparseFormat::ell) == doctest::Approx(0.8 * 70));
  solve.csr_us = 50;  // of the kernels to come
  solve.ell_us = 30;
  solve.run(2000);
  CHECK(solve.choice.wanted() == SparseFormat::ell);
  CHECK(solve.choice.predicted_us(SparseFormat::ell) == doctest::Approx(0.8 * 35));
}

TEST_CASE("what a format may save is the mean over what it may take") {
  for (const double us : {30.0, 90.0, 100.0, 150.0, 400.0}) {
    CHECK(PredictedTime{us, 0}.saving_us(100) == std::max(0.0, 100 - us));
    double before = std::max(0.0, 100 - us);
    for (const double spread : {0.1, 0.4, 0.8}) {
      // The integral, by the midpoints of equal shares of ten spreads on either side.
      constexpr int kShares = 20000;
      double mean = 0, weight = 0;
      for (int i = 0; i < kShares; ++i) {
        const double x = 20 * (i + 0.5) / kShares - 10;
        const double density = std::exp(-x * x / 2);
        mean += density * std::max(0.0, 100 - us * std::exp(spread * x));
        weight += density;
      }
      const double saving = PredictedTime{us, spread}.saving_us(100);
      CHECK(saving == doctest::Approx(mean / weight).epsilon(1e-5));
      if (us >= 100) CHECK(saving > before);  // the more open it is, the more there is to win
      before = saving;
    }
  }
  CHECK(PredictedTime{0, 0.4}.saving_us(100) == 0);
  CHECK(PredictedTime{50, 0.4}.saving_us(0) == 0);
}

TEST_CASE("a format that is expected to be no faster is tried where that costs little") {
  for (const double bytes : {1.3, 10.0}) {
    for (const double us : {60.0, 130.0}) {
      Clocked solve;
      solve.ell_bytes = bytes;
      solve.ell_us = us;
      solve.run(2000);
      const bool tried = solve.choice.wanted() == SparseFormat::ell;
      CHECK(tried == (bytes < 2));
      CHECK(solve.choice.is_converted() == (tried && us < 100));
    }
  }
}

TEST_CASE("where a solve ends while CSR runs again, the next one begins in the new format") {
  Clocked solve;
  const auto compares = [&] {
    return solve.choice.is_converted() && solve.choice.active() == SparseFormat::csr;
  };
  for (int i = 0; i < 2000 && !compares(); ++i) solve.run(1);
  REQUIRE(compares());
  solve.choice.take(true);
  CHECK(solve.choice.active() == SparseFormat::ell);
  CHECK(solve.choice.csr_us() == 100);
  solve.run(2000);
  CHECK(solve.choice.active() == SparseFormat::ell);
}

TEST_CASE("formats are not sized where a pass over the matrix takes long") {
  const ModelChoice none;
  for (const bool large : {false, true}) {
    ProductChoice choice(SolverOptions(), none);
    choice.begins_in(SparseFormat::csr, large ? 0.05 : 1e-4, "");  // seconds
    bool sizes = false;
    for (int i = 0; i < 100; ++i) {
      choice.race().running() ? choice.took(30) : choice.ran();
      sizes = sizes || choice.look_ahead({5e4, 5e4, 5e4}) == ProductChoice::Wish::sizes;
    }
    CHECK(sizes == !large);
    if (large)
      CHECK(choice.conversion().reason ==
            "comparing formats costs more than may be lost on it so far");
    const double before = choice.behind_us();
    choice.sized({}, 1, 0.05);
    CHECK(choice.behind_us() == doctest::Approx(before + 5e4));
  }
}

namespace {

// So many products are announced. The most that is lost at any moment, as a share of the time that
// all of them take with the first kernel, whose own trial is due in any case.
double most_lost(const ModelChoice& model, double others_us, double products) {
  SolverOptions options;
  options.fixed_format = true;
  ProductChoice choice(options, model);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  double behind_us = 0, most_us = 0;
  int trials = 0;
  for (double to_come = products; to_come-- > 0;) {
    const bool first = same(choice.race().current(), {0, 64});
    const double took = first ? kFirstUs : others_us;
    behind_us += (choice.race().running() ? choice.race().in_a_row() : 1) * took - kFirstUs;
    if (!choice.race().running()) {
      choice.ran();
    } else {
      if (choice.race().first_run()) {
        choice.tried(1e-6 * (took + kTrialUs), true);
        if (trials++ > 0) behind_us += kTrialUs;
      }
      choice.took(took);
    }
    most_us = std::max(most_us, behind_us);
    choice.look_ahead({to_come, to_come, to_come});
  }
  return most_us / (kFirstUs * products);
}

// Of numbers of products of which some bear just one trial more.
double most_lost_of_any(const ModelChoice& model, double others_us) {
  double most = 0;
  for (double products = 1000; products < 5000; products += 50)
    most = std::max(most, most_lost(model, others_us, products));
  return most;
}

}  // namespace

TEST_CASE("trials that gain nothing cost 0.5 % at most, where a model says what to try 1 %") {
  const ModelChoice none;
  ModelChoice model;
  model.choose({});
  REQUIRE(model.looked());
  const double lost = most_lost_of_any(none, kOthersUs);
  CHECK(lost <= 0.005);
  CHECK(lost > 0.004);
  const double foreseen = most_lost_of_any(model, kOthersUs);
  CHECK(foreseen <= 0.01);
  CHECK(foreseen > 0.008);
}

TEST_CASE("of what a better kernel is expected to save a quarter may be lost by others") {
  constexpr double kSaved = 0.02;
  const ModelChoice none;
  const double lost = most_lost_of_any(none, (1 - kSaved) * kFirstUs);
  CHECK(lost <= 0.005 + kSaved / 4);
  CHECK(lost > 0.005 + 0.8 * kSaved / 4);
}

TEST_CASE("a conversion must promise a quarter more than it costs") {
  const ModelChoice none;
  ProductChoice choice{SolverOptions(), none};
  KernelMarks marks;  // there is nothing else to try
  for (const KernelVariant& each : choice.entrants(SparseFormat::csr))
    marks.put({SparseFormat::csr, each}, KernelMark::wrong);
  choice.refuse(marks);
  constexpr double kSavedUs = 10;
  SolveMemory memory;
  memory.format = SparseFormat::ell;
  memory.csr_us = kFirstUs;
  memory.product_us = kFirstUs - kSavedUs;
  choice.remember(memory);
  choice.begins_in(SparseFormat::csr, 1e-4, "");
  for (int i = 0; i < 3000; ++i) {
    if (!choice.race().running()) {
      choice.ran();
    } else {
      if (choice.race().first_run()) choice.tried(1e-6 * (kFirstUs + 100), true);
      choice.took(kFirstUs);
    }
    REQUIRE(choice.look_ahead({0, 0, 0}) == ProductChoice::Wish::nothing);
  }
  const auto wish = [&](double products) {
    return choice.look_ahead({products, products, products});
  };
  REQUIRE(wish(40) == ProductChoice::Wish::sizes);
  choice.sized({1000, 2000, 2000, 900, 2000, 2000}, 1, 0);
  REQUIRE(wish(40) == ProductChoice::Wish::nothing);
  // Three times the upload, for so many bytes, and a trial.
  const double cost_us = 3 * 100 * 0.9 + kFirstUs + 100;
  REQUIRE(choice.conversion().cost_ms == doctest::Approx(cost_us / 1e3));
  CHECK(wish(1.249 * cost_us / kSavedUs) == ProductChoice::Wish::nothing);
  CHECK(wish(1.251 * cost_us / kSavedUs) == ProductChoice::Wish::conversion);
}
