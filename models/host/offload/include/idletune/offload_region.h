/* Marks what `idletune offload profile` looks at. Needs nothing, costs nothing where nobody
   profiles, and reads as C and C++. */
#pragma once

/* Before the definition of a function: it is a region, as if it was named with --function.

     IDLETUNE_OFFLOAD_REGION void relax(float* to, const float* from, int n) { ... }        */
#ifdef __clang__
#define IDLETUNE_OFFLOAD_REGION __attribute__((annotate("idletune.region"), noinline))
#else
#define IDLETUNE_OFFLOAD_REGION
#endif

/* What the regions do from now on belongs to another run: the profile gets regions of its own for
   it, called "FUNCTION LABEL". A label ends at the next one. Not from within a region. */
#ifdef IDLETUNE_PROFILING
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    void
    idletune_offload_label(const char* label);
#define IDLETUNE_OFFLOAD_LABEL(label) idletune_offload_label(label)
#else
#define IDLETUNE_OFFLOAD_LABEL(label) ((void)(label))
#endif
