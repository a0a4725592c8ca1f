#include "kernels/krylov/formats.hpp"

#include <algorithm>
#include <utility>

namespace idletune::krylov {
namespace {

constexpr std::uint64_t kIndexBytes = 4;

std::size_t index(std::int32_t value) { return static_cast<std::size_t>(value); }

std::int32_t entries_of_row(const SparsityPattern& pattern, std::size_t row) {
  return pattern.row_start[row + 1] - pattern.row_start[row];
}

std::int32_t longest_row(const SparsityPattern& pattern) {
  std::int32_t longest = 0;
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    longest = std::max(longest, entries_of_row(pattern, row));
  }
  return longest;
}

// Offsets of the diagonals that have an entry, ascending.
std::vector<std::int32_t> diagonals_of(const SparsityPattern& pattern) {
  const std::size_t possible = index(pattern.rows) + index(pattern.columns);
  std::vector<bool> used(possible, false);
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    for (std::size_t k = index(pattern.row_start[row]); k < index(pattern.row_start[row + 1]);
         ++k) {
      used[index(pattern.column[k]) + index(pattern.rows) - row] = true;
    }
  }
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i < possible; ++i) {
    if (used[i]) offsets.push_back(static_cast<std::int32_t>(std::int64_t(i) - pattern.rows));
  }
  return offsets;
}

// The width of HYB's regular part: the largest that a third of the rows fill.
std::int32_t typical_width(const SparsityPattern& pattern) {
  std::vector<std::int32_t> rows_with(index(longest_row(pattern)) + 2, 0);
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    ++rows_with[index(entries_of_row(pattern, row))];
  }
  std::int32_t width = longest_row(pattern);
  std::int64_t filling = 0;
  for (; width > 0; --width) {
    filling += rows_with[index(width)];
    if (3 * filling >= pattern.rows) break;
  }
  return width;
}

std::uint64_t entries_beyond(const SparsityPattern& pattern, std::int32_t width) {
  std::uint64_t beyond = 0;
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    beyond += index(std::max(0, entries_of_row(pattern, row) - width));
  }
  return beyond;
}

// The rows of SELL as they stand: each kSortedRows of them by their length, the longest first.
std::vector<std::int32_t> rows_by_length(const SparsityPattern& pattern) {
  std::vector<std::uint64_t> keys;  // what is missing of the greatest length, and the row
  keys.reserve(index(pattern.rows));
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    keys.push_back((UINT64_C(0x7fffffff) - index(entries_of_row(pattern, row))) << 32 | row);
  }
  for (std::size_t begin = 0; begin < keys.size(); begin += index(kSortedRows)) {
    const std::size_t end = std::min(keys.size(), begin + index(kSortedRows));
    std::sort(&keys[begin], keys.data() + end);
  }
  std::vector<std::int32_t> rows(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) rows[i] = static_cast<std::int32_t>(keys[i]);
  return rows;
}

// Slots before each slice, and of all.
std::vector<std::uint64_t> slice_starts(const SparsityPattern& pattern,
                                        const std::vector<std::int32_t>& sorted) {
  std::vector<std::uint64_t> starts{0};
  for (std::size_t place = 0; place < sorted.size(); place += index(kSliceRows)) {
    const auto longest = index(entries_of_row(pattern, index(sorted[place])));
    starts.push_back(starts.back() + longest * index(kSliceRows));
  }
  return starts;
}

// What each format is made of; how large follows from it.
struct Layout {
  std::int32_t width = 0;
  std::vector<std::int32_t> diagonals;
  std::vector<std::int32_t> sorted;   // SELL: row of each place
  std::vector<std::uint64_t> starts;  // SELL: of slices
  std::uint64_t slots = 0;
  std::uint64_t indices = 0;
  std::uint64_t bytes(std::size_t number_bytes) const {
    return slots * number_bytes + indices * kIndexBytes;
  }
};

Layout layout_of(const SparsityPattern& pattern, SparseFormat format) {
  const std::uint64_t rows = index(pattern.rows);
  const std::uint64_t entries = pattern.entries();
  Layout layout;
  switch (format) {
    case SparseFormat::csr:
      layout.slots = entries;
      layout.indices = entries + rows + 1;
      break;
    case SparseFormat::coo:
      layout.slots = entries;
      layout.indices = 2 * entries;
      break;
    case SparseFormat::dia:
      layout.diagonals = diagonals_of(pattern);
      layout.width = static_cast<std::int32_t>(layout.diagonals.size());
      layout.slots = rows * layout.diagonals.size();
      layout.indices = layout.diagonals.size();
      break;
    case SparseFormat::ell:
      layout.width = longest_row(pattern);
      layout.slots = rows * index(layout.width);
      layout.indices = layout.slots;
      break;
    case SparseFormat::hyb: {
      layout.width = typical_width(pattern);
      const std::uint64_t rest = entries_beyond(pattern, layout.width);
      layout.slots = rows * index(layout.width) + rest;
      layout.indices = layout.slots + rest;
      break;
    }
    case SparseFormat::sell:
      layout.sorted = rows_by_length(pattern);
      layout.starts = slice_starts(pattern, layout.sorted);
      layout.slots = layout.starts.back();
      layout.indices = layout.slots + layout.starts.size() + rows;
      break;
  }
  return layout;
}

