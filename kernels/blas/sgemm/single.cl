// What the operands are stored as: single precision. kernels/blas/hgemm has halves.
#define STORED float
#define READ(p, i) (p)[i]
#define WRITE(p, i, x) ((p)[i] = (x))
#define LOAD_STORED(w, p) LOAD_VECTOR(w, p)
#define STORE_STORED(w, v, p) STORE_VECTOR(w, v, p)
