// Which of a few variants is the fastest, by the times of runs that are made anyway. Pure logic: no
// clock, no device, no allocation. One thread at a time.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <idletune/device.hpp>

namespace idletune {

// What is typical of some times. Where they have two kinds, in cold and in warm caches, the lower
// quartile is of the faster kind, if that is a third of them.
enum class Estimator : std::size_t { minimum = 16, lower_quartile = 4, median = 2 };

// The last few times of one thing.
class RecentTimes {
 public:
  static constexpr std::size_t kCapacity = 15;
  void add(Nanoseconds time) {
    if (time.count() <= 0) return;
    ring_[next_] = time;
    next_ = (next_ + 1) % kCapacity;
    if (size_ < kCapacity) ++size_;
  }
  void clear() { size_ = next_ = 0; }
  std::size_t count() const { return size_; }
  // Of the `last` ones; 0 without any.
  Nanoseconds typical(Estimator estimator, std::size_t last = kCapacity) const;
  Nanoseconds median() const { return typical(Estimator::median); }
  Nanoseconds lower_quartile() const { return typical(Estimator::lower_quartile); }

 private:
  std::array<Nanoseconds, kCapacity> ring_{};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
};

// Entrants are numbered from 0, as they join. Who is hopelessly slow leaves at once; after a heat
// the best go on to the finals, in turns, since times of one moment differ by more than variants
// do; there the slower half leaves now and then, until two are left.
class Race {
 public:
  static constexpr std::size_t kMost = 16;          // entrants
  static constexpr std::size_t kIncumbent = kMost;  // what runs already, where something does
  static constexpr std::size_t kNobody = kMost + 1;
  static constexpr std::uint32_t kNever = 1u << 30;

  // Runs are counted ones of each entrant, where nothing else is said.
  struct Policy {
    Estimator estimator = Estimator::median;  // of an entrant's last times
    std::uint32_t uncounted = 0;              // first runs, in which drivers generate code
    std::uint32_t heat = kNever;              // runs; then only so many go on:
    std::size_t finalists = 2;
    std::uint32_t halving = kNever;    // runs after which half of the finalists leave
    std::uint32_t enough = kNever;     // runs after which the race is over
    std::uint32_t most_runs = kNever;  // of all together, in rounds; heats are run in any case
    // Out is who is slower than this times what runs, or else the best: in the heat, and later.
    double hopeless_in_heat = HUGE_VAL, hopeless = HUGE_VAL;
    // Something runs already. It stays unless it is beaten by the margin. Up to twice kCapacity runs
    // nobody leaves and nothing ends as long as medians or minima contradict the estimator: while a
    // clock changes some times are of the old one. What is contradicted then does not win.
    bool incumbent = false;
    double margin = 0;
  };
  // Those in the race: how many, how many counted runs all have had (UINT32_MAX: nobody is left),
  // how many have had no more than that, and whose turn it is: the first of those. Another one may
  // run instead.
  struct Field {
    std::size_t left = 0;
    std::uint32_t rounds = UINT32_MAX;
    std::size_t due = 0;
    std::size_t next = kNobody;
  };

  Race() = default;
  explicit Race(const Policy& policy) : policy_(policy) { restart(); }

  std::size_t size() const { return size_; }  // how many have joined
  // Its number; kNobody: there is no room. `prior`: its ratio to what runs, if known; else 0.
  std::size_t join(double prior = 0);
  // Out of the race, under its number, and in it again; as if it had never joined: the last one
  // takes its number.
  void leave(std::size_t i) { entrants_[i].in = false; }
  void enter(std::size_t i) { entrants_[i].in = true; }
  void remove(std::size_t i);
  // All times are forgotten. Or: who joins now runs a heat, and the others have had theirs.
  void restart();
  void reopen();

  std::size_t next() const { return field().next; }
  // Counted unless it is ahead of others: what is compared is of the same moments.
  void add(std::size_t i, Nanoseconds time);
  void ran(std::size_t i) { ++runs_, ++entrants_[i].runs; }  // with no time that counts
  void add_out_of_turn(std::size_t i, Nanoseconds time);     // a time, but no turn of its own
  // One that is to leave; kNobody: none. Never what runs, with which the others are compared.
  std::size_t loser();
  bool over() const;
  // Who wins if the race ends now: kIncumbent where it stays, kNobody where nothing was timed.
  std::size_t best() const;

  Field field() const;
  bool is_in(std::size_t i) const { return entrants_[i].in; }
  std::uint32_t runs(std::size_t i) const { return entrants_[i].runs; }
  std::uint32_t counted(std::size_t i) const { return entrants_[i].counted; }
  const RecentTimes& times(std::size_t i) const { return entrants_[i].times; }
  Nanoseconds time(std::size_t i) const { return entrants_[i].time; }  // 0: none yet
  // Its time over that of what runs; `prior` while times are missing.
  double ratio(std::size_t i) const;

 private:
  struct Entrant {
    double prior = 0;
    bool in = false;
    std::uint32_t runs = 0, counted = 0;
    Nanoseconds time{0};  // by the estimator
    RecentTimes times{};
  };
  bool hopeless(std::size_t i) const;
  bool contradicted(std::size_t faster, std::size_t slower) const;

  Policy policy_;
  std::array<Entrant, kMost + 1> entrants_;
  std::size_t size_ = 0;
  std::uint32_t runs_ = 0;
  std::size_t places_ = kNobody;  // how many may stay
  std::uint32_t cut_at_ = 0;      // the round in which they become fewer
};

}  // namespace idletune