void fill_coo(const SparsityPattern& pattern, StoredPattern& stored) {
  stored.column = pattern.column;
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    stored.row.insert(stored.row.end(), index(entries_of_row(pattern, row)),
                      static_cast<std::int32_t>(row));
  }
}

void fill_dia(const SparsityPattern& pattern, std::vector<std::int32_t> diagonals,
              StoredPattern& stored) {
  stored.slot.resize(pattern.entries());
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    auto diagonal = diagonals.begin();
    for (std::size_t k = index(pattern.row_start[row]); k < index(pattern.row_start[row + 1]);
         ++k) {
      const std::int32_t offset = pattern.column[k] - static_cast<std::int32_t>(row);
      diagonal = std::lower_bound(diagonal, diagonals.end(), offset);
      const auto i = static_cast<std::size_t>(diagonal - diagonals.begin());
      stored.slot[k] = static_cast<std::int32_t>(i * index(pattern.rows) + row);
    }
  }
  stored.offset = std::move(diagonals);
}

// ELL, and HYB where rows are longer than the width.
void fill_ell(const SparsityPattern& pattern, StoredPattern& stored) {
  stored.column.assign(index(stored.slots), 0);
  stored.slot.resize(pattern.entries());
  std::size_t rest = index(pattern.rows) * index(stored.width);
  for (std::size_t row = 0; row < index(pattern.rows); ++row) {
    const std::size_t begin = index(pattern.row_start[row]);
    for (std::size_t k = begin; k < index(pattern.row_start[row + 1]); ++k) {
      std::size_t slot = (k - begin) * index(pattern.rows) + row;
      if (k - begin >= index(stored.width)) {
        slot = rest++;
        stored.row.push_back(static_cast<std::int32_t>(row));
      }
      stored.slot[k] = static_cast<std::int32_t>(slot);
      stored.column[slot] = pattern.column[k];
    }
  }
}

void fill_sell(const SparsityPattern& pattern, Layout layout, StoredPattern& stored) {
  for (const std::uint64_t start : layout.starts) {
    stored.row_start.push_back(static_cast<std::int32_t>(start));
  }
  stored.column.assign(index(stored.slots), 0);
  stored.slot.resize(pattern.entries());
  for (std::size_t place = 0; place < layout.sorted.size(); ++place) {
    const std::size_t row = index(layout.sorted[place]);
    std::size_t slot = static_cast<std::size_t>(layout.starts[place / index(kSliceRows)]) +
                       place % index(kSliceRows);
    for (std::size_t k = index(pattern.row_start[row]); k < index(pattern.row_start[row + 1]);
         ++k) {
      stored.slot[k] = static_cast<std::int32_t>(slot);
      stored.column[slot] = pattern.column[k];
      slot += index(kSliceRows);
    }
  }
  stored.row = std::move(layout.sorted);
}

}  // namespace

const char* sparse_format_name(SparseFormat format) {
  constexpr const char* kNames[kSparseFormats] = {"CSR", "COO", "DIA", "ELL", "HYB", "SELL"};
  return kNames[static_cast<std::size_t>(format)];
}

std::uint64_t stored_slots(const SparsityPattern& pattern, SparseFormat format) {
  return layout_of(pattern, format).slots;
}

std::uint64_t stored_bytes(const SparsityPattern& pattern, SparseFormat format,
                           std::size_t number_bytes) {
  return layout_of(pattern, format).bytes(number_bytes);
}

Result<StoredPattern> convert(const SparsityPattern& pattern, SparseFormat format,
                              std::size_t number_bytes, std::uint64_t limit_bytes) {
  Layout layout = layout_of(pattern, format);
  const std::uint64_t bytes = layout.bytes(number_bytes);
  if (bytes > limit_bytes || layout.slots > std::uint64_t{kMostIndices}) {
    return {StatusCode::out_of_memory,
            "%: % bytes in % slots; expected at most % bytes and % slots",
            sparse_format_name(format),
            bytes,
            layout.slots,
            limit_bytes,
            kMostIndices};
  }
  StoredPattern stored;
  stored.format = format;
  stored.rows = pattern.rows;
  stored.columns = pattern.columns;
  stored.width = layout.width;
  stored.slots = static_cast<std::int32_t>(layout.slots);
  switch (format) {
    case SparseFormat::csr:
      stored.row_start = pattern.row_start;
      stored.column = pattern.column;
      break;
    case SparseFormat::coo: fill_coo(pattern, stored); break;
    case SparseFormat::dia: fill_dia(pattern, std::move(layout.diagonals), stored); break;
    case SparseFormat::ell:
    case SparseFormat::hyb: fill_ell(pattern, stored); break;
    case SparseFormat::sell: fill_sell(pattern, std::move(layout), stored); break;
  }
  return stored;
}

}  // namespace idletune::krylov
