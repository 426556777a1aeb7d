// SPDX-License-Identifier: MIT
//
// The main function of a kernel of the corpus that fills one array.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdlib>
#include <type_traits>

// Calls launch(out), or launch(out, in): `out` has n zeros and `in` 0, 1, 2, … in the device's memory. Returns a program's
// exit status: success if CUDA reports no error, and `out` then holds expected(i) at each i.
template <int n, typename Launch, typename Expected = std::nullptr_t>
int run(Launch launch, [[maybe_unused]] Expected expected = nullptr) {
    constexpr bool has_input = std::is_invocable_v<Launch, int*, const int*>;
    int host[n];
    int *in = nullptr, *out = nullptr;
    if constexpr (has_input) {
        for (int i = 0; i < n; i++) { host[i] = i; }
        cudaMalloc(&in, sizeof host);
        cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    }
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    if constexpr (has_input) {
        launch(out, in);
    } else {
        launch(out);
    }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    if constexpr (has_input) {
        cudaFree(in);
    }
    cudaFree(out);
    if constexpr (!std::is_null_pointer_v<Expected>) {
        for (int i = 0; i < n; i++) {
            if (host[i] != expected(i)) {
                return EXIT_FAILURE;
            }
        }
    }
    return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
