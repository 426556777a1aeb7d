// SPDX-License-Identifier: MIT
#error "curand.h is not on the CPU device"
