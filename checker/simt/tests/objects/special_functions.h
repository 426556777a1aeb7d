// SPDX-License-Identifier: MIT
//
// special_functions.cu's functions, as the test finds them in the shared object: each launches one kernel, and how many
// special functions it evaluates has a closed form.
#pragma once

extern "C" {
// out[i] = what a thread makes of 1 + inp[i]; evaluated() in special_functions.cu says by what. 40 threads
void evaluate(float* out, const float* inp, int what);
void evaluate_sine_and_cosine(float* out, const float* inp);
void evaluate_pairs(float* out, const float* inp);
// thread i of 32 evaluates i * times exponentials in a loop, and the odd ones a logarithm behind it
void evaluate_in_a_ragged_loop(float* out, const float* inp, int times);
// 32 threads read 20 floats each; of each a thread evaluates one of two exponentials, by no pattern among them
void evaluate_on_either_side(float* out, const float* inp);
// a tile of 128 threads combines its values by an operator with one logarithm
void evaluate_in_a_reduction(float* out, const float* inp);
// The host evaluates too, while the launch is counted: 1 exponential in each of 64 threads of so many blocks.
float evaluate_beside_the_host(float* out, const float* inp, int blocks);
}
