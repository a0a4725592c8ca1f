// Warps and blocks while they run, and how instructions get at the values of a warp.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "tests/emulated_cuda/instruction.hpp"

namespace emulated_cuda {

struct Block;

struct alignas(64) CacheLine {
  unsigned char bytes[64];
};

struct Warp {
  Block* block = nullptr;
  unsigned first_thread = 0;  // in the block
  Mask exists = 0;
  Mask left = 0;               // have returned
  Mask waiting = 0;            // at a barrier
  std::uint32_t interval = 0;  // between two bar.warp.sync
  double cycles = 0;
  std::array<int, kWarpThreads> next{};  // instruction of each thread
  std::vector<CacheLine> registers;
  const unsigned char* constants = nullptr;
  std::vector<Mask> written;

  Mask alive() const { return exists & ~left; }
  Mask runnable() const { return exists & ~left & ~waiting; }
  unsigned char* values(const Operand& operand) {
    return operand.is_constant
               ? const_cast<unsigned char*>(constants) + operand.offset
               : reinterpret_cast<unsigned char*>(registers.data()) + operand.offset;
  }
};

template <class Do>
inline void for_each_thread(Mask mask, Do what) {
  if (mask == kAllThreads) {
    for (int thread = 0; thread < kWarpThreads; ++thread) what(thread);
    return;
  }
  for (; mask != 0; mask &= mask - 1) what(__builtin_ctz(mask));
}

// A thread's value in a register: the low bytes of 4 or 8. The bytes above are zero.
template <class T>
inline T value_at(const unsigned char* values, int thread) {
  T value;
  std::memcpy(&value, values + (sizeof(T) == 8 ? 8 : 4) * static_cast<std::size_t>(thread),
              sizeof(T));
  return value;
}

template <class T>
inline void set_value(unsigned char* values, int thread, T value) {
  if constexpr (sizeof(T) >= 4) {
    std::memcpy(values + sizeof(T) * static_cast<std::size_t>(thread), &value, sizeof(T));
  } else {
    std::uint32_t whole = 0;
    std::memcpy(&whole, &value, sizeof(T));
    std::memcpy(values + 4 * static_cast<std::size_t>(thread), &whole, 4);
  }
}

// As bits, whatever the register's width.
inline std::uint64_t bits_at(const unsigned char* values, bool is_wide, int thread) {
  return is_wide ? value_at<std::uint64_t>(values, thread)
                 : value_at<std::uint32_t>(values, thread);
}

inline void set_bits(unsigned char* values, bool is_wide, int thread, std::uint64_t bits) {
  if (is_wide) {
    set_value(values, thread, bits);
  } else {
    set_value(values, thread, static_cast<std::uint32_t>(bits));
  }
}

// Which threads have a predicate true.
inline Mask predicate(Warp& warp, const Operand& operand) {
  Mask mask;
  std::memcpy(&mask, warp.values(operand), sizeof mask);
  return operand.negated ? ~mask : mask;
}

inline void set_predicate(Warp& warp, const Operand& operand, Mask threads, Mask value) {
  unsigned char* place = warp.values(operand);
  Mask mask;
  std::memcpy(&mask, place, sizeof mask);
  mask = (mask & ~threads) | (value & threads);
  std::memcpy(place, &mask, sizeof mask);
}

}  // namespace emulated_cuda
