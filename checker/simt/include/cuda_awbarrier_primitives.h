// SPDX-License-Identifier: MIT
#error "cuda_awbarrier_primitives.h is not on the CPU device"
