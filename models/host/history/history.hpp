// A history: the measurements of one kernel on one device at one problem size. A file holds those
// of one problem or of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <idletune/configuration.hpp>
#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "models/host/history/cells.hpp"
#include "models/space/space.hpp"

namespace idletune {

// Of a row that has none.
inline constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

// The extra column that says how each row came to be proposed, where it was not by an exploration.
inline constexpr char kProposalColumn[] = "proposal";
inline constexpr char kUniformDraw[] = "random";  // its word for a uniform draw from the space

// The size of a space that nobody counted: larger than any that somebody could.
inline constexpr std::uint64_t kUnknownSize = 1'000'000'000'000'000'000;

// Columns of equal length, one row per measured configuration. Times are kept in the unit of their
// source (`nanoseconds_per_unit`), so that nothing is lost by converting; the functions give ns.
struct History {
  std::string kernel;
  std::string device;
  std::string driver;
  Shape shape;                      // with computed features too; empty: the source did not say
  std::vector<std::string> inputs;  // names of its dimensions, then features; empty: not known
  double nanoseconds_per_unit = 1;
  std::uint64_t valid_count = 0;  // valid configurations of the space; 0: the rows are all of them
  std::vector<std::string> constraints;  // of the space, in the source's language; empty: not known
  std::vector<CellColumn> parameters;    // at most kMaxParameters, none `absent`
  std::vector<TrialStatus> status;
  std::vector<double> run_time;      // the source's figure for the row; NaN unless correct
  std::vector<double> compile_time;  // NaN: not known
  std::vector<std::uint32_t> sample_count;
  std::vector<double> samples;     // single runs, row after row
  std::vector<CellColumn> extras;  // whatever else the source recorded per row
  std::vector<std::pair<std::string, std::string>> notes;  // and about the whole (JSON text)
  std::vector<std::string> warnings;  // what the importer met and did, one line each

  std::size_t rows() const { return status.size(); }
  bool correct(std::size_t row) const { return status[row] == TrialStatus::correct; }
  // Those that the static constraints allow, in order.
  std::vector<std::size_t> valid_rows() const;
  // The column kProposalColumn; null: nobody chose, the rows are the space or a uniform sample of
  // it.
  const CellColumn* proposals() const;
  Configuration configuration(std::size_t row) const;  // CellColumn::code per parameter
  double run_time_ns(std::size_t row) const { return run_time[row] * nanoseconds_per_unit; }
  double compile_time_ns(std::size_t row) const { return compile_time[row] * nanoseconds_per_unit; }
  std::vector<std::string> parameter_names() const;
  // Index into `samples` of each row's first one; rows() + 1 elements.
  std::vector<std::size_t> sample_offsets() const;
  std::size_t count(TrialStatus wanted) const;
  // Smallest run time of a correct row in ns; NaN if there is none.
  double best_time_ns() const;

  // Equal in everything; numbers that are not finite are equal if their bits are.
  friend bool operator==(const History& a, const History& b);
  friend bool operator!=(const History& a, const History& b) { return !(a == b); }
};

// Whether a row says something about the share of good configurations: what a search chose does
// not.
inline bool drawn_uniformly(const CellColumn* proposals, std::size_t row) {
  return proposals == nullptr ||
         (proposals->kind(row) == CellKind::text && proposals->text(row) == kUniformDraw);
}

// The measured configurations as an explicit space; row i is configuration i. Errors: those of
// Space::from_rows (a configuration measured twice, ...), naming the kernel and device.
Result<Space> space_of(const History& history);

// "M=64 mean_row=12.5", or "64x64" where names are not known.
std::string problem_text(const History& history);

// Whether one file can hold both: the same kernel, device, driver, unit and constraints, and the
// same names of inputs and parameters.
bool can_share_file(const History& a, const History& b);

// The bytes of an .ithistory file. The histories, at least one, must be consistent (equal column
// lengths), and each must be able to share a file with the first. Of one problem without features
// it is a file of version 1, else of version 2, which older readers refuse.
std::vector<std::uint8_t> write_histories(Span<const History> histories);
std::vector<std::uint8_t> write_history(const History& history);

// Reads them back, in their order; equal to what was written, but that of many problems each has
// those further columns that have values there, in the file's order. Trusts nothing: `corrupt`
// names the file and what is wrong, `version_mismatch` a newer format, `out_of_memory` columns
// beyond 1 GiB in all.
Result<std::vector<History>> read_histories(Bytes bytes, const std::string& name);
// Of a file of one problem; `unsupported` if there are more.
Result<History> read_history(Bytes bytes, const std::string& name);

}  // namespace idletune
