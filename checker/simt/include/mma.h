// SPDX-License-Identifier: MIT
#error "mma.h is not on the CPU device"
