/* What a board's firmware does all day, in small; compiled in many ways by `record`. */
enum { samples = 600, taps = 12, side = 20 };

static float signal[samples + taps], filtered[samples];
static float a[side][side], b[side][side], product[side][side];
static unsigned char text[samples];
static int histogram[32];

static unsigned state;
static unsigned draw(void) { return (state = state * 1664525u + 1013904223u) >> 16; }

static float tap(int i) { return 1.0f / (float)(3 + i); }

static void filter(void) {
  for (int i = 0; i < samples; ++i) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += signal[i + k] * tap(k);
    filtered[i] = sum;
  }
}

static void multiply(void) {
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      float sum = 0;
      for (int k = 0; k < side; ++k) sum += a[i][k] * b[k][j];
      product[i][j] = sum;
    }
  }
}

static int is_number(float x) { return x == x; }

/* A sum whose rounding errors are carried along, of what are numbers. */
static float careful_sum(const float* x, int n) {
  float sum = 1e6f, carried = 0;
  for (int i = 0; i < n; ++i) {
    if (!is_number(x[i])) continue;
    const float add = x[i] - carried, next = sum + add;
    carried = (next - sum) - add;
    sum = next;
  }
  return sum - 1e6f;
}

static unsigned count_bytes(void) {
  unsigned sum = 0;
  for (int i = 0; i < 32; ++i) histogram[i] = 0;
  for (int i = 0; i < samples; ++i) ++histogram[text[i] & 31];
  for (int i = 0; i < samples; ++i) {
    sum = (sum >> 1) + ((sum & 1) << 15) + text[i];
    sum &= 0xffff;
  }
  for (int i = 1; i < 32; ++i) sum += (unsigned)(histogram[i] > histogram[i - 1] ? i : 1);
  return sum;
}

void prepare(void) {
  state = 1;
  for (int i = 0; i < samples + taps; ++i) signal[i] = (float)(draw() % 1000) / 1000.0f;
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      a[i][j] = (float)(draw() % 100) / 50.0f;
      b[i][j] = (float)(draw() % 100) / 50.0f;
    }
  }
  for (int i = 0; i < samples; ++i) text[i] = (unsigned char)draw();
  const union {
    unsigned bits;
    float value;
  } none = {0x7fc00000u};
  signal[17] = none.value;
}

/* A float's worth each: what must come out the same to a thousandth, however it was compiled. */
void work(float out[4]) {
  filter();
  multiply();
  float sum = 0;
  for (int i = 0; i < side; ++i) sum += product[i][i];
  out[0] = careful_sum(filtered, samples);
  out[1] = sum;
  out[2] = (float)count_bytes();
  out[3] = filtered[samples - 1];
}
