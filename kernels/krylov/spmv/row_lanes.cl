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
#define SQUARE_OF_ROW (sum * sum * diagonal[row])
#else
#define SQUARE_OF_ROW (sum * sum)
#endif
#define STORE_PAIR(a, b)                            \
  do {                                              \
    parts[2 * (first_part + GROUP_ID(0))] = a;      \
    parts[2 * (first_part + GROUP_ID(0)) + 1] = b;  \
  } while (0)

// Work items beyond the last row follow it and store nothing.
#if GROUP_PER_ROW
#define BEGIN_ROW(rows)          \
  LOCAL_ARRAY REAL scratch[WG];  \
  const int row = GROUP_ID(0);   \
  const int first = LOCAL_ID(0); \
  const int step = WG;           \
  REAL sum = 0
#if CG_SUMS
#define END_ROW(rows)                                        \
  sum = GROUP_SUM(sum, WG, scratch);                         \
  if (LOCAL_ID(0) == 0) {                                    \
    y[row] = sum;                                            \
    STORE_PAIR(x[row] * sum, SQUARE_OF_ROW);                 \
  }
#else
#define END_ROW(rows)                \
  sum = GROUP_SUM(sum, WG, scratch); \
  if (LOCAL_ID(0) == 0) y[row] = sum
#endif
#else
#if CG_SUMS
#define BEGIN_ROW(rows)                                \
  LOCAL_ARRAY REAL scratch[2 * WG];                    \
  const int row = min((int)GLOBAL_ID(0), (rows)-1);    \
  const int first = 0;                                 \
  const int step = 1;                                  \
  REAL sum = 0
#define END_ROW(rows)                               \
  const int is_row = (int)GLOBAL_ID(0) < (rows);    \
  REAL product = is_row ? x[row] * sum : 0;         \
  REAL square = is_row ? SQUARE_OF_ROW : 0;         \
  if (is_row) y[row] = sum;                         \
  GROUP_SUM_2(product, square, WG, scratch);        \
  if (LOCAL_ID(0) == 0) STORE_PAIR(product, square)
#else
#define BEGIN_ROW(rows)         \
  const int row = GLOBAL_ID(0); \
  const int first = 0;          \
  const int step = 1;           \
  if (row >= (rows)) return;    \
  REAL sum = 0
#define END_ROW(rows) y[row] = sum
#endif
#endif
