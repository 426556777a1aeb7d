// SPDX-License-Identifier: MIT
//
// The runtime's functions that cooperative groups call.
#pragma once
#pragma GCC system_header

namespace simt {

void sync_grid();          // every thread of a cooperative launch must come
bool launched_together();  // whether the launch is a cooperative one
void sync_group(unsigned int mask);
unsigned int group_ballot(unsigned int mask, int predicate);
int group_any(unsigned int mask, int predicate);
int group_all(unsigned int mask, int predicate);
// Reports that a group has no thread of that rank, so that its value is undefined.
void no_such_rank(unsigned int rank, unsigned int threads);
// Ends the launch with a finding if a tile cannot have so many threads.
void check_tile(unsigned int threads);

}  // namespace simt
