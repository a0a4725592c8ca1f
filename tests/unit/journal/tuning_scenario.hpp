// An application that tunes, restarts and dies, and what its journal promised meanwhile.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "agent/journal/journal.hpp"
#include "models/core/random.hpp"
#include "tests/unit/journal/faulty_storage.hpp"

namespace idletune::journal {

using std::chrono::nanoseconds;
using test::Disk;

// Something that must hold after a cut at a position in [from, until]: it was acknowledged at
// `from`, and at `until` the session began to change it.
struct Fact {
  std::size_t from = 0;
  std::size_t until = SIZE_MAX;
  std::function<bool(const State&)> holds;
};

// What a run on a disk was promised.
struct Promises {
  std::vector<std::size_t> acknowledged;  // positions at which everything before was on the medium
  std::vector<Fact> facts;
};

bool facts_hold(const Promises& promises, std::size_t position, const State& state);

Trial trial_of(std::int64_t kernel, std::int64_t shape, std::int64_t configuration);

// A seeded application with kills, compactions and all kinds of records.
class Scenario {
 public:
  // Deferred: the journal's writes are run now and then, and it records meanwhile.
  Scenario(std::shared_ptr<Disk> disk, std::uint64_t seed, bool with_kills, bool deferred = false);

  void run(int steps);

  Journal& journal() { return *journal_; }
  Promises& promises() { return promises_; }

 private:
  std::size_t position() const { return disk_->operations.size(); }

  void open();
  // Turns the oldest that are pending into facts.
  void acknowledge(std::size_t count = SIZE_MAX);
  void write();
  void acknowledge_if(bool durable);
  Trial any_trial();
  void step();
  void begin_trial();
  // The session lets go of an open trial: from here on a cut may or may not find it.
  void release(const TrialKey& key);
  void release_all();
  void end_trial();
  void park();
  void measure(const Trial& trial);
  void adopt();
  void quarantine();
  void expose();
  void end_exposure();
  void suspect();
  void wrong();
  void note();
  void name();
  void compact();
  Where place_of(const Trial& trial) const;
  // From here on a cut may or may not find the suspicion.
  void acquit(const Trial& trial);
  void restart();
  // The process dies, the page cache lives on. What was open is judged by the next opening.
  void kill();

  std::shared_ptr<Disk> disk_;
  Random random_;
  bool with_kills_;
  bool deferred_;
  std::unique_ptr<Journal> journal_;
  Promises promises_;
  std::vector<Fact> pending_;
  std::vector<Trial> open_;
  std::vector<std::pair<Trial, Where>> exposed_;
  std::vector<std::pair<TrialKey, std::size_t>> open_facts_;
  std::vector<std::pair<ShapeKey, std::size_t>> adoption_facts_;
  std::vector<std::pair<Trial, std::size_t>> suspect_facts_;
  nanoseconds now_{0};
  std::int64_t serial_ = 0;
  std::uint64_t boot_ = 100;
};

// A later session on the same disk.
std::unique_ptr<Journal> open_on(const std::shared_ptr<Disk>& disk, std::uint64_t boot);

// A next session that records a little of its own.
Promises use_a_little(const std::shared_ptr<Disk>& disk, Journal& journal);

}  // namespace idletune::journal
