// What journals say that lie in files.
#pragma once

#include <list>
#include <vector>

#include "agent/journal/state.hpp"
#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::lives {

// Of one journal that grows, or begins anew; what was read before is not read again.
class JournalReader {
 public:
  const journal::State& read(Bytes journal);

 private:
  std::uint64_t generation_ = 0;
  std::size_t read_ = 0;
  journal::State state_;
};

// Who was announced before the last bytes of the journal among those files, or in them.
std::vector<Configuration> announced_at_end_of(const test::Files& files, std::size_t bytes);
// Who is announced in the journal among those files, for people.
std::list<journal::Dangers::OpenTrial> open_trials_in(const test::Files& files);

}  // namespace idletune::lives
