// SPDX-License-Identifier: MIT
//
// What the stand-in for the CUDA runtime asks of a lesson's kernels as they are compiled for the CPU device.
#pragma once

#include <cstddef>

struct KernelRun {
    const char* linkage_name;  // as nvcc has it
    unsigned int grid[3], block[3];
    std::size_t dynamic_bytes;
    void** arguments;
};

// The error that the launch was refused with, or that the kernel ended with; 0 for none.
extern "C" int standin_run_kernel(const KernelRun& run);
