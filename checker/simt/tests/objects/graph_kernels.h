// SPDX-License-Identifier: MIT
//
// The kernels of graph_kernels.cu, by their addresses.
#pragma once

extern "C" {
void* add_kernel();   // (int* out, int value): out[i] += value, for each thread of the grid
void* grid_kernel();  // (int* out): a grid's barrier; then out[0] is the number of blocks
}
