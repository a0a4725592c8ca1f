// How often each value occurs, added to what is there: counts[values[i]] += 1 for all i < n.
// Tuning parameters:
//   WG       work items of a group
//   ITEMS    values of a work item
//   STRIDED  0: a work item's values lie side by side; 1: those of a group's work items do
//   CACHE    bins that a work item counts privately, one for each remainder of the value by CACHE, until
//            another value of that remainder comes; 0: none, every value is an atomic addition

KERNEL WORK_GROUP(WG, 1, 1)
void histogram(const int n, const GLOBAL int* RESTRICT values, GLOBAL int* RESTRICT counts) {
#if STRIDED == 1
  const int first = GROUP_ID(0) * WG * ITEMS + LOCAL_ID(0);
  const int step = WG;
#else
  const int first = (GROUP_ID(0) * WG + LOCAL_ID(0)) * ITEMS;
  const int step = 1;
#endif
#if CACHE > 0
  int bins[CACHE];
  int found[CACHE];
  for (int place = 0; place < CACHE; ++place) {
    bins[place] = 0;
    found[place] = 0;
  }
#endif
  for (int k = 0; k < ITEMS; ++k) {
    const int at = first + k * step;
    if (at >= n) break;
    const int value = values[at];
#if CACHE > 0
    const int place = value % CACHE;
    if (bins[place] != value) {
      if (found[place] > 0) ATOMIC_ADD_INT(counts + bins[place], found[place]);
      bins[place] = value;
      found[place] = 0;
    }
    found[place] += 1;
#else
    ATOMIC_ADD_INT(counts + value, 1);
#endif
  }
#if CACHE > 0
  for (int place = 0; place < CACHE; ++place) {
    if (found[place] > 0) ATOMIC_ADD_INT(counts + bins[place], found[place]);
  }
#endif
}

KERNEL WORK_GROUP(1, 1, 1)
void histogram_reference(const int n, const GLOBAL int* RESTRICT values,
                         GLOBAL int* RESTRICT counts) {
  ATOMIC_ADD_INT(counts + values[GLOBAL_ID(0)], 1);
}
