// One step of an all-pairs n-body simulation. Bodies are four floats: a position's x, y, z and the
// mass; velocities are four floats with one unused, which is copied. Every body attracts every
// body, softened: acceleration = sum of mass * d / (|d|^2 + softening)^(3/2); then velocity and
// position advance by dt (semi-implicit Euler). Tuning parameters:
//   WG      work items of a group
//   BODIES  bodies of a work item
//   VECTOR  bodies that are computed at once
//   SPREAD  1: a work item's bodies are WG * VECTOR apart; 0: they lie side by side
//   UNROLL  of the loop over the attracting bodies
//   STAGED  these are read from 0: global memory, 1: local memory, body after body, 2: local
//           memory, an array per component
//   TILES   bodies in local memory at a time, as a multiple of WG
//   WHOLE   1: the last, incomplete tile has a loop of its own, so that the others know their
//           length

#define CHUNK (WG * TILES)
#define VECTORS (BODIES / VECTOR)
typedef FLOAT_VECTOR(VECTOR) Lanes;

#if STAGED == 0
#define X(j) positions[4 * (j)]
#define Y(j) positions[4 * (j) + 1]
#define Z(j) positions[4 * (j) + 2]
#define MASS(j) positions[4 * (j) + 3]
#elif STAGED == 1
#define X(j) staged[4 * (j)]
#define Y(j) staged[4 * (j) + 1]
#define Z(j) staged[4 * (j) + 2]
#define MASS(j) staged[4 * (j) + 3]
#else
#define X(j) staged[j]
#define Y(j) staged[CHUNK + (j)]
#define Z(j) staged[2 * CHUNK + (j)]
#define MASS(j) staged[3 * CHUNK + (j)]
#endif

// The pull of body `j` on all bodies of this work item.
#define ATTRACT(j)                                                              \
  {                                                                             \
    const float body_x = X(j), body_y = Y(j), body_z = Z(j), mass = MASS(j);    \
    _Pragma("unroll") for (int v = 0; v < VECTORS; ++v) {                       \
      const Lanes dx = SPLAT(VECTOR, body_x) - x[v];                            \
      const Lanes dy = SPLAT(VECTOR, body_y) - y[v];                            \
      const Lanes dz = SPLAT(VECTOR, body_z) - z[v];                            \
      Lanes square = MULTIPLY_ADD(dx, dx, SPLAT(VECTOR, softening));            \
      square = MULTIPLY_ADD(dz, dz, MULTIPLY_ADD(dy, dy, square));              \
      const Lanes inverse = RSQRT(square);                                      \
      const Lanes pull = SPLAT(VECTOR, mass) * inverse * inverse * inverse;     \
      ax[v] = MULTIPLY_ADD(dx, pull, ax[v]);                                    \
      ay[v] = MULTIPLY_ADD(dy, pull, ay[v]);                                    \
      az[v] = MULTIPLY_ADD(dz, pull, az[v]);                                    \
    }                                                                           \
  }

// The first body of a work item's vector.
FUNCTION int first_body(int group, int item, int vector) {
#if SPREAD == 1
  return group * WG * BODIES + (vector * WG + item) * VECTOR;
#else
  return group * WG * BODIES + item * BODIES + vector * VECTOR;
#endif
}

