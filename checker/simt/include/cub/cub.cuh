// SPDX-License-Identifier: MIT
#error "cub/cub.cuh is not on the CPU device"
