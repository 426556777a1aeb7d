// SPDX-License-Identifier: MIT
//
// Arithmetic that is rounded in a stated direction: rd down, ru up, rz towards zero. Those that round to the nearest
// are in math.h.
#pragma once
#pragma GCC system_header

// function(type of the result, name without its direction, parameters, exact value, how they are passed)
#define SIMT_ROUNDED_FUNCTIONS(function)                                                                             \
    function(float, __fadd, (float x, float y), x + y, (x, y)) function(                                             \
        float, __fsub, (float x, float y), x - y, (x, y)) function(float, __fmul, (float x, float y), x* y, (x, y))  \
        function(float, __fdiv, (float x, float y), x / y, (x, y)) function(                                         \
            float, __frcp, (float x), 1 / x, (x)) function(float, __fsqrt, (float x), std::sqrt(x), (x))             \
            function(float, __fmaf, (float x, float y, float z), std::fma(x, y, z), (x, y, z)) function(             \
                double, __dadd, (double x, double y), x + y, (x, y)) function(double, __dsub,                        \
                                                                              (double x, double y), x - y, (x, y))   \
                function(double, __dmul, (double x, double y), x* y,                                                 \
                         (x, y)) function(double, __ddiv, (double x, double y), x / y,                               \
                                          (x, y)) function(double, __drcp, (double x), 1 / x, (x))                   \
                    function(double, __dsqrt, (double x), std::sqrt(x), (x))                                         \
                        function(double, __fma, (double x, double y, double z), std::fma(x, y, z),                   \
                                 (x, y, z)) function(float, __double2float, (double x), static_cast<float>(x), (x))  \
                            function(float, __int2float, (int x), static_cast<float>(x), (x))                        \
                                function(float, __uint2float, (unsigned int x), static_cast<float>(x), (x))          \
                                    function(float, __ll2float, (long long x), static_cast<float>(x), (x)) function( \
                                        float, __ull2float, (unsigned long long x), static_cast<float>(x), (x))      \
                                        function(double, __ll2double, (long long x), static_cast<double>(x), (x))    \
                                            function(double, __ull2double, (unsigned long long x),                   \
                                                     static_cast<double>(x), (x))

extern "C" {
#define SIMT_DECLARE(Real, name, parameters, value, arguments) \
    Real name##_rd parameters;                                 \
    Real name##_ru parameters;                                 \
    Real name##_rz parameters;
SIMT_ROUNDED_FUNCTIONS(SIMT_DECLARE)
#undef SIMT_DECLARE
}
