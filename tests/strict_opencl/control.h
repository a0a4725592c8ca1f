/* What tests that open the strict layer by its path may ask of it: resolve these with dlsym. Any
   thread. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* From now on the n-th call of the library fails with `error`; 0: none does, and none is counted.
 */
void strict_fail_call(unsigned long n, int error);
/* How many calls there were since then, and the name of the one that failed; empty: none did. */
unsigned long strict_counted_calls(void);
const char* strict_failed_call(void);
/* Objects that the application has made or retained, and not released. */
long strict_live_objects(void);

#ifdef __cplusplus
}
#endif
