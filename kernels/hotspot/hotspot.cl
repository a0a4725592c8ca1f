// Heat in a chip: four explicit time steps on a grid of cells (rows x columns), every cell
// exchanging heat with its four neighbours and with the ambient and being heated by its power. The
// edges are insulated. One launch makes all four steps: a group computes its tile from a larger one
// (overlapped tiles), so that groups need not wait for each other. Tuning parameters:
//   TBX TBY      work items of a group along columns and rows
//   ROWS         cells that a work item has at the end, below each other
//   LOCAL_POWER  1: the power of the larger tile is kept in local memory
//   PADDING      floats between the rows of the tiles
//   UNROLL       of the loop over a work item's cells within a step

#define STEPS 4
#define TILE_COLUMNS (TBX + 2 * STEPS)
#define TILE_ROWS (TBY * ROWS + 2 * STEPS)
#define PITCH (TILE_COLUMNS + PADDING)

KERNEL WORK_GROUP(TBX, TBY, 1)
void hotspot(const int rows, const int columns, const GLOBAL float* RESTRICT power,
             const GLOBAL float* RESTRICT before, GLOBAL float* RESTRICT after,
             const float heating, const float across, const float along, const float loss,
             const float ambient) {
  LOCAL_ARRAY float tiles[2 * TILE_ROWS * PITCH];
#if LOCAL_POWER == 1
  LOCAL_ARRAY float tile_power[TILE_ROWS * PITCH];
#endif
  const int item = LOCAL_ID(1) * TBX + LOCAL_ID(0);
  const int first_column = GROUP_ID(0) * TBX - STEPS;
  const int first_row = GROUP_ID(1) * TBY * ROWS - STEPS;

  for (int at = item; at < TILE_ROWS * TILE_COLUMNS; at += TBX * TBY) {
    const int y = at / TILE_COLUMNS;
    const int x = at % TILE_COLUMNS;
    const int row = first_row + y;
    const int column = first_column + x;
    if (row >= 0 && row < rows && column >= 0 && column < columns) {
      tiles[y * PITCH + x] = before[(size_t)row * columns + column];
#if LOCAL_POWER == 1
      tile_power[y * PITCH + x] = power[(size_t)row * columns + column];
#endif
    }
  }
  LOCAL_BARRIER();

#pragma unroll 1
  for (int step = 1; step <= STEPS; ++step) {
    LOCAL_POINTER float* now = tiles + (step - 1) % 2 * TILE_ROWS * PITCH;
    LOCAL_POINTER float* next = tiles + step % 2 * TILE_ROWS * PITCH;
    const int width = TILE_COLUMNS - 2 * step;
    const int height = TILE_ROWS - 2 * step;
#pragma unroll UNROLL
    for (int at = item; at < width * height; at += TBX * TBY) {
      const int y = at / width + step;
      const int x = at % width + step;
      const int row = first_row + y;
      const int column = first_column + x;
      if (row >= 0 && row < rows && column >= 0 && column < columns) {
        const float own = now[y * PITCH + x];
        const float north = row > 0 ? now[(y - 1) * PITCH + x] : own;
        const float south = row < rows - 1 ? now[(y + 1) * PITCH + x] : own;
        const float west = column > 0 ? now[y * PITCH + x - 1] : own;
        const float east = column < columns - 1 ? now[y * PITCH + x + 1] : own;
#if LOCAL_POWER == 1
        const float heat = tile_power[y * PITCH + x];
#else
        const float heat = power[(size_t)row * columns + column];
#endif
        const float result = own + heating * heat + along * (north + south - 2.0f * own) +
                             across * (east + west - 2.0f * own) + loss * (ambient - own);
        if (step == STEPS) {
          after[(size_t)row * columns + column] = result;
        } else {
          next[y * PITCH + x] = result;
        }
      }
    }
    LOCAL_BARRIER();
  }
}

// One work item per cell, which computes the cone of cells that its own depends on, without local
// memory: all within four steps of it.
KERNEL void hotspot_reference(const int rows, const int columns,
                              const GLOBAL float* RESTRICT power,
                              const GLOBAL float* RESTRICT before, GLOBAL float* RESTRICT after,
                              const float heating, const float across, const float along,
                              const float loss, const float ambient) {
  const int own_column = GLOBAL_ID(0);
  const int own_row = GLOBAL_ID(1);
  if (own_row >= rows || own_column >= columns) return;
  float now[2 * STEPS + 1][2 * STEPS + 1];
  float next[2 * STEPS + 1][2 * STEPS + 1];
  for (int y = 0; y <= 2 * STEPS; ++y) {
    for (int x = 0; x <= 2 * STEPS; ++x) {
      const int row = own_row + y - STEPS;
      const int column = own_column + x - STEPS;
      const int inside = row >= 0 && row < rows && column >= 0 && column < columns;
      now[y][x] = inside ? before[(size_t)row * columns + column] : 0.0f;
    }
  }
  for (int step = 1; step <= STEPS; ++step) {
    for (int y = step; y <= 2 * STEPS - step; ++y) {
      for (int x = step; x <= 2 * STEPS - step; ++x) {
        const int row = own_row + y - STEPS;
        const int column = own_column + x - STEPS;
        next[y][x] = now[y][x];
        if (row >= 0 && row < rows && column >= 0 && column < columns) {
          const float own = now[y][x];
          const float vertical = (row > 0 ? now[y - 1][x] - own : 0.0f) +
                                 (row < rows - 1 ? now[y + 1][x] - own : 0.0f);
          const float horizontal = (column > 0 ? now[y][x - 1] - own : 0.0f) +
                                   (column < columns - 1 ? now[y][x + 1] - own : 0.0f);
          next[y][x] = own + heating * power[(size_t)row * columns + column] + along * vertical +
                       across * horizontal + loss * (ambient - own);
        }
      }
    }
    for (int y = step; y <= 2 * STEPS - step; ++y) {
      for (int x = step; x <= 2 * STEPS - step; ++x) now[y][x] = next[y][x];
    }
  }
  after[(size_t)own_row * columns + own_column] = now[STEPS][STEPS];
}