KERNEL WORK_GROUP(WG, 1, 1)
void nbody(const int n, const GLOBAL float* RESTRICT positions,
           const GLOBAL float* RESTRICT velocities, const float softening, const float dt,
           GLOBAL float* RESTRICT new_positions, GLOBAL float* RESTRICT new_velocities) {
#if STAGED != 0
  LOCAL_ARRAY float staged[4 * CHUNK];
#endif
  const int item = LOCAL_ID(0);
  Lanes x[VECTORS], y[VECTORS], z[VECTORS], ax[VECTORS], ay[VECTORS], az[VECTORS];
#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    float lanes_x[VECTOR], lanes_y[VECTOR], lanes_z[VECTOR];
#pragma unroll
    for (int lane = 0; lane < VECTOR; ++lane) {
      const int body = min(first_body(GROUP_ID(0), item, v) + lane, n - 1);
      lanes_x[lane] = positions[4 * body];
      lanes_y[lane] = positions[4 * body + 1];
      lanes_z[lane] = positions[4 * body + 2];
    }
    x[v] = VECTOR_OF(VECTOR, lanes_x);
    y[v] = VECTOR_OF(VECTOR, lanes_y);
    z[v] = VECTOR_OF(VECTOR, lanes_z);
    ax[v] = ay[v] = az[v] = SPLAT(VECTOR, 0.0f);
  }

  for (int first = 0; first < n; first += CHUNK) {
    const int count = min(CHUNK, n - first);
#if STAGED != 0
    for (int at = item; at < 4 * count; at += WG) {
#if STAGED == 1
      staged[at] = positions[4 * first + at];
#else
      staged[at % 4 * CHUNK + at / 4] = positions[4 * first + at];
#endif
    }
    LOCAL_BARRIER();
#define BODY(j) (j)
#else
#define BODY(j) (first + (j))
#endif
#if WHOLE == 1
    if (count == CHUNK) {
#pragma unroll UNROLL
      for (int j = 0; j < CHUNK; ++j) ATTRACT(BODY(j))
    } else {
#pragma unroll 1
      for (int j = 0; j < count; ++j) ATTRACT(BODY(j))
    }
#else
#pragma unroll UNROLL
    for (int j = 0; j < count; ++j) ATTRACT(BODY(j))
#endif
#if STAGED != 0
    LOCAL_BARRIER();
#endif
  }

#pragma unroll
  for (int v = 0; v < VECTORS; ++v) {
    float lanes_x[VECTOR], lanes_y[VECTOR], lanes_z[VECTOR];
    LANES_OF(VECTOR, ax[v], lanes_x);
    LANES_OF(VECTOR, ay[v], lanes_y);
    LANES_OF(VECTOR, az[v], lanes_z);
#pragma unroll
    for (int lane = 0; lane < VECTOR; ++lane) {
      const int body = first_body(GROUP_ID(0), item, v) + lane;
      if (body < n) {
        const float vx = velocities[4 * body] + dt * lanes_x[lane];
        const float vy = velocities[4 * body + 1] + dt * lanes_y[lane];
        const float vz = velocities[4 * body + 2] + dt * lanes_z[lane];
        new_velocities[4 * body] = vx;
        new_velocities[4 * body + 1] = vy;
        new_velocities[4 * body + 2] = vz;
        new_velocities[4 * body + 3] = velocities[4 * body + 3];
        new_positions[4 * body] = positions[4 * body] + dt * vx;
        new_positions[4 * body + 1] = positions[4 * body + 1] + dt * vy;
        new_positions[4 * body + 2] = positions[4 * body + 2] + dt * vz;
        new_positions[4 * body + 3] = positions[4 * body + 3];
      }
    }
  }
}

FUNCTION float compensated(float sum, float term, float* lost) {
  const float corrected = term - *lost;
  const float next = sum + corrected;
  *lost = (next - sum) - corrected;
  return next;
}

// One work item per body, with compensated summation (Kahan 1965).
KERNEL void nbody_reference(const int n, const GLOBAL float* RESTRICT positions,
                            const GLOBAL float* RESTRICT velocities, const float softening,
                            const float dt, GLOBAL float* RESTRICT new_positions,
                            GLOBAL float* RESTRICT new_velocities) {
  const int body = GLOBAL_ID(0);
  if (body >= n) return;
  float acceleration[3] = {0.0f, 0.0f, 0.0f};
  float lost[3] = {0.0f, 0.0f, 0.0f};
  for (int j = 0; j < n; ++j) {
    float d[3];
    float square = softening;
    for (int i = 0; i < 3; ++i) {
      d[i] = positions[4 * j + i] - positions[4 * body + i];
      square = FUSED(d[i], d[i], square);
    }
    const float pull = positions[4 * j + 3] / (square * sqrt(square));
    for (int i = 0; i < 3; ++i) {
      acceleration[i] = compensated(acceleration[i], d[i] * pull, &lost[i]);
    }
  }
  for (int i = 0; i < 3; ++i) {
    const float velocity = velocities[4 * body + i] + dt * acceleration[i];
    new_velocities[4 * body + i] = velocity;
    new_positions[4 * body + i] = positions[4 * body + i] + dt * velocity;
  }
  new_velocities[4 * body + 3] = velocities[4 * body + 3];
  new_positions[4 * body + 3] = positions[4 * body + 3];
}
