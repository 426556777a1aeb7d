// SPDX-License-Identifier: MIT
//
// The op's file with the sizes of the namespace that includes this, and what the tuner must know of it. Included once for
// each candidate, hence no include guard.
#include MATMUL_FILE

inline Tile told() {
    return {.block_n = kBlockN,
            .block_oc = kBlockOC,
            .thread_n = kThreadN,
            .thread_oc = kThreadOC,
            .step = kStep,
            .async = kAsync,
            .threads = kThreads,
            .run = matmul,
            .kernel = reinterpret_cast<const void*>(matmul_forward_kernel)};
}
