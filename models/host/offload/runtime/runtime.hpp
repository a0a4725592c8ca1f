// What a profiled program calls: the pass puts these calls into its code. C names and types,
// because the calls are made by number and address alone.
#pragma once

#include <cstdint>

extern "C" {

// Read and written by the program's own code, so that most of the time no call is needed.
// Blocks of 128 bytes that were touched lately, by their number's lowest bits.
inline constexpr std::uint64_t kIdletuneRecent = 8192;
extern std::uint64_t idletune_recent_reads[kIdletuneRecent];
extern std::uint64_t idletune_recent_writes[kIdletuneRecent];
// Operations until idletune_switch() is due; and whether what happens is to be told in detail.
extern std::int64_t idletune_countdown;
extern std::uint8_t idletune_tracing;

// Before main(). The region's number is the next one; `words` are an encoded Program, `counts` has
// one number per block. `settings`: see Settings in runtime.cpp.
void idletune_register(const std::uint32_t* words, const std::uint64_t* counts,
                       const char* settings);
// A region begins, ends, or is left by an exception.
void idletune_enter(std::uint32_t region, const void* frame);
void idletune_leave(std::uint32_t region);
void idletune_thrown(std::uint32_t region);
// The countdown is below zero.
void idletune_switch();
// While tracing: control comes to a block; the block's next access.
void idletune_block(std::uint32_t block);
void idletune_access(const void* address);
// The branch at a block's end goes another way than before.
void idletune_turn(std::uint32_t block);
// A block of memory that is not among the recent ones.
void idletune_first_read(const void* address);
void idletune_first_write(const void* address);
void idletune_first_write_with_gaps(const void* address);
// Copies and fills of `bytes`, by the region's operations of those numbers; 0xffffffff: none.
void idletune_bulk(void* to, const void* from, std::uint64_t bytes, std::uint32_t load,
                   std::uint32_t store);
// See IDLETUNE_OFFLOAD_LABEL.
void idletune_offload_label(const char* label);
}
