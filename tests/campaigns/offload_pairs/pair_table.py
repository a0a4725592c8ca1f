"""The pairs of small loops and kernels. Both sides have the same body, so that they do the same work.

A body computes the element `i` of n; m is a second size. It stands in C, in a function of C++ and in
a kernel of the portable dialect. Buffers: a, b: floats in [-1, 1); k: integers in [0, 2^20); out: n
floats, count: n integers, which begin as the same numbers on both sides.
"""

# name, kind, size of a, of b, of k, what it writes, body, shapes (n, m)
PAIRS = [
    # What suits GPUs.
    ("scale", "stream", "N", "1", "1", "out", "out[i] = 2.5f * a[i] + 1.0f;",
     [(65536, 1), (1048576, 1), (8192, 1)]),
    ("axpy", "stream", "N", "N", "1", "out", "out[i] = 1.5f * a[i] + b[i];",
     [(65536, 1), (1048576, 1), (4096, 1)]),
    ("triad_far", "stream", "N * M", "N", "1", "out", "out[i] = a[(size_t)i * m] + 0.5f * b[i];",
     [(65536, 8), (16384, 33), (131072, 2)]),
    ("polynomial", "compute", "N", "1", "1", "out",
     "float x = a[i]; float y = 0.0f; for (int j = 0; j < m; ++j) y = y * x + 0.25f; out[i] = y;",
     [(16384, 64), (65536, 16), (2048, 512)]),
    ("roots", "compute", "N", "1", "1", "out",
     "float x = a[i] + 2.0f; for (int j = 0; j < m; ++j) x = sqrt(x + 1.0f); out[i] = x;",
     [(16384, 16), (131072, 4), (1024, 256)]),
    ("exponentials", "compute", "N", "1", "1", "out",
     "float x = a[i]; for (int j = 0; j < m; ++j) x = exp(-x * x); out[i] = x;",
     [(16384, 8), (65536, 2), (2048, 64)]),
    ("waves", "compute", "N", "1", "1", "out",
     "float x = 0.0f; for (int j = 1; j <= m; ++j) x += sin(a[i] * (float)j); out[i] = x / (float)m;",
     [(8192, 16), (65536, 4), (1024, 128)]),
    ("quotients", "compute", "N", "N", "1", "out",
     "float x = a[i]; for (int j = 0; j < m; ++j) x = (x + 2.0f) / (b[i] + 3.0f); out[i] = x;",
     [(16384, 16), (65536, 4), (2048, 128)]),
    ("row_sums", "rows", "N * M", "1", "1", "out",
     "float s = 0.0f; for (int j = 0; j < m; ++j) s += a[(size_t)i * m + j]; out[i] = s / (float)m;",
     [(2048, 256), (512, 2048), (16384, 32)]),
    ("column_sums", "rows", "N * M", "1", "1", "out",
     "float s = 0.0f; for (int j = 0; j < m; ++j) s += a[(size_t)j * n + i]; out[i] = s / (float)m;",
     [(2048, 256), (512, 2048), (16384, 32)]),
    ("row_products", "rows", "N * M", "M", "1", "out",
     "float s = 0.0f; for (int j = 0; j < m; ++j) s += a[(size_t)i * m + j] * b[j]; out[i] = s / (float)m;",
     [(1024, 512), (4096, 128), (256, 4096)]),
    ("row_largest", "rows", "N * M", "1", "1", "out",
     "float s = -1.0f; for (int j = 0; j < m; ++j) { if (a[(size_t)i * m + j] > s) s = a[(size_t)i * m + j]; }"
     " out[i] = s;",
     [(1024, 512), (8192, 64), (256, 2048)]),
    ("window_means", "stencil", "N + M", "1", "1", "out",
     "float s = 0.0f; for (int j = 0; j < m; ++j) s += a[i + j]; out[i] = s / (float)m;",
     [(65536, 9), (16384, 65), (262144, 3)]),
    ("weighted_window", "stencil", "N + M", "M", "1", "out",
     "float s = 0.0f; for (int j = 0; j < m; ++j) s += a[i + j] * b[j]; out[i] = s / (float)m;",
     [(65536, 9), (16384, 65), (4096, 257)]),
    ("distances", "compute", "N", "M", "1", "out",
     "float s = 4.0f; for (int j = 0; j < m; ++j) { float d = (a[i] - b[j]) * (a[i] - b[j]);"
     " s = d < s ? d : s; } out[i] = s;",
     [(4096, 128), (16384, 32), (512, 1024)]),
    ("reversed", "stream", "N", "1", "1", "out", "out[i] = a[n - 1 - i];",
     [(65536, 1), (1048576, 1), (8192, 1)]),
    # What suits them badly.
    ("gather", "irregular", "N", "1", "N", "out", "out[i] = a[k[i] % n];",
     [(65536, 1), (524288, 1), (8192, 1)]),
    ("chase", "irregular", "1", "1", "N", "out",
     "int at = i; for (int j = 0; j < m; ++j) at = (k[at] + j) % n; out[i] = (float)at;",
     [(4096, 64), (64, 4096), (65536, 8)]),
    ("sparse_rows", "irregular", "N", "N * M", "N * M", "out",
     "float s = 0.0f; int end = m / 2 + k[i] % (m / 2 + 1); for (int j = 0; j < end; ++j)"
     " s += b[(size_t)i * m + j] * a[k[(size_t)i * m + j] % n]; out[i] = s / (float)m;",
     [(4096, 32), (16384, 8), (512, 256)]),
    ("segment_prefix", "dependence", "N * M", "1", "1", "out",
     "float s = 0.0f; float t = 0.0f; for (int j = 0; j < m; ++j) { s += a[(size_t)i * m + j];"
     " t = 0.5f * t + s; } out[i] = t / (float)m;",
     [(256, 1024), (4096, 64), (32, 8192)]),
    ("logistic", "dependence", "N", "1", "1", "out",
     "float x = 0.25f + 0.125f * a[i]; for (int j = 0; j < m; ++j) x = 2.5f * x * (1.0f - x); out[i] = x;",
     [(64, 4096), (1024, 256), (16, 16384)]),
    ("random_branches", "branches", "N", "N", "N", "out",
     "float x = a[i]; for (int j = 0; j < m; ++j) { int c = (k[i] >> (j & 15)) & 3;"
     " if (c == 0) x = x * 0.5f + b[i]; else if (c == 1) x = sqrt(x * x + 1.0f);"
     " else if (c == 2) x = x - 0.75f * b[i]; else x = 1.0f / (x * x + 1.0f); } out[i] = x;",
     [(8192, 32), (65536, 4), (1024, 256)]),
    ("collatz", "branches", "1", "1", "N", "out",
     "int x = k[i] + 1; int steps = 0; while (x > 1 && steps < m) { x = x % 2 == 0 ? x / 2 : (3 * (x & 4194303) + 1);"
     " steps += 1; } out[i] = (float)steps;",
     [(8192, 64), (65536, 16), (1024, 512)]),
    ("histogram", "contended", "1", "1", "N", "count", "ADD_TO(&count[k[i] % m], 1);",
     [(65536, 16), (524288, 256), (16384, 4096)]),
]

# Of which a second pair is derived by a condition, equal on both sides: a share of the elements takes
# a cheap way instead of the body. The bits of k (or of i) decide, XORed with a number drawn by a seed.
CHANGED = [name for name, *_ in PAIRS if name != "histogram"]
