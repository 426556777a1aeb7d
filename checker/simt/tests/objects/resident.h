// SPDX-License-Identifier: MIT
//
// resident.cu's functions, as a test finds them in the shared object, and the test's functions that its kernels call.
#pragma once

#ifdef __CUDACC__
#define DEVICE_FUNCTION __device__
#else
#define DEVICE_FUNCTION
#endif

constexpr int kSharedArrays = 3;  // a static one, a template's, the dynamic one

// Values that a block has read in one array.
struct SharedSeen {
    int own, others, own_by_offset;  // last words: its own, the next block's, its own by its offset
    int changed;                     // its own first word, into which another block has written
    unsigned last_offset;            // bytes
};

extern "C" {
// Launches blocks that write their arrays, meet, and then read their own and the next block's. `seen` has kSharedArrays
// entries per block.
void exchange_shared(SharedSeen* seen, unsigned blocks, unsigned dynamic_words);
// Launches blocks of which the one that begins last reads word 100 of its `dynamic_words`. `arrived` is 0.
void read_word_100(int* out, unsigned* arrived, unsigned blocks, unsigned dynamic_words);
int host_thread_local();
void set_host_thread_local(int value);

DEVICE_FUNCTION int read_in_block(const int* variable, unsigned block);
DEVICE_FUNCTION void write_in_block(const int* variable, unsigned block, int value);
}
