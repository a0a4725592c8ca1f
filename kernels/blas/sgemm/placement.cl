// Where the operands of C = alpha op(A) op(B) + beta C lie; every member of the family begins with
// this. All matrices are row-major, op(A) is M x K, op(B) K x N. `form` holds flags:
#define TURNED_A(form) ((form) & 1)         // A is stored K x M
#define TURNED_B(form) (((form) >> 1) & 1)  // B is stored N x K
#define SCATTERED(form) ((form) & 4)        // `table` holds three offsets per product: A, B, C
// The same A (8), or B (16), for all products.
#define PANELS_A(form) ((form) & 32)  // A, B is stored in panels: PANEL rows of op(A), or columns of
#define PANELS_B(form) ((form) & 64)  // op(B), side by side at each depth, that rounded up to PANEL
#define PANEL 16
#define PANEL_DEPTH(k) (((k) + PANEL - 1) / PANEL * PANEL)

// Row (or column) `index` of an operand at depth 0: `step` apart, or in panels of that depth.
FUNCTION size_t begin_of(const int panels, const int index, const size_t step) {
  const int lane = panels ? index % PANEL : 0;
  return (size_t)(index - lane) * step + lane;
}

// Where operand 0, 1, 2 (A, B, C) of the group's product begins: `size` elements and `step` further
// ones from product to product.
FUNCTION size_t place(const int operand, const int form, const long size, const long offset,
                      const long step, const GLOBAL long* table, const int product) {
  const long dense = ((form >> operand) & 8) != 0 && operand < 2 ? 0 : size;
  const long at = offset + product * (dense + step);
  return (size_t)(SCATTERED(form) ? at + table[3 * (size_t)product + operand] : at);
}
