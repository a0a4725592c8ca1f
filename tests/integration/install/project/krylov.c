/* The installed solvers in C: a system of three rows where there is a device; what is wrong is
 * named. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idletune/krylov.h>

static int solve(idletune_device* device) {
  const int32_t row_start[] = {0, 2, 5, 7};
  const int32_t column[] = {0, 1, 0, 1, 2, 1, 2};
  const double values[] = {4, -1, -1, 4, -1, -1, 4};
  const double b[] = {3, 2, 3};
  double x[] = {0, 0, 0};
  const idletune_krylov_options options = idletune_krylov_defaults();
  idletune_krylov_report report;
  idletune_krylov* krylov = NULL;
  if (idletune_krylov_open(device, IDLETUNE_KRYLOV_F32, 3, 3, row_start, column, values, &krylov) !=
          IDLETUNE_OK ||
      idletune_krylov_solve(krylov, &options, b, x, &report) != IDLETUNE_OK) {
    fprintf(stderr, "%s\n", idletune_last_message());
    return EXIT_FAILURE;
  }
  idletune_krylov_close(krylov);
  for (int i = 0; i < 3; ++i) {
    if (fabs(x[i] - 1) > 1e-5) return EXIT_FAILURE;
  }
  return report.iterations <= 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The same with every option: what it ran with is told. */
static int solve_with(idletune_device* device) {
  const int32_t row_start[] = {0, 1, 2};
  const int32_t column[] = {0, 1};
  const double values[] = {2, 4};
  const double b[] = {1, 1};
  double x[] = {0, 0};
  const idletune_krylov_options options = idletune_krylov_defaults();
  idletune_krylov_choice choice;
  idletune_krylov* krylov = NULL;
  idletune_krylov_setup setup = idletune_krylov_usual_setup();
  setup.precision = IDLETUNE_KRYLOV_MIXED;
  setup.choosing = IDLETUNE_KRYLOV_CHOOSE_NONE;
  setup.steps = IDLETUNE_KRYLOV_STEPS_APART;
  setup.format = 99;
  if (idletune_krylov_open_with(device, &setup, 2, 2, row_start, column, values, &krylov) !=
      IDLETUNE_INVALID_ARGUMENT) {
    return EXIT_FAILURE;
  }
  setup.format = 3;
  if (idletune_krylov_open_with(device, &setup, 2, 2, row_start, column, values, &krylov) !=
          IDLETUNE_OK ||
      idletune_krylov_solve(krylov, &options, b, x, NULL) != IDLETUNE_OK ||
      idletune_krylov_chosen(krylov, &choice) != IDLETUNE_OK) {
    fprintf(stderr, "%s\n", idletune_last_message());
    return EXIT_FAILURE;
  }
  const int good = fabs(x[0] - 0.5) < 1e-8 && fabs(x[1] - 0.25) < 1e-8 &&
                   strcmp(choice.format, "ELL") == 0 && strcmp(choice.verdict, "fixed") == 0;
  idletune_krylov_close(krylov);
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void) {
  idletune_krylov* krylov = NULL;
  idletune_device* device = NULL;
  if (idletune_krylov_open(NULL, IDLETUNE_KRYLOV_F64, 0, 0, NULL, NULL, NULL, &krylov) !=
      IDLETUNE_INVALID_ARGUMENT) {
    return EXIT_FAILURE;
  }
  if (strcmp(idletune_last_message(), "device is NULL") != 0) return EXIT_FAILURE;
  idletune_krylov_close(krylov);
  if (idletune_opencl_open(0, &device) != IDLETUNE_OK) return EXIT_SUCCESS;
  int status = solve(device);
  if (status == EXIT_SUCCESS) status = solve_with(device);
  idletune_device_close(device);
  return status;
}
