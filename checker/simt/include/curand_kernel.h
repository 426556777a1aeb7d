// SPDX-License-Identifier: MIT
#error "curand_kernel.h is not on the CPU device"
