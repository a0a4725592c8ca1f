/* What tests ask the emulated device besides CUDA's functions. The library also heeds
 *   IDLETUNE_EMULATED_BOARDS    names of board.cpp between commas, a device for each (orin_nano)
 *   IDLETUNE_EMULATED_FINDINGS  a file to which findings are appended; else they go to stderr
 *   IDLETUNE_EMULATED_NVRTC     NVIDIA's run-time compiler; else it is looked for
 *   IDLETUNE_EMULATED_INSTRUCTIONS  a file to which the instructions of loaded modules are appended
 *   IDLETUNE_EMULATED_WORK      a file to which each launch that was interpreted is appended: kernel,
 *                               operations of its threads, seconds of the processor
 * when the first function of it is called. */
#ifndef EMULATED_CUDA_CONTROL_H
#define EMULATED_CUDA_CONTROL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many different findings there are, after everything that was launched has run. */
size_t emulated_cuda_findings(void);
/* The text of the finding with this number, cut at `size` bytes; "" where there is none. */
void emulated_cuda_finding(size_t number, char* text, size_t size);
/* Forgets findings and errors that ended a context, and ends kernels that run. Streams, events,
 * memory and modules go; nobody may use them or wait for them any more. */
void emulated_cuda_reset(void);

#ifdef __cplusplus
}
#endif

#endif
