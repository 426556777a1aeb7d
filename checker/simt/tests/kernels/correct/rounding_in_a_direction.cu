// SPDX-License-Identifier: MIT
// verdict: correct
// Arithmetic that rounds down, up and towards zero, beside the exact values that lie between the results.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

constexpr int kFunctions = 9;

__global__ void round_floats(float x, float y, float z, float* down, float* up, float* towards_zero) {
#define EACH(direction, into)                                                                                   \
    into[0] = __fadd_##direction(x, y), into[1] = __fsub_##direction(x, y), into[2] = __fmul_##direction(x, y); \
    into[3] = __fdiv_##direction(x, y), into[4] = __frcp_##direction(y), into[5] = __fsqrt_##direction(z);      \
    into[6] = __fmaf_##direction(x, y, z), into[7] = __int2float_##direction(-16777217);                        \
    into[8] = __double2float_##direction(0.1);
    EACH(rd, down)
    EACH(ru, up)
    EACH(rz, towards_zero)
#undef EACH
}

__global__ void round_doubles(double x, double y, double z, double* down, double* up, double* towards_zero) {
#define EACH(direction, into)                                                                                   \
    into[0] = __dadd_##direction(x, y), into[1] = __dsub_##direction(x, y), into[2] = __dmul_##direction(x, y); \
    into[3] = __ddiv_##direction(x, y), into[4] = __drcp_##direction(y), into[5] = __dsqrt_##direction(z);      \
    into[6] = __fma_##direction(x, y, z), into[7] = __ll2double_##direction(-9007199254740993LL);               \
    into[8] = __dadd_##direction(1e308, 1e308);
    EACH(rd, down)
    EACH(ru, up)
    EACH(rz, towards_zero)
#undef EACH
}

// The exact results with more digits than the type has.
template <class Real, class Kernel>
bool holds(Kernel kernel, Real x, Real y, Real z, long double second_last, long double last) {
    Real* out = nullptr;
    Real got[3 * kFunctions];
    cudaMalloc(&out, sizeof got);
    kernel<<<1, 1>>>(x, y, z, out, out + kFunctions, out + 2 * kFunctions);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(out);
    using Wide = long double;
    const Wide exact[kFunctions] = {Wide{x} + y,
                                    Wide{x} - y,
                                    Wide{x} * y,
                                    Wide{x} / y,
                                    1 / Wide{y},
                                    std::sqrt(Wide{z}),
                                    std::fma(Wide{x}, Wide{y}, Wide{z}),
                                    second_last,
                                    last};
    for (int i = 0; i < kFunctions; i++) {
        const Real down = got[i], up = got[kFunctions + i], towards_zero = got[2 * kFunctions + i];
        const bool is_exact = static_cast<Wide>(static_cast<Real>(exact[i])) == exact[i];
        const bool holds = is_exact ? down == exact[i] && up == down && towards_zero == down
                                    : down < exact[i] && exact[i] < up && towards_zero == (exact[i] < 0 ? up : down) &&
                                          std::nextafter(down, std::numeric_limits<Real>::infinity()) == up;
        if (!holds) {
            std::printf("function %d: %.20Lg is between %a and %a, and towards zero %a\n", i, exact[i],
                        static_cast<double>(down), static_cast<double>(up), static_cast<double>(towards_zero));
            return false;
        }
    }
    return true;
}

int main() {
    for (const float x : {1.1F, -1.1F, 3e5F, -7e-5F}) {
        if (!holds<float>(round_floats, x, 0.7F, 2.3F, -16777217.0L, 0.1L)) {
            return EXIT_FAILURE;
        }
    }
    for (const double x : {1.1, -1.1}) {
        if (!holds<double>(round_doubles, x, 0.7, 2.3, -9007199254740993.0L, 2e308L)) {
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}
