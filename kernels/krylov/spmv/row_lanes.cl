// What products row by row share: which row a work item is at, where in the row it begins and how
// far it steps, and where the row's sum goes.
// CG_SUMS adds two inner products for CG, a pair of each group behind `first_part` pairs: x . y, and
// y . y (1) or y . D y with D = `diagonal` (2).

#ifndef CG_SUMS
#define CG_SUMS 0
#endif
#if CG_SUMS
#define CG_ARGUMENTS \
  , const GLOBAL REAL* RESTRICT diagonal, const int first_part, GLOBAL REAL* RESTRICT parts
#else
#define CG_ARGUMENTS
#endif
#if CG_SUMS == 2
#define SQUARE_OF_ROW (sum * sum * diagonal[at])
#else
#define SQUARE_OF_ROW (sum * sum)
#endif
#define STORE_PAIR(a, b)                                 \
  do {                                                   \
    parts[2 * ((long)first_part + GROUP_ID(0))] = a;     \
    parts[2 * ((long)first_part + GROUP_ID(0)) + 1] = b; \
  } while (0)

// A row's work items: a whole group, or LANES that stand next to each other. Those beyond the last
// row follow it and store nothing.
#ifndef LANES
#define LANES 1
#endif
#if GROUP_PER_ROW
#define BEGIN_ROW(rows)          \
  LOCAL_ARRAY REAL scratch[WG];  \
  const int row = GROUP_ID(0);   \
  const int first = LOCAL_ID(0); \
  const int step = WG;           \
  REAL sum = 0
#if CG_SUMS
#define END_ROW_AT(rows, place)              \
  const int at = place;                      \
  sum = GROUP_SUM(sum, WG, scratch);         \
  if (LOCAL_ID(0) == 0) {                    \
    y[at] = sum;                             \
    STORE_PAIR(x[at] * sum, SQUARE_OF_ROW);  \
  }
#else
#define END_ROW_AT(rows, place)      \
  sum = GROUP_SUM(sum, WG, scratch); \
  if (LOCAL_ID(0) == 0) y[place] = sum
#endif
#elif CG_SUMS || LANES > 1
#define BEGIN_ROW(rows)                                              \
  LOCAL_ARRAY REAL scratch[2 * WG];                                  \
  const int first = (int)LOCAL_ID(0) % LANES;                        \
  const int step = LANES;                                            \
  const int of_item = GROUP_ID(0) * (WG / LANES) + (int)LOCAL_ID(0) / LANES; \
  const int row = min(of_item, (rows)-1);                            \
  const int is_row = first == 0 && of_item < (rows);                 \
  REAL sum = 0
#if LANES > 1
#define ADD_LANES                                                    \
  scratch[LOCAL_ID(0)] = sum;                                        \
  LOCAL_BARRIER();                                                   \
  for (int half_of = LANES / 2; half_of > 0; half_of /= 2) {         \
    if (first < half_of) scratch[LOCAL_ID(0)] += scratch[LOCAL_ID(0) + half_of]; \
    LOCAL_BARRIER();                                                 \
  }                                                                  \
  sum = scratch[LOCAL_ID(0)];                                        \
  LOCAL_BARRIER()
#else
#define ADD_LANES
#endif
#if CG_SUMS
#define END_ROW_AT(rows, place)                     \
  const int at = place;                             \
  ADD_LANES;                                        \
  REAL product = is_row ? x[at] * sum : 0;          \
  REAL square = is_row ? SQUARE_OF_ROW : 0;         \
  if (is_row) y[at] = sum;                          \
  GROUP_SUM_2(product, square, WG, scratch);        \
  if (LOCAL_ID(0) == 0) STORE_PAIR(product, square)
#else
#define END_ROW_AT(rows, place) \
  ADD_LANES;                    \
  if (is_row) y[place] = sum
#endif
#else
#define BEGIN_ROW(rows)         \
  const int row = GLOBAL_ID(0); \
  const int first = 0;          \
  const int step = 1;           \
  if (row >= (rows)) return;    \
  REAL sum = 0
#define END_ROW_AT(rows, place) y[place] = sum
#endif
#define END_ROW(rows) END_ROW_AT(rows, row)
