/* The installed library's interface in C: what is wrong is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idletune/gemm.h>

int main(void) {
  idletune_gemm* gemm = NULL;
  if (idletune_gemm_open(NULL, NULL, &gemm) != IDLETUNE_INVALID_ARGUMENT) return EXIT_FAILURE;
  if (strcmp(idletune_last_message(), "agent is NULL") != 0) return EXIT_FAILURE;
  if (idletune_sgemm(gemm, IDLETUNE_ROW_MAJOR, IDLETUNE_PLAIN, IDLETUNE_PLAIN, 1, 1, 1, 1.0f, NULL,
                     0, 1, NULL, 0, 1, 0.0f, NULL, 0, 1, NULL, NULL) != IDLETUNE_INVALID_ARGUMENT) {
    return EXIT_FAILURE;
  }
  printf("%s\n", idletune_last_message());
  idletune_gemm_close(gemm);
  return EXIT_SUCCESS;
}
