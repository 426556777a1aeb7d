// SPDX-License-Identifier: MIT
//
// The runtime's functions that cooperative groups call.
#pragma once
#pragma GCC system_header

#include <cstddef>

namespace simt {

void sync_grid();          // every thread of a cooperative launch must come
bool launched_together();  // whether the launch is a cooperative one
void sync_group(unsigned int mask);
unsigned int group_ballot(unsigned int mask, int predicate, const char* name = "a group's ballot()");
int group_any(unsigned int mask, int predicate);
int group_all(unsigned int mask, int predicate);
// Reports that a group has no thread of that rank, so that its value is undefined.
void no_such_rank(unsigned int rank, unsigned int threads);
// Ends the launch with a finding if a tile cannot have so many threads.
void check_tile(unsigned int threads);
// Reports that a block has more threads than the memory of its tiles is for.
void too_little_tile_memory(unsigned int most, unsigned int threads);

// A barrier of the block in two steps: the phase that all threads end by arriving, and the wait for its end.
unsigned int barrier_arrive();
void barrier_wait(unsigned int phase);
// A barrier of the tile of so many threads that the calling one is in, by their number in the block. Each may give a
// value of at most 8 bytes. The result stands for those of all of them, until the thread comes again.
const void* meet_tile(unsigned int threads, const void* value = nullptr, std::size_t bytes = 0);
void value_met(const void* values, unsigned int rank, void* value, std::size_t bytes);
// Ends the launch with a finding: a cuda::barrier gets more arrivals than it expects.
void too_many_arrivals(unsigned int expected);

}  // namespace simt
