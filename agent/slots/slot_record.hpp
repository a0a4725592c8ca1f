// What is known of the models on a board: a pure value, as the journal keeps it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <idletune/result.hpp>
#include <idletune/span.hpp>

#include "agent/slots/verdict.hpp"

namespace idletune::slots {

enum class Place : std::uint8_t {
  image = 0,  // the program's own file
  a = 1,      // of the state folder
  b = 2
};
inline constexpr std::uint8_t kPlaces = 3;
inline const char* place_name(Place place) {
  static constexpr const char* kNames[kPlaces] = {"program", "slot a", "slot b"};
  return kNames[static_cast<std::uint8_t>(place)];
}

struct KnownModel {
  std::uint64_t digest = 0;  // of its content; 0: there is none
  std::uint64_t generation = 0;
  Place place = Place::image;
  bool is_there() const { return digest != 0; }
};

inline constexpr std::uint32_t kYoungDeaths = 3;  // that end a trial
inline constexpr std::size_t kMostRefuted = 32;   // the oldest go first
inline constexpr std::size_t kMaxReasonBytes = 200;

// Each change is one record. One thread at a time.
struct SlotRecord {
  KnownModel confirmed;
  KnownModel trial;
  std::uint32_t young_starts = 0;  // of the trial, which have not lived for long, as far as known
  TrialCount before;               // the trial
  std::uint64_t lowest_generation = 0;
  std::vector<std::uint64_t> refuted;  // digests, the newest last
  std::string reason;                  // why the last one was gone back from
  std::uint64_t stayed[2] = {};        // digests: what was confirmed once in each slot, before

  // Where the next model is written: never over the confirmed one, nor the one on trial if there is
  // another.
  Place free_slot() const;
  bool is_refuted(std::uint64_t digest) const;
  // It needs no trial: the program's own, or once confirmed here, and not refuted.
  bool may_serve(const KnownModel& model) const;
  // Ok, or why it is refused: refuted (untrusted), or older than is allowed or than the one on trial
  // (version_mismatch).
  Status admits(const KnownModel& model) const;
  void begin_trial(const KnownModel& model, const TrialCount& so_far);
  void confirm();
  void refute_trial(const std::string& why);
  // Of the confirmed one, whose place `instead` takes, with whatever generation it has, or nothing.
  void refute_confirmed(const std::string& why, const KnownModel& instead);

  std::vector<std::uint8_t> encode() const;
  // False: not what encode() wrote, in this or a later version.
  static bool decode(Bytes bytes, SlotRecord& out);

 private:
  void refute(std::uint64_t digest, const std::string& why);
};

}  // namespace idletune::slots
