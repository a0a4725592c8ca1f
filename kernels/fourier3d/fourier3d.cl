// Reconstruction of a volume in Fourier space from projections: every voxel gathers, from every
// image whose plane passes close to it, the pixels within a distance of 2 of it, weighted by the
// kernel w(d) = (1 - d^2 / 4)^2. Weighted values (complex) and weights are added to what is there.
// Image i's plane is given by a matrix of three rows: the first two turn a voxel's place into a
// place in the image, the third gives its distance from the plane. Places are counted from the
// middle. Volume and images have `size` elements on every side. Tuning parameters:
//   WGX WGY    work items of a group along x and y
//   VOXELS     voxels of a work item along z
//   SPLIT      groups that share the images (with atomic additions if there are several)
//   STAGED     1: the images' matrices are copied to local memory, CHUNK at a time
//   UNROLL     of the loop over the four columns of pixels
//   VECTOR     2: a complex number is loaded and added as a vector; 1: as two floats
//   SKIP       1: a pixel that is too far away is skipped by a branch; 0: it counts as 0

#define CHUNK 16
#define RADIUS 2

KERNEL WORK_GROUP(WGX, WGY, 1)
void fourier3d(const int size, const int images, const GLOBAL float* RESTRICT image,
               const GLOBAL float* RESTRICT planes, GLOBAL float* RESTRICT volume,
               GLOBAL float* RESTRICT weights) {
#if STAGED == 1
  LOCAL_ARRAY float staged[9 * CHUNK];
#endif
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int first_plane = GROUP_ID(2) / SPLIT * VOXELS;
  const float middle = 0.5f * (float)(size - 1);
  const float x = (float)column - middle;
  const float y = (float)row - middle;

  FLOAT_VECTOR(VECTOR) sum[VOXELS * 2 / VECTOR];
  float weight_sum[VOXELS];
#pragma unroll
  for (int i = 0; i < VOXELS * 2 / VECTOR; ++i) sum[i] = SPLAT(VECTOR, 0.0f);
#pragma unroll
  for (int i = 0; i < VOXELS; ++i) weight_sum[i] = 0.0f;

  for (int first = GROUP_ID(2) % SPLIT * CHUNK; first < images; first += SPLIT * CHUNK) {
    const int count = min(CHUNK, images - first);
#if STAGED == 1
    for (int at = LOCAL_ID(1) * WGX + LOCAL_ID(0); at < 9 * count; at += WGX * WGY) {
      staged[at] = planes[(size_t)9 * first + at];
    }
    LOCAL_BARRIER();
#endif
    for (int i = 0; i < count; ++i) {
#if STAGED == 1
      LOCAL_POINTER const float* t = staged + 9 * i;
#else
      const GLOBAL float* t = planes + (size_t)9 * (first + i);
#endif
      const GLOBAL float* pixels = image + (size_t)2 * size * size * (first + i);
#pragma unroll
      for (int j = 0; j < VOXELS; ++j) {
        const float z = (float)(first_plane + j) - middle;
        const float distance = t[6] * x + t[7] * y + t[8] * z;
        const float u = t[0] * x + t[1] * y + t[2] * z + middle;
        const float v = t[3] * x + t[4] * y + t[5] * z + middle;
        const int first_u = (int)floor(u) - RADIUS + 1;
        const int first_v = (int)floor(v) - RADIUS + 1;
        if (distance * distance < (float)(RADIUS * RADIUS)) {
#pragma unroll 1
          for (int b = 0; b < 2 * RADIUS; ++b) {
            const int pixel_v = first_v + b;
            const float dv = v - (float)pixel_v;
#pragma unroll UNROLL
            for (int a = 0; a < 2 * RADIUS; ++a) {
              const int pixel_u = first_u + a;
              const float du = u - (float)pixel_u;
              const float square = distance * distance + du * du + dv * dv;
              const float near = 1.0f - square / (float)(RADIUS * RADIUS);
              const int inside =
                  pixel_u >= 0 && pixel_u < size && pixel_v >= 0 && pixel_v < size;
#if SKIP == 1
              if (inside && near > 0.0f) {
                const int counts = 1;
#else
              {
                const int counts = inside && near > 0.0f;
#endif
                const float weight = counts ? near * near : 0.0f;
                const int at = inside ? 2 * (pixel_v * size + pixel_u) : 0;
#if VECTOR == 2
                const FLOAT_VECTOR(2) pixel = LOAD_VECTOR(2, pixels + at);
                sum[j] = MULTIPLY_ADD(SPLAT(2, weight), counts ? pixel : SPLAT(2, 0.0f), sum[j]);
#else
                const float real = pixels[at], imaginary = pixels[at + 1];
                sum[2 * j] = MULTIPLY_ADD(weight, counts ? real : 0.0f, sum[2 * j]);
                sum[2 * j + 1] = MULTIPLY_ADD(weight, counts ? imaginary : 0.0f, sum[2 * j + 1]);
#endif
                weight_sum[j] += weight;
              }
            }
          }
        }
      }
    }
#if STAGED == 1
    LOCAL_BARRIER();
#endif
  }

#pragma unroll
  for (int j = 0; j < VOXELS; ++j) {
    const int plane = first_plane + j;
    if (column < size && row < size && plane < size) {
      const size_t at = ((size_t)plane * size + row) * size + column;
#if SPLIT == 1 && VECTOR == 2
      STORE_VECTOR(2, LOAD_VECTOR(2, volume + 2 * at) + sum[j], volume + 2 * at);
      weights[at] += weight_sum[j];
#else
      float lanes[2];
#if VECTOR == 2
      LANES_OF(2, sum[j], lanes);
#else
      lanes[0] = sum[2 * j];
      lanes[1] = sum[2 * j + 1];
#endif
#if SPLIT == 1
      volume[2 * at] += lanes[0];
      volume[2 * at + 1] += lanes[1];
      weights[at] += weight_sum[j];
#else
      ATOMIC_ADD_FLOAT(volume + 2 * at, lanes[0]);
      ATOMIC_ADD_FLOAT(volume + 2 * at + 1, lanes[1]);
      ATOMIC_ADD_FLOAT(weights + at, weight_sum[j]);
#endif
#endif
    }
  }
}

// One work item per voxel; the sum over an image is added to the total with compensation (Kahan
// 1965).
KERNEL void fourier3d_reference(const int size, const int images,
                                const GLOBAL float* RESTRICT image,
                                const GLOBAL float* RESTRICT planes,
                                GLOBAL float* RESTRICT volume, GLOBAL float* RESTRICT weights) {
  const int column = GLOBAL_ID(0);
  const int row = GLOBAL_ID(1);
  const int plane = GLOBAL_ID(2);
  if (column >= size || row >= size) return;
  const float middle = 0.5f * (float)(size - 1);
  float sum[3] = {0.0f, 0.0f, 0.0f};
  float lost[3] = {0.0f, 0.0f, 0.0f};
  for (int i = 0; i < images; ++i) {
    float place[3];
    for (int k = 0; k < 3; ++k) {
      const GLOBAL float* t = planes + (size_t)9 * i + 3 * k;
      place[k] = FUSED(t[0], (float)column - middle,
                       FUSED(t[1], (float)row - middle, t[2] * ((float)plane - middle)));
    }
    const float u = place[0] + middle;
    const float v = place[1] + middle;
    float part[3] = {0.0f, 0.0f, 0.0f};
    for (int pixel_v = max((int)floor(v) - RADIUS, 0);
         pixel_v <= min((int)floor(v) + RADIUS, size - 1); ++pixel_v) {
      for (int pixel_u = max((int)floor(u) - RADIUS, 0);
           pixel_u <= min((int)floor(u) + RADIUS, size - 1); ++pixel_u) {
        const float du = u - (float)pixel_u;
        const float dv = v - (float)pixel_v;
        const float square = FUSED(place[2], place[2], FUSED(du, du, dv * dv));
        const float near = 1.0f - square / (float)(RADIUS * RADIUS);
        if (near > 0.0f) {
          const size_t at = 2 * (((size_t)i * size + pixel_v) * size + pixel_u);
          part[0] += near * near * image[at];
          part[1] += near * near * image[at + 1];
          part[2] += near * near;
        }
      }
    }
    for (int k = 0; k < 3; ++k) {
      const float term = part[k] - lost[k];
      const float next = sum[k] + term;
      lost[k] = (next - sum[k]) - term;
      sum[k] = next;
    }
  }
  const size_t at = ((size_t)plane * size + row) * size + column;
  volume[2 * at] += sum[0];
  volume[2 * at + 1] += sum[1];
  weights[at] += sum[2];
}
