// SPDX-License-Identifier: MIT
//
// large.cu's functions, as a worker finds them in the shared object.
#pragma once

extern "C" {
void fill_rows(float* out, int M, int N);
void fill_by_few_blocks(float* out, int M, int N);
void fill_rows_by_int(float* out, int M, int N);
}
