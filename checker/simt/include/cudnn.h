// SPDX-License-Identifier: MIT
#error "cudnn.h is not on the CPU device"
