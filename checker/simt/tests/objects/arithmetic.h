// SPDX-License-Identifier: MIT
//
// arithmetic.cu's functions, as the test finds them in the shared object: each launches one kernel, and how many
// floating-point operations it takes has a closed form.
#pragma once

extern "C" {
// 64 threads, each with n products that are added up
void dot(float* out, const float* inp, int n);
// n x n, 32 x 8 threads a block; n is a multiple of 32. The second keeps tiles in shared memory, the third 4 x 4 sums in
// the registers of each of 8 x 8 threads
void naive_product(float* out, const float* a, const float* b, int n);
void tiled_product(float* out, const float* a, const float* b, int n);
void register_tiled_product(float* out, const float* a, const float* b, int n);
void normalise_rows(float* out, const float* inp, const float* weight, const float* bias, int rows, int C);
void gelu_with_literals(float* out, const float* inp, int n);
// thread i of 32 adds up i * times of its numbers, or squares its own number as often
void add_raggedly(float* out, const float* inp, int times);
void square_raggedly(float* out, const float* inp, int times);
void go_either_way(float* out, const float* inp);
void two_sizes_on_one_line(float* out, const float* inp, int n);
void of_doubles(float* out, const float* inp, int n);
void conversions_alone(float* out, const float* inp);
void unfused(float* out, const float* inp);
void fused_in_three_ways(float* out, const float* inp);
void comparisons_and_quotients(float* out, const float* inp);
void of_halves(float* out, const float* inp);
void special_functions_alone(float* out, const float* inp);
void reduced_by_a_tile(float* out, const float* inp);
void by_recursion(float* out, const float* inp, int depth);
void by_a_function_that_is_called(float* out, const float* inp);
void copied(float* out, const float* inp);
void checked_indices(float* out, const float* inp, int n);
void with_many_values_alive(float* out, const float* inp, int n);
float beside_the_host(float* out, const float* inp, int blocks);
}
