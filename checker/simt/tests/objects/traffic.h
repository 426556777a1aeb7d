// SPDX-License-Identifier: MIT
//
// traffic.cu's functions, as the test finds them in the shared object: each launches one kernel, whose counts have a
// closed form.
#pragma once

extern "C" {
// out[i] = inp[i * stride + offset]; and out[i * stride + offset] = 1
void load_strided(float* out, const float* inp, int blocks, int threads, int stride, int offset);
void store_strided(float* out, int blocks, int threads, int stride, int offset);
// bytes 1, 2, 4, 8, 16: each thread copies as many, side by side
void copy_wide(void* out, const void* inp, int threads, int bytes);
// out[i] = inp[at[i]]
void gather(float* out, const float* inp, const int* at, int threads);
// out[i] = sum of row i of inp (32, C)
void sum_rows(float* out, const float* inp, int C);
// out (n, n) is inp (n, n) turned over: directly; through tiles of 32 rows of 32 or 33 floats
void transpose_directly(float* out, const float* inp, int n);
void transpose_by_tiles(float* out, const float* inp, int n, int padded);
// out[i] = a shared array's element (i * stride) of so many bytes; the array is filled by one thread an element
void load_shared(float* out, int bytes, int stride);
void load_shared_bytes(float* out, int stride);
// thread i reads i % 32 elements, each in a column of its own
void ragged_loop(float* out, const float* inp, int times);
void ragged_loops(float* out, const float* inp);
void leave_early(float* out, const float* inp, int n);
void break_early(float* out, const float* inp);
void both_ways(float* out, const float* inp);
void by_switch(float* out, const float* inp);
// addresses: as many different ones as lanes share among them
void add_atomically(float* sums, int addresses);
void add_atomically_shared(float* out, int addresses);
void meet(float* out, int threads, int times);
void recurse(float* out, const float* inp, int uneven);
void call_by_pointer(float* out, const float* inp);
void copy_structs(float* out, const float* inp);
void store_constants(float* out);  // 32 float4s, then 32 float2s
void use_variables(float* out, float parameter);
void read_all(float* out, const float* inp, int n, int threads);
void read_twice(float* out, const float* inp);
void half_warps(float* out, const float* inp);
void sum_by_shuffles(float* out, const float* inp);
void shuffle_doubles(double* out);  // five times
void vote(int* out);               // two votes and a __syncwarp
// thread i of 64 reads inp[i * stride + k] for k = 0, 4, …, 28
void load_eight_strided(float* out, const float* inp, int stride);
// a static shared array of 96 floats beside the dynamic one
void use_two_arrays(float* out, int dynamic_floats);
// out (N, OC) = inp (N, C) · weight (C, OC), a block of 32 threads for 32 outputs of one row
void multiply(float* out, const float* inp, const float* weight, int N, int C, int OC);
// out[i] = inp[i] + inp[i + 1] + inp[i + 2], in blocks of 64
void stencil(float* out, const float* inp, int blocks);
// a copy by blocks of 32 that end in the reverse of their order
void last_block_first(float* out, const float* inp, int* flags, int blocks);
void tile_rows(float* out, const float* inp, int width);
void through_either(float* out, const float* inp);
void wait_for_a_warp(float* out, int* flag);
void read_unwritten(float* out, const float* inp);
// One float for all lanes, and one for each, in a line.
void two_shared_loads(float* out, const float* inp);
// Each lane loads a shared float before the first `lanes` lanes start two groups of asynchronous copies, one after that,
// one after the wait that leaves the newer group on its way, and two after the wait for both.
void load_beside_copies(float* out, const float* inp, int lanes);
// One ldmatrix of 1, 2 or 4 matrices, whose rows are `pitch` floats apart.
void load_matrices(float* out, int matrices, int pitch);
// Three m16n8k8 of TF32, two of whose six operands are not rounded; then one of each other mma.
void use_tensor_cores(float* out, const float* inp);
// A product of 16 x 16 x 16 halves by WMMA, whose factors are both `inp`.
void use_wmma(float* out, const float* inp);
}
