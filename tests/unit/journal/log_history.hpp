// What a journal's file went through, told from the operations on its disk alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/journal/faulty_storage.hpp"
#include "tests/unit/journal/tuning_scenario.hpp"

namespace idletune::journal {

// What a medium's journal says; a missing journal says nothing.
struct Found {
  std::uint64_t state = 0;
  std::vector<std::uint64_t> records;
  bool readable = true;
};

Found look_at(const test::Files& files);

// The states that the log went through as the operations of a disk were asked for, and all records
// that were ever written: made from the operations alone, without the Journal class.
class History {
 public:
  explicit History(const Disk& disk);

  bool was_written(std::uint64_t record) const { return records_.count(record) != 0; }

  // Whether a medium may hold `state` after a cut at `position`, given what was acknowledged
  // before.
  bool allows(std::uint64_t state, std::size_t position, const Promises& promises) const;

 private:
  struct Moment {
    std::size_t position;
    std::uint64_t digest;
  };

  // True if it may have changed the log.
  bool replay(const test::DiskOperation& operation);

  void collect(std::size_t position);

  std::map<int, test::Content> inodes_;
  std::map<std::string, int> folder_;
  std::vector<Moment> states_;
  std::set<std::uint64_t> records_;
};

bool all_written(const Found& found, const History& history);

}  // namespace idletune::journal
