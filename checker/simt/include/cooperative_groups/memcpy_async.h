// SPDX-License-Identifier: MIT
#error "cooperative_groups/memcpy_async.h is not on the CPU device"
