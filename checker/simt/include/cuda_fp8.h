// SPDX-License-Identifier: MIT
#error "cuda_fp8.h is not on the CPU device"
