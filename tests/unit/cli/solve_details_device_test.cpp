#include "agent/host/cli/solve_details.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernels/krylov/solve_memory.hpp"
#include "tests/unit/krylov/built_matrices.hpp"
#include "tests/unit/krylov/made_up_notes.hpp"
#include "tests/unit/krylov/solver_subject.hpp"

using namespace idletune;

TEST_CASE("the page of a solve runs nothing that is not to be run, and announces what it runs") {
  const test::Subject subject = test::open_subject();
  krylov::SparseMatrix matrix;
  matrix.pattern.columns = 40;
  for (std::int32_t row = 0; row < 40; ++row) {
    test::add_entry(matrix, row, 2);
    test::end_row(matrix);
  }
  test::MadeUpNotes notes;
  krylov::SolverOptions options;
  options.notes = &notes;
  const std::uint64_t device = krylov::device_digest(subject.device->info(), 8);
  notes.texts[device] = "products ELL/0/64/0=wrong";
  cli::json result;
  cli::add_matrix_details(matrix, options, *subject.device, *subject.queue, result);
  for (const auto& each : result["formats"]) {
    CAPTURE(each.dump());
    CHECK(each["measured_us"].is_null() == (each["format"] == "ELL"));
  }
  CHECK(notes.written > 6);
  // What it found out is not what solves did.
  for (const auto& [digest, text] : notes.texts) CHECK(text.rfind("products", 0) == 0);
}
