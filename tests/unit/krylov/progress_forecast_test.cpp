#include "kernels/krylov/progress_forecast.hpp"

#include <doctest/doctest.h>

#include <cmath>

using idletune::krylov::Outlook;
using idletune::krylov::ProgressForecast;

TEST_CASE("a residual that falls evenly is followed to its target") {
  ProgressForecast forecast(1e-8, 1000, 0, {});
  for (int i = 0; i < 7; ++i) forecast.add(std::pow(0.9, i));
  CHECK(forecast.outlook().low == 0);  // nothing is concluded from so few
  for (int i = 7; i <= 40; ++i) forecast.add(std::pow(0.9, i));
  const double left = std::log(1e-8) / std::log(0.9) - 40;
  // Also of a copy, as solvers take one.
  const ProgressForecast copy = forecast;
  CHECK(copy.outlook().low == 41);  // as many as there were
  CHECK(copy.outlook().expected == doctest::Approx(left).epsilon(0.01));
}

TEST_CASE("a residual that does not fall is expected to take as long again") {
  ProgressForecast forecast(1e-8, 1000, 0, {});
  for (int i = 0; i < 100; ++i) forecast.add(1 + 0.01 * i);
  CHECK(forecast.outlook().low == 100);
  CHECK(forecast.outlook().expected == 100);
  ProgressForecast limited(1e-8, 120, 0, {});
  for (int i = 0; i < 100; ++i) limited.add(1);
  CHECK(limited.outlook().low == 20);
}

TEST_CASE("the lower end is that of the steepest quarter") {
  ProgressForecast forecast(std::exp(-200), 10000, 0, {});
  // From 50 on slowly, but for the last quarter of that half.
  for (int i = 0; i < 100; ++i) forecast.add(std::exp(i < 86 ? -0.01 * i : -0.86 - (i - 86)));
  const Outlook outlook = forecast.outlook();
  CHECK(outlook.low == 100);  // as many as there were
  CHECK(outlook.expected == doctest::Approx(186.14 / 13.36 * 49).epsilon(0.001));
}

TEST_CASE("what the solve before took may still come, by the steepest quarter") {
  ProgressForecast forecast(std::exp(-200), 10000, 900, {});
  for (int i = 0; i < 100; ++i) forecast.add(std::exp(i < 86 ? -0.01 * i : -0.86 - (i - 86)));
  CHECK(forecast.outlook().low == doctest::Approx(186.14).epsilon(0.001));
}

TEST_CASE("a residual that is about to fall faster is not taken at its word") {
  ProgressForecast forecast(1e-8, 1e6, 0, {});
  for (int i = 0; i <= 50; ++i) forecast.add(std::pow(1e-8, i * i / 1e6));
  CHECK(forecast.outlook().expected > 5000);
  CHECK(forecast.outlook().low == 51);
}

TEST_CASE("where nobody says how many solves come, as many are expected as there were") {
  CHECK(idletune::krylov::solves_reckoned_with(-1, 7).count == 7);
  CHECK_FALSE(idletune::krylov::solves_reckoned_with(-1, 7).announced);
  CHECK(idletune::krylov::solves_reckoned_with(0, 7).count == 0);
  CHECK(idletune::krylov::solves_reckoned_with(0, 7).announced);
}

TEST_CASE("for ever is very often") {  // what it is worth would be no number
  const ProgressForecast forecast(1e-8, 1000, 60, solves_reckoned_with(HUGE_VAL, 7));
  CHECK(forecast.outlook().low > 1e15);
  CHECK(0 * forecast.outlook().low == 0);
}

TEST_CASE("solves to come count by what the last one took") {
  const ProgressForecast forecast(1e-8, 1000, 60, {10, true});
  CHECK(forecast.outlook().expected == 660);
  CHECK(forecast.outlook().low == 330);
  CHECK(forecast.outlook().announced == 330);
  const ProgressForecast guess(1e-8, 1000, 60, {10, false});
  CHECK(guess.outlook().expected == 660);
  CHECK(guess.outlook().low == 330);
  CHECK(guess.outlook().announced == 30);
}
