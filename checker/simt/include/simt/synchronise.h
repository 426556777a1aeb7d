// SPDX-License-Identifier: MIT
//
// Barriers and fences.
#pragma once
#pragma GCC system_header

extern "C" {
// Every thread of the block that has not exited must come; all at the same line.
void __syncthreads();
int __syncthreads_count(int predicate);  // in how many threads the predicate is not 0
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);

// Every lane of the mask that has not exited must come.
void __syncwarp(unsigned int mask = 0xffffffffU);

void __threadfence_block();
void __threadfence();
void __threadfence_system();
}
