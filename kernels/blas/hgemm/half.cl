// What the operands are stored as: halves, which need no arithmetic of halves.
#define STORED HALF
#define READ(p, i) LOAD_HALVES(1, (p) + (i))
#define WRITE(p, i, x) STORE_HALVES(1, x, (p) + (i))
#define LOAD_STORED(w, p) LOAD_HALVES(w, p)
#define STORE_STORED(w, v, p) STORE_HALVES(w, v, p)
