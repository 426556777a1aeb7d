// SPDX-License-Identifier: MIT
#error "nccl.h is not on the CPU device"
