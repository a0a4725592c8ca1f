// Of entries that are sorted by their row: the first one whose row is at least `wanted`.
FUNCTION int first_of_row(const GLOBAL int* row, const int entries, const int wanted) {
  int low = 0;
  int high = entries;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (row[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
