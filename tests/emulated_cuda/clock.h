/* A clock that several processes share and that stands still while kernels are interpreted: a
 * library to be preloaded, which takes the place of the C library's clocks and sleeps:
 *   LD_PRELOAD=libidletune_emulated_clock.so IDLETUNE_EMULATED_CLOCK=FILE
 * FILE, a new one for each run, holds what the processes share. */
#ifndef EMULATED_CUDA_CLOCK_H
#define EMULATED_CUDA_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times are in nanoseconds. */
struct emulated_clock {
  int64_t (*now)(void);
  /* The clock stands still between the two; others who hold it wait. Not for more than a minute of
   * the host's time: a kernel that takes longer may be without end, and meets its deadline. */
  void (*hold)(void);
  void (*go_on)(void);
  /* For who holds it: the device works for so long, when it has done what it does. When it will
   * have ended. */
  int64_t (*occupy)(int64_t not_before, int64_t nanoseconds);
  /* For what the device does: by the clock it is then, at once. Not so when somebody sleeps, for
   * others compute meanwhile. */
  void (*wait)(int64_t until);
  /* Calls the function; to the clock that takes the processor time of this thread, however long
   * others keep the processors busy. */
  void (*compute)(void (*work)(void*), void* argument);
};

/* Null: IDLETUNE_EMULATED_CLOCK is not set, or not a file that can be used. */
const struct emulated_clock* emulated_cuda_clock(void);

#ifdef __cplusplus
}
#endif

#endif
