// One step of the two-dimensional flow in a lid-driven cavity, as stream function and vorticity at
// the inner points (rows x columns) of a regular grid, the lid moving above the last row:
// - one Jacobi sweep of Poisson's equation for the stream function, which is 0 at the walls;
// - one explicit step of the transport of vorticity, whose value at a wall follows from the stream
//   function at the point beside it (Thom 1933).
// One work item per point.
// Tuning parameters: BLOCK_X columns and BLOCK_Y rows of work items in a group.
KERNEL WORK_GROUP(BLOCK_X, BLOCK_Y, 1)
void cavity_block(const int rows, const int columns, const GLOBAL float* RESTRICT stream,
                  const GLOBAL float* RESTRICT vorticity, GLOBAL float* RESTRICT new_stream,
                  GLOBAL float* RESTRICT new_vorticity, const float spacing, const float dt,
                  const float viscosity, const float lid) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= rows || column >= columns) return;
  const size_t at = (size_t)row * columns + column;
  const int has_north = row < rows - 1, has_south = row > 0;
  const int has_east = column < columns - 1, has_west = column > 0;
  const float per_spacing = 1.0f / spacing;

  const float own = stream[at];
  const float north = has_north ? stream[at + columns] : 0.0f;
  const float south = has_south ? stream[at - columns] : 0.0f;
  const float east = has_east ? stream[at + 1] : 0.0f;
  const float west = has_west ? stream[at - 1] : 0.0f;

  const float at_wall = -2.0f * own * per_spacing * per_spacing;
  const float w_own = vorticity[at];
  const float w_north = has_north ? vorticity[at + columns] : at_wall - 2.0f * lid * per_spacing;
  const float w_south = has_south ? vorticity[at - columns] : at_wall;
  const float w_east = has_east ? vorticity[at + 1] : at_wall;
  const float w_west = has_west ? vorticity[at - 1] : at_wall;

  new_stream[at] = 0.25f * (north + south + east + west + spacing * spacing * w_own);
  const float u = 0.5f * per_spacing * (north - south);
  const float v = -0.5f * per_spacing * (east - west);
  const float carried = 0.5f * per_spacing * (u * (w_east - w_west) + v * (w_north - w_south));
  const float neighbours = w_north + w_south + w_east + w_west;
  const float spread = per_spacing * per_spacing * (neighbours - 4.0f * w_own);
  new_vorticity[at] = w_own + dt * (viscosity * spread - carried);
}

// A value of a grid at (row, column), or `outside` beyond its edges.
FUNCTION float cavity_value(const GLOBAL float* grid, int row, int column, int rows, int columns,
                            float outside) {
  if (row < 0 || row >= rows || column < 0 || column >= columns) return outside;
  return grid[(size_t)row * columns + column];
}

// The same formulae, written neighbour by neighbour.
KERNEL void cavity_block_reference(const int rows, const int columns,
                                   const GLOBAL float* RESTRICT stream,
                                   const GLOBAL float* RESTRICT vorticity,
                                   GLOBAL float* RESTRICT new_stream,
                                   GLOBAL float* RESTRICT new_vorticity, const float spacing,
                                   const float dt, const float viscosity, const float lid) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  if (row >= rows || column >= columns) return;
  const size_t at = (size_t)row * columns + column;
  float psi[4], w[4];  // north, south, east, west
  for (int side = 0; side < 4; ++side) {
    const int up = side == 0 ? 1 : side == 1 ? -1 : 0;
    const int right = side == 2 ? 1 : side == 3 ? -1 : 0;
    float wall = -2.0f * stream[at] / (spacing * spacing);
    if (side == 0) wall -= 2.0f * lid / spacing;
    psi[side] = cavity_value(stream, row + up, column + right, rows, columns, 0.0f);
    w[side] = cavity_value(vorticity, row + up, column + right, rows, columns, wall);
  }
  const float own = vorticity[at];
  const float u = (psi[0] - psi[1]) / (2.0f * spacing);
  const float v = (psi[3] - psi[2]) / (2.0f * spacing);
  new_stream[at] = (psi[0] + psi[1] + psi[2] + psi[3] + spacing * spacing * own) / 4.0f;
  new_vorticity[at] =
      own - dt * u * (w[2] - w[3]) / (2.0f * spacing) - dt * v * (w[0] - w[1]) / (2.0f * spacing) +
      dt * viscosity * (w[0] + w[1] + w[2] + w[3] - 4.0f * own) / (spacing * spacing);
}
