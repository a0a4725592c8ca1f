// Direct Coulomb summation: energy at the points of a regular grid (nz planes of ny rows of nx
// points) = sum over all atoms of charge / distance.
// Tuning parameters:
//   WGX WGY        work items of a group along x and y
//   POINTS_Y POINTS_Z  rows and planes that a work item computes: they share parts of the distance
//   VECTOR         neighbouring points along x that it computes at once
//   UNROLL         of the loop over atoms
//   STAGED         atoms are read from 0: global memory, 1: local memory, an array per coordinate,
//                  2: local memory, an array of atoms
//   CHUNK          atoms in local memory at a time

#if STAGED == 0
#define CHUNK_ATOMS atoms
#else
#define CHUNK_ATOMS CHUNK
#endif
typedef FLOAT_VECTOR(VECTOR) Points;

KERNEL WORK_GROUP(WGX, WGY, 1)
void coulomb3d(const int nz, const int ny, const int nx, const int atoms,
               const GLOBAL float* RESTRICT x, const GLOBAL float* RESTRICT y,
               const GLOBAL float* RESTRICT z, const GLOBAL float* RESTRICT charge,
               const float spacing, GLOBAL float* RESTRICT energy) {
#if STAGED != 0
  LOCAL_ARRAY float staged[4 * CHUNK];
#endif
  const int column = (GROUP_ID(0) * WGX + LOCAL_ID(0)) * VECTOR;
  const int row = GROUP_ID(1) * WGY * POINTS_Y + LOCAL_ID(1);
  const int plane = GROUP_ID(2) * POINTS_Z;

  float lanes[VECTOR];
#pragma unroll
  for (int lane = 0; lane < VECTOR; ++lane) lanes[lane] = (float)(column + lane) * spacing;
  const Points point_x = VECTOR_OF(VECTOR, lanes);
  Points sum[POINTS_Z][POINTS_Y];
#pragma unroll
  for (int i = 0; i < POINTS_Z; ++i) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; ++j) sum[i][j] = SPLAT(VECTOR, 0.0f);
  }

  for (int first = 0; first < atoms; first += CHUNK_ATOMS) {
    const int count = min(CHUNK_ATOMS, atoms - first);
#if STAGED != 0
    for (int a = LOCAL_ID(1) * WGX + LOCAL_ID(0); a < count; a += WGX * WGY) {
#if STAGED == 1
      staged[a] = x[first + a];
      staged[CHUNK + a] = y[first + a];
      staged[2 * CHUNK + a] = z[first + a];
      staged[3 * CHUNK + a] = charge[first + a];
#else
      staged[4 * a] = x[first + a];
      staged[4 * a + 1] = y[first + a];
      staged[4 * a + 2] = z[first + a];
      staged[4 * a + 3] = charge[first + a];
#endif
    }
    LOCAL_BARRIER();
#endif
#pragma unroll UNROLL
    for (int a = 0; a < count; ++a) {
#if STAGED == 0
      const float atom_x = x[a], atom_y = y[a], atom_z = z[a], atom_charge = charge[a];
#elif STAGED == 1
      const float atom_x = staged[a], atom_y = staged[CHUNK + a];
      const float atom_z = staged[2 * CHUNK + a], atom_charge = staged[3 * CHUNK + a];
#else
      const float atom_x = staged[4 * a], atom_y = staged[4 * a + 1];
      const float atom_z = staged[4 * a + 2], atom_charge = staged[4 * a + 3];
#endif
      const Points dx = point_x - SPLAT(VECTOR, atom_x);
      const Points dx2 = dx * dx;
#pragma unroll
      for (int j = 0; j < POINTS_Y; ++j) {
        const float dy = (float)(row + j * WGY) * spacing - atom_y;
        const Points dxy2 = dx2 + SPLAT(VECTOR, dy * dy);
#pragma unroll
        for (int i = 0; i < POINTS_Z; ++i) {
          const float dz = (float)(plane + i) * spacing - atom_z;
          const Points inverse = RSQRT(dxy2 + SPLAT(VECTOR, dz * dz));
          sum[i][j] = MULTIPLY_ADD(SPLAT(VECTOR, atom_charge), inverse, sum[i][j]);
        }
      }
    }
#if STAGED != 0
    LOCAL_BARRIER();
#endif
  }

#pragma unroll
  for (int i = 0; i < POINTS_Z; ++i) {
#pragma unroll
    for (int j = 0; j < POINTS_Y; ++j) {
      const int own_row = row + j * WGY;
      if (plane + i < nz && own_row < ny) {
        GLOBAL float* line = energy + ((size_t)(plane + i) * ny + own_row) * nx;
        if (column + VECTOR <= nx) {
          STORE_VECTOR(VECTOR, sum[i][j], line + column);
        } else {
          LANES_OF(VECTOR, sum[i][j], lanes);
#pragma unroll
          for (int lane = 0; lane < VECTOR; ++lane) {
            if (column + lane < nx) line[column + lane] = lanes[lane];
          }
        }
      }
    }
  }
}

// One work item per point, with compensated summation (Kahan 1965).
KERNEL void coulomb3d_reference(const int nz, const int ny, const int nx, const int atoms,
                                const GLOBAL float* RESTRICT x, const GLOBAL float* RESTRICT y,
                                const GLOBAL float* RESTRICT z,
                                const GLOBAL float* RESTRICT charge, const float spacing,
                                GLOBAL float* RESTRICT energy) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int plane = GLOBAL_ID(2);
  if (column >= nx || row >= ny) return;
  float sum = 0.0f;
  float lost = 0.0f;
  for (int a = 0; a < atoms; ++a) {
    const float dx = (float)column * spacing - x[a];
    const float dy = (float)row * spacing - y[a];
    const float dz = (float)plane * spacing - z[a];
    const float term = charge[a] / sqrt(dx * dx + dy * dy + dz * dz) - lost;
    const float next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  energy[((size_t)plane * ny + row) * nx + column] = sum;
}
