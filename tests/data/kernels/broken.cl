// A scaled transposition, out (columns x rows) = scale * in^T, with variants wrong on purpose.
// README.md says what each value of BUG does.

// One group transposes STRIP tiles, one after the other, through one tile of local memory.
#define STRIP 4

#if BUG == 8
#define LOCAL_ELEMENTS (64 * 1024 * 1024)
#else
#define LOCAL_ELEMENTS (TILE * TILE)
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void broken(const int rows, const int columns, const __global float* in, __global float* out,
            const float scale) {
  __local float tile[LOCAL_ELEMENTS];
  const int x = (int)get_local_id(0);
  const int y = (int)get_local_id(1);
  const int first_row = (int)get_group_id(1) * TILE;
  const int elements = rows * columns;

#if BUG == 7
  const volatile __global float* never = in;
  while (*never != 3.0e38f) {
  }
#endif

  for (int strip = 0; strip < STRIP; ++strip) {
    const int first_column = ((int)get_group_id(0) * STRIP + strip) * TILE;
#if BUG == 1
    const int column = first_column + x + 1;
#else
    const int column = first_column + x;
#endif
#if BUG == 3
    if (strip == 0)
#endif
    {
      tile[y * TILE + x] = in[min(first_row + y, rows - 1) * columns + min(column, columns - 1)];
    }
#if BUG != 2
    barrier(CLK_LOCAL_MEM_FENCE);
#endif

    const int out_row = first_column + y;
    const int out_column = first_row + x;
    if (out_row < columns && out_column < rows) {
      const int at = out_row * rows + out_column;
      float value = scale * tile[x * TILE + y];
#if BUG == 4
      if (at == elements - 1) value = NAN;
#elif BUG == 5
      if (at % 1000000 == min(elements, 1000000) * 2 / 3) value *= 1.001f;
#elif BUG == 6
      if (at == 0) {
        for (int past = 0; past < 4; ++past) out[elements + past] = 1.0f;
      }
#endif
#if BUG != 9
      out[at] = value;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel void broken_reference(const int rows, const int columns, const __global float* in,
                               __global float* out, const float scale) {
  const int column = (int)get_global_id(0);
  const int row = (int)get_global_id(1);
  out[column * rows + row] = scale * in[row * columns + column];
}
