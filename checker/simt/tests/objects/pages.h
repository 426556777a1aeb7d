// SPDX-License-Identifier: MIT
//
// pages.cu's functions, as a test finds them in the shared object.
#pragma once

extern "C" {
void copy_floats(float* out, const float* inp, int n);
void sum_halves(float* out, const short* inp, int n);
void copy_and_write_one(float* out, float* inp, int n, int writer, int one);
void read_one_of_each(float* out, const float* inp, int n, int stride, int rounds);
}
