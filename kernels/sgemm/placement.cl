// Where the operands of C = alpha op(A) op(B) + beta C lie; every member of the family begins with
// this. All matrices are row-major, op(A) is M x K, op(B) K x N. `form` holds flags:
#define TURNED_A(form) ((form) & 1)         // A is stored K x M
#define TURNED_B(form) (((form) >> 1) & 1)  // B is stored N x K
#define SCATTERED(form) ((form) & 4)        // `table` holds three offsets per product: A, B, C
// The same A (8), or B (16), for all products.

// Where operand 0, 1, 2 (A, B, C) of the group's product begins: `size` elements and `step` further
// ones from product to product.
FUNCTION size_t place(const int operand, const int form, const long size, const long offset,
                      const long step, const GLOBAL long* table, const int product) {
  const long dense = ((form >> operand) & 8) != 0 && operand < 2 ? 0 : size;
  const long at = offset + product * (dense + step);
  return (size_t)(SCATTERED(form) ? at + table[3 * (size_t)product + operand] : at);
}
