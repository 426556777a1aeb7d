// SPDX-License-Identifier: MIT
#error "cuda_awbarrier.h is not on the CPU device"
