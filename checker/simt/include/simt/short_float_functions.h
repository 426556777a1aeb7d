// SPDX-License-Identifier: MIT
//
// The type of a 16-bit floating-point number, of a pair, and CUDA's functions of both. Included once for each format by
// cuda_fp16.h and cuda_bf16.h, which define
//   SIMT_SHORT, SIMT_PAIR  the types          SIMT_RAW, SIMT_PAIR_RAW  their bits, as CUDA names them
//   SIMT_FORMAT            a ShortFormat      SIMT_OTHER               the other format's type
//   SIMT_N(before, after)  a function's name with the format's in it: __float2 ## half ## _rn
// Pairs are passed by value, so that reading one is one access of 4 bytes, as on the GPU.
#pragma GCC system_header

struct alignas(2) SIMT_RAW {
    unsigned short x;
};
struct alignas(4) SIMT_PAIR_RAW {
    unsigned short x, y;
};

struct alignas(2) SIMT_SHORT {
  public:
    SIMT_SHORT() = default;
    constexpr SIMT_SHORT(const SIMT_RAW& raw) : bits(raw.x) {}
    explicit SIMT_SHORT(SIMT_OTHER value);
    constexpr SIMT_SHORT(float value) : bits(SIMT_FORMAT::round(value)) {}
    constexpr SIMT_SHORT(double value) : bits(SIMT_FORMAT::round(value)) {}
    constexpr SIMT_SHORT(short value) : SIMT_SHORT(simt::exact_enough(value)) {}
    constexpr SIMT_SHORT(unsigned short value) : SIMT_SHORT(simt::exact_enough(value)) {}
    constexpr SIMT_SHORT(int value) : SIMT_SHORT(simt::exact_enough(value)) {}
    constexpr SIMT_SHORT(unsigned int value) : SIMT_SHORT(simt::exact_enough(value)) {}
    constexpr SIMT_SHORT(long value) : SIMT_SHORT(simt::exact_enough(value)) {}
    constexpr SIMT_SHORT(unsigned long value) : SIMT_SHORT(simt::exact_enough(value)) {}
    constexpr SIMT_SHORT(long long value) : SIMT_SHORT(simt::exact_enough(value)) {}
    constexpr SIMT_SHORT(unsigned long long value) : SIMT_SHORT(simt::exact_enough(value)) {}

    constexpr operator SIMT_RAW() const { return {bits}; }
    constexpr operator float() const { return SIMT_FORMAT::value(bits); }
    constexpr operator bool() const { return (bits & 0x7fffU) != 0; }
    operator char() const { return integer<char>(); }
    operator signed char() const { return integer<signed char>(); }
    operator unsigned char() const { return integer<unsigned char>(); }
    operator short() const { return integer<short>(); }
    operator unsigned short() const { return integer<unsigned short>(); }
    operator int() const { return integer<int>(); }
    operator unsigned int() const { return integer<unsigned int>(); }
    operator long() const { return integer<long>(); }
    operator unsigned long() const { return integer<unsigned long>(); }
    operator long long() const { return integer<long long>(); }
    operator unsigned long long() const { return integer<unsigned long long>(); }

  protected:
    template <class T>
    T integer() const {
        return simt::to_integer<T>(SIMT_FORMAT::value(bits), simt::Rounding::zero);
    }
    unsigned short bits;
};

struct alignas(4) SIMT_PAIR {
    SIMT_SHORT x, y;
    SIMT_PAIR() = default;
    constexpr SIMT_PAIR(SIMT_SHORT x_, SIMT_SHORT y_) : x(x_), y(y_) {}
    constexpr SIMT_PAIR(const SIMT_PAIR_RAW& raw) : x(SIMT_RAW{raw.x}), y(SIMT_RAW{raw.y}) {}
    constexpr operator SIMT_PAIR_RAW() const { return {SIMT_RAW(x).x, SIMT_RAW(y).x}; }
};

// ---- bits -----------------------------------------------------------------------------------------------------------

SIMT_INLINE constexpr unsigned short SIMT_N(__, _as_ushort)(SIMT_SHORT a) {
    return SIMT_RAW(a).x;
}
SIMT_INLINE constexpr short SIMT_N(__, _as_short)(SIMT_SHORT a) {
    return static_cast<short>(SIMT_RAW(a).x);
}
SIMT_INLINE constexpr SIMT_SHORT SIMT_N(__ushort_as_, )(unsigned short bits) {
    return SIMT_RAW{bits};
}
SIMT_INLINE constexpr SIMT_SHORT SIMT_N(__short_as_, )(short bits) {
    return SIMT_RAW{static_cast<unsigned short>(bits)};
}

namespace simt {

SIMT_INLINE SIMT_SHORT rounded(const SIMT_SHORT*, double value, Rounding mode = Rounding::nearest) {
    return SIMT_RAW{SIMT_FORMAT::round(value, mode)};
}
SIMT_INLINE float value(SIMT_SHORT a) {
    return SIMT_FORMAT::value(SIMT_RAW(a).x);
}
SIMT_INLINE bool is_nan(SIMT_SHORT a) {
    return SIMT_FORMAT::is_nan(SIMT_RAW(a).x);
}
SIMT_INLINE SIMT_SHORT truth(const SIMT_SHORT*, bool holds) {
    return SIMT_SHORT(holds ? 1.0F : 0.0F);
}
SIMT_INLINE SIMT_SHORT rectified(SIMT_SHORT a) {
    return is_nan(a) || value(a) > 0 ? a : SIMT_SHORT(0.0F);
}
SIMT_INLINE SIMT_SHORT larger(SIMT_SHORT a, SIMT_SHORT b) {
    const float x = value(a), y = value(b);
    return x > y || (x == y && !std::signbit(x)) ? a : b;
}
SIMT_INLINE SIMT_SHORT smaller(SIMT_SHORT a, SIMT_SHORT b) {
    const float x = value(a), y = value(b);
    return x < y || (x == y && std::signbit(x)) ? a : b;
}
SIMT_INLINE SIMT_SHORT without_nan(SIMT_SHORT a) {
    return is_nan(a) ? SIMT_SHORT(SIMT_RAW{SIMT_FORMAT::kNan}) : a;
}

}  // namespace simt

#define SIMT_ROUNDED(...) simt::rounded(static_cast<const SIMT_SHORT*>(nullptr), __VA_ARGS__)
#define SIMT_TRUTH(...) simt::truth(static_cast<const SIMT_SHORT*>(nullptr), __VA_ARGS__)

// ---- conversions ----------------------------------------------------------------------------------------------------

SIMT_INLINE SIMT_SHORT SIMT_N(__double2, )(double a) {
    return SIMT_ROUNDED(a);
}
SIMT_INLINE SIMT_SHORT SIMT_N(__float2, )(float a) {
    return SIMT_ROUNDED(a);
}
SIMT_INLINE SIMT_SHORT SIMT_N(__float2, _rn)(float a) {
    return SIMT_ROUNDED(a);
}
SIMT_INLINE SIMT_SHORT SIMT_N(__float2, _rz)(float a) {
    return SIMT_ROUNDED(a, simt::Rounding::zero);
}
SIMT_INLINE SIMT_SHORT SIMT_N(__float2, _rd)(float a) {
    return SIMT_ROUNDED(a, simt::Rounding::down);
}
SIMT_INLINE SIMT_SHORT SIMT_N(__float2, _ru)(float a) {
    return SIMT_ROUNDED(a, simt::Rounding::up);
}
SIMT_INLINE float SIMT_N(__, 2float)(SIMT_SHORT a) {
    return simt::value(a);
}

#define SIMT_INTEGER(name, type)                                                \
    SIMT_INLINE SIMT_SHORT SIMT_N(__##name##2, _rn)(type a) {                   \
        return SIMT_ROUNDED(simt::exact_enough(a));                             \
    }                                                                           \
    SIMT_INLINE SIMT_SHORT SIMT_N(__##name##2, _rz)(type a) {                   \
        return SIMT_ROUNDED(simt::exact_enough(a), simt::Rounding::zero);       \
    }                                                                           \
    SIMT_INLINE SIMT_SHORT SIMT_N(__##name##2, _rd)(type a) {                   \
        return SIMT_ROUNDED(simt::exact_enough(a), simt::Rounding::down);       \
    }                                                                           \
    SIMT_INLINE SIMT_SHORT SIMT_N(__##name##2, _ru)(type a) {                   \
        return SIMT_ROUNDED(simt::exact_enough(a), simt::Rounding::up);         \
    }                                                                           \
    SIMT_INLINE type SIMT_N(__, 2##name##_rn)(SIMT_SHORT a) {                   \
        return simt::to_integer<type>(simt::value(a), simt::Rounding::nearest); \
    }                                                                           \
    SIMT_INLINE type SIMT_N(__, 2##name##_rz)(SIMT_SHORT a) {                   \
        return simt::to_integer<type>(simt::value(a), simt::Rounding::zero);    \
    }                                                                           \
    SIMT_INLINE type SIMT_N(__, 2##name##_rd)(SIMT_SHORT a) {                   \
        return simt::to_integer<type>(simt::value(a), simt::Rounding::down);    \
    }                                                                           \
    SIMT_INLINE type SIMT_N(__, 2##name##_ru)(SIMT_SHORT a) {                   \
        return simt::to_integer<type>(simt::value(a), simt::Rounding::up);      \
    }
SIMT_INTEGER(short, short)
SIMT_INTEGER(ushort, unsigned short)
SIMT_INTEGER(int, int)
SIMT_INTEGER(uint, unsigned int)
SIMT_INTEGER(ll, long long)
SIMT_INTEGER(ull, unsigned long long)
#undef SIMT_INTEGER
SIMT_INLINE signed char SIMT_N(__, 2char_rz)(SIMT_SHORT a) {
    return simt::to_integer<signed char>(simt::value(a), simt::Rounding::zero);
}
SIMT_INLINE unsigned char SIMT_N(__, 2uchar_rz)(SIMT_SHORT a) {
    return simt::to_integer<unsigned char>(simt::value(a), simt::Rounding::zero);
}

// ---- pairs and their halves -----------------------------------------------------------------------------------------

SIMT_INLINE SIMT_PAIR SIMT_N(make_, 2)(SIMT_SHORT x, SIMT_SHORT y) {
    return {x, y};
}
SIMT_INLINE SIMT_PAIR SIMT_N(__float2, 2_rn)(float a) {
    return {SIMT_ROUNDED(a), SIMT_ROUNDED(a)};
}
SIMT_INLINE SIMT_PAIR SIMT_N(__floats2, 2_rn)(float x, float y) {
    return {SIMT_ROUNDED(x), SIMT_ROUNDED(y)};
}
SIMT_INLINE SIMT_PAIR SIMT_N(__float22, 2_rn)(float2 a) {
    return {SIMT_ROUNDED(a.x), SIMT_ROUNDED(a.y)};
}
SIMT_INLINE float2 SIMT_N(__, 22float2)(SIMT_PAIR a) {
    return {simt::value(a.x), simt::value(a.y)};
}
SIMT_INLINE float __low2float(SIMT_PAIR a) {
    return simt::value(a.x);
}
SIMT_INLINE float __high2float(SIMT_PAIR a) {
    return simt::value(a.y);
}
SIMT_INLINE SIMT_SHORT SIMT_N(__low2, )(SIMT_PAIR a) {
    return a.x;
}
SIMT_INLINE SIMT_SHORT SIMT_N(__high2, )(SIMT_PAIR a) {
    return a.y;
}
SIMT_INLINE SIMT_PAIR SIMT_N(__low2, 2)(SIMT_PAIR a) {
    return {a.x, a.x};
}
SIMT_INLINE SIMT_PAIR SIMT_N(__high2, 2)(SIMT_PAIR a) {
    return {a.y, a.y};
}
SIMT_INLINE SIMT_PAIR SIMT_N(__lows2, 2)(SIMT_PAIR a, SIMT_PAIR b) {
    return {a.x, b.x};
}
SIMT_INLINE SIMT_PAIR SIMT_N(__highs2, 2)(SIMT_PAIR a, SIMT_PAIR b) {
    return {a.y, b.y};
}
SIMT_INLINE SIMT_PAIR SIMT_N(__halves2, 2)(SIMT_SHORT x, SIMT_SHORT y) {
    return {x, y};
}
SIMT_INLINE SIMT_PAIR __lowhigh2highlow(SIMT_PAIR a) {
    return {a.y, a.x};
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

#define SIMT_PAIRWISE2(pair, single)                       \
    SIMT_INLINE SIMT_PAIR pair(SIMT_PAIR a, SIMT_PAIR b) { \
        return {single(a.x, b.x), single(a.y, b.y)};       \
    }
#define SIMT_PAIRWISE3(pair, single)                                    \
    SIMT_INLINE SIMT_PAIR pair(SIMT_PAIR a, SIMT_PAIR b, SIMT_PAIR c) { \
        return {single(a.x, b.x, c.x), single(a.y, b.y, c.y)};          \
    }
// An operation, its form that is never fused with another one (here nothing ever is), and the form that saturates.
#define SIMT_ARITHMETIC(name, exact)                                \
    SIMT_INLINE SIMT_SHORT name(SIMT_SHORT a, SIMT_SHORT b) {       \
        return SIMT_ROUNDED(exact);                                 \
    }                                                               \
    SIMT_INLINE SIMT_SHORT name##_rn(SIMT_SHORT a, SIMT_SHORT b) {  \
        return SIMT_ROUNDED(exact);                                 \
    }                                                               \
    SIMT_INLINE SIMT_SHORT name##_sat(SIMT_SHORT a, SIMT_SHORT b) { \
        return SIMT_ROUNDED(simt::saturated(exact));                \
    }                                                               \
    SIMT_PAIRWISE2(name##2, name)                                   \
    SIMT_PAIRWISE2(name##2_rn, name##_rn)                           \
    SIMT_PAIRWISE2(name##2_sat, name##_sat)
SIMT_ARITHMETIC(__hadd, simt::exact_enough_fma(simt::value(a), 1, simt::value(b)))
SIMT_ARITHMETIC(__hsub, simt::exact_enough_fma(simt::value(a), 1, -simt::value(b)))
SIMT_ARITHMETIC(__hmul, double{simt::value(a)} * simt::value(b))
#undef SIMT_ARITHMETIC
// The quotient of numbers of 11 digits is no tie of theirs unless it is exact, and double keeps it from becoming one.
SIMT_INLINE SIMT_SHORT __hdiv(SIMT_SHORT a, SIMT_SHORT b) {
    return SIMT_ROUNDED(double{simt::value(a)} / simt::value(b));
}
SIMT_INLINE SIMT_SHORT __hfma(SIMT_SHORT a, SIMT_SHORT b, SIMT_SHORT c) {
    return SIMT_ROUNDED(simt::exact_enough_fma(simt::value(a), simt::value(b), simt::value(c)));
}
SIMT_INLINE SIMT_SHORT __hfma_sat(SIMT_SHORT a, SIMT_SHORT b, SIMT_SHORT c) {
    return SIMT_ROUNDED(simt::saturated(simt::exact_enough_fma(simt::value(a), simt::value(b), simt::value(c))));
}
SIMT_INLINE SIMT_SHORT __hfma_relu(SIMT_SHORT a, SIMT_SHORT b, SIMT_SHORT c) {
    return simt::rectified(__hfma(a, b, c));
}
SIMT_INLINE SIMT_SHORT __hneg(SIMT_SHORT a) {
    return SIMT_RAW{static_cast<unsigned short>(SIMT_RAW(a).x ^ SIMT_FORMAT::kSign)};
}
SIMT_INLINE SIMT_SHORT __habs(SIMT_SHORT a) {
    return SIMT_RAW{static_cast<unsigned short>(SIMT_RAW(a).x & ~SIMT_FORMAT::kSign)};
}
// The larger; a NaN loses, and -0 is smaller than +0.
SIMT_INLINE SIMT_SHORT __hmax(SIMT_SHORT a, SIMT_SHORT b) {
    return simt::without_nan(simt::is_nan(a) ? b : simt::is_nan(b) ? a : simt::larger(a, b));
}
SIMT_INLINE SIMT_SHORT __hmin(SIMT_SHORT a, SIMT_SHORT b) {
    return simt::without_nan(simt::is_nan(a) ? b : simt::is_nan(b) ? a : simt::smaller(a, b));
}
// The larger; a NaN wins.
SIMT_INLINE SIMT_SHORT __hmax_nan(SIMT_SHORT a, SIMT_SHORT b) {
    return simt::without_nan(simt::is_nan(a) ? a : simt::is_nan(b) ? b : simt::larger(a, b));
}
SIMT_INLINE SIMT_SHORT __hmin_nan(SIMT_SHORT a, SIMT_SHORT b) {
    return simt::without_nan(simt::is_nan(a) ? a : simt::is_nan(b) ? b : simt::smaller(a, b));
}

SIMT_PAIRWISE2(__h2div, __hdiv)
SIMT_PAIRWISE2(__hmax2, __hmax)
SIMT_PAIRWISE2(__hmin2, __hmin)
SIMT_PAIRWISE2(__hmax2_nan, __hmax_nan)
SIMT_PAIRWISE2(__hmin2_nan, __hmin_nan)
SIMT_PAIRWISE3(__hfma2, __hfma)
SIMT_PAIRWISE3(__hfma2_sat, __hfma_sat)
SIMT_PAIRWISE3(__hfma2_relu, __hfma_relu)
#undef SIMT_PAIRWISE2
#undef SIMT_PAIRWISE3
SIMT_INLINE SIMT_PAIR __hneg2(SIMT_PAIR a) {
    return {__hneg(a.x), __hneg(a.y)};
}
SIMT_INLINE SIMT_PAIR __habs2(SIMT_PAIR a) {
    return {__habs(a.x), __habs(a.y)};
}
// a * b + c of complex numbers, real part first.
SIMT_INLINE SIMT_PAIR __hcmadd(SIMT_PAIR a, SIMT_PAIR b, SIMT_PAIR c) {
    return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

// ---- comparison -----------------------------------------------------------------------------------------------------

// __heq and its kin; with u, also true where one is NaN; of pairs: as 1.0 and 0.0, as masks, and whether both hold.
#define SIMT_COMPARISON(name, operation)                                                              \
    SIMT_INLINE bool __h##name(SIMT_SHORT a, SIMT_SHORT b) {                                          \
        return !simt::is_nan(a) && !simt::is_nan(b) && simt::value(a) operation simt::value(b);       \
    }                                                                                                 \
    SIMT_INLINE bool __h##name##u(SIMT_SHORT a, SIMT_SHORT b) {                                       \
        return simt::is_nan(a) || simt::is_nan(b) || simt::value(a) operation simt::value(b);         \
    }                                                                                                 \
    SIMT_INLINE SIMT_PAIR __h##name##2(SIMT_PAIR a, SIMT_PAIR b) {                                    \
        return {SIMT_TRUTH(__h##name(a.x, b.x)), SIMT_TRUTH(__h##name(a.y, b.y))};                    \
    }                                                                                                 \
    SIMT_INLINE SIMT_PAIR __h##name##u2(SIMT_PAIR a, SIMT_PAIR b) {                                   \
        return {SIMT_TRUTH(__h##name##u(a.x, b.x)), SIMT_TRUTH(__h##name##u(a.y, b.y))};              \
    }                                                                                                 \
    SIMT_INLINE unsigned int __h##name##2_mask(SIMT_PAIR a, SIMT_PAIR b) {                            \
        return (__h##name(a.x, b.x) ? 0xffffU : 0U) | (__h##name(a.y, b.y) ? 0xffff0000U : 0U);       \
    }                                                                                                 \
    SIMT_INLINE unsigned int __h##name##u2_mask(SIMT_PAIR a, SIMT_PAIR b) {                           \
        return (__h##name##u(a.x, b.x) ? 0xffffU : 0U) | (__h##name##u(a.y, b.y) ? 0xffff0000U : 0U); \
    }                                                                                                 \
    SIMT_INLINE bool __hb##name##2(SIMT_PAIR a, SIMT_PAIR b) {                                        \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                            \
    }                                                                                                 \
    SIMT_INLINE bool __hb##name##u2(SIMT_PAIR a, SIMT_PAIR b) {                                       \
        return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y);                                      \
    }
SIMT_COMPARISON(eq, ==)
SIMT_COMPARISON(ne, !=)
SIMT_COMPARISON(lt, <)
SIMT_COMPARISON(le, <=)
SIMT_COMPARISON(gt, >)
SIMT_COMPARISON(ge, >=)
#undef SIMT_COMPARISON
SIMT_INLINE bool __hisnan(SIMT_SHORT a) {
    return simt::is_nan(a);
}
SIMT_INLINE int __hisinf(SIMT_SHORT a) {
    const unsigned short bits = SIMT_RAW(a).x;
    return bits == SIMT_FORMAT::kInfinity ? 1 : bits == (SIMT_FORMAT::kInfinity | SIMT_FORMAT::kSign) ? -1 : 0;
}
SIMT_INLINE SIMT_PAIR __hisnan2(SIMT_PAIR a) {
    return {SIMT_TRUTH(__hisnan(a.x)), SIMT_TRUTH(__hisnan(a.y))};
}

// ---- operators ------------------------------------------------------------------------------------------------------

#define SIMT_OPERATOR(symbol, single, pair)                                   \
    SIMT_INLINE SIMT_SHORT operator symbol(SIMT_SHORT a, SIMT_SHORT b) {      \
        return single(a, b);                                                  \
    }                                                                         \
    SIMT_INLINE SIMT_PAIR operator symbol(SIMT_PAIR a, SIMT_PAIR b) {         \
        return pair(a, b);                                                    \
    }                                                                         \
    SIMT_INLINE SIMT_SHORT& operator symbol##=(SIMT_SHORT& a, SIMT_SHORT b) { \
        return a = single(a, b);                                              \
    }                                                                         \
    SIMT_INLINE SIMT_PAIR& operator symbol##=(SIMT_PAIR& a, SIMT_PAIR b) {    \
        return a = pair(a, b);                                                \
    }
SIMT_OPERATOR(+, __hadd, __hadd2)
SIMT_OPERATOR(-, __hsub, __hsub2)
SIMT_OPERATOR(*, __hmul, __hmul2)
SIMT_OPERATOR(/, __hdiv, __h2div)
#undef SIMT_OPERATOR
#define SIMT_OPERATOR(symbol, single, pair)                        \
    SIMT_INLINE bool operator symbol(SIMT_SHORT a, SIMT_SHORT b) { \
        return single(a, b);                                       \
    }                                                              \
    SIMT_INLINE bool operator symbol(SIMT_PAIR a, SIMT_PAIR b) {   \
        return pair(a, b);                                         \
    }
SIMT_OPERATOR(==, __heq, __hbeq2)
SIMT_OPERATOR(!=, __hneu, __hbneu2)
SIMT_OPERATOR(<, __hlt, __hblt2)
SIMT_OPERATOR(<=, __hle, __hble2)
SIMT_OPERATOR(>, __hgt, __hbgt2)
SIMT_OPERATOR(>=, __hge, __hbge2)
#undef SIMT_OPERATOR
SIMT_INLINE SIMT_SHORT operator+(SIMT_SHORT a) {
    return a;
}
SIMT_INLINE SIMT_SHORT operator-(SIMT_SHORT a) {
    return __hneg(a);
}
SIMT_INLINE SIMT_PAIR operator+(SIMT_PAIR a) {
    return a;
}
SIMT_INLINE SIMT_PAIR operator-(SIMT_PAIR a) {
    return __hneg2(a);
}
#define SIMT_STEP(T, symbol, operation, one)   \
    SIMT_INLINE T& operator symbol(T& a) {     \
        return a = operation(a, one);          \
    }                                          \
    SIMT_INLINE T operator symbol(T& a, int) { \
        const T before = a;                    \
        symbol a;                              \
        return before;                         \
    }
SIMT_STEP(SIMT_SHORT, ++, __hadd, SIMT_SHORT(1.0F))
SIMT_STEP(SIMT_SHORT, --, __hsub, SIMT_SHORT(1.0F))
SIMT_STEP(SIMT_PAIR, ++, __hadd2, SIMT_PAIR(SIMT_SHORT(1.0F), SIMT_SHORT(1.0F)))
SIMT_STEP(SIMT_PAIR, --, __hsub2, SIMT_PAIR(SIMT_SHORT(1.0F), SIMT_SHORT(1.0F)))
#undef SIMT_STEP

// ---- mathematics ----------------------------------------------------------------------------------------------------

#define SIMT_FUNCTION(name, expression)            \
    SIMT_INLINE SIMT_SHORT h##name(SIMT_SHORT a) { \
        const double x = simt::value(a);           \
        return SIMT_ROUNDED(expression);           \
    }                                              \
    SIMT_INLINE SIMT_PAIR h2##name(SIMT_PAIR a) {  \
        return {h##name(a.x), h##name(a.y)};       \
    }
SIMT_FUNCTION(ceil, std::ceil(x))
SIMT_FUNCTION(floor, std::floor(x))
SIMT_FUNCTION(trunc, std::trunc(x))
SIMT_FUNCTION(rint, std::nearbyint(x))
SIMT_FUNCTION(rcp, 1 / x)
#define SIMT_SPECIAL(name, exact) SIMT_FUNCTION(name, (simt::special_function(), simt::uncounted::exact))
SIMT_SPECIAL(sqrt, sqrt(x))
SIMT_FUNCTION(rsqrt, (simt::special_function(), 1 / simt::uncounted::sqrt(x)))
SIMT_SPECIAL(exp, exp(x))
SIMT_SPECIAL(exp2, exp2(x))
SIMT_SPECIAL(exp10, pow(10.0, x))
SIMT_SPECIAL(log, log(x))
SIMT_SPECIAL(log2, log2(x))
SIMT_SPECIAL(log10, log10(x))
SIMT_SPECIAL(sin, sin(x))
SIMT_SPECIAL(cos, cos(x))
SIMT_SPECIAL(tanh, tanh(x))
SIMT_SPECIAL(tanh_approx, tanh(x))
#undef SIMT_SPECIAL
#undef SIMT_FUNCTION
#undef SIMT_ROUNDED
#undef SIMT_TRUTH

// ---- atomics --------------------------------------------------------------------------------------------------------

SIMT_INLINE SIMT_SHORT atomicAdd(SIMT_SHORT* address, SIMT_SHORT addend) {
    return SIMT_RAW{simt::atomic_add<SIMT_FORMAT>(reinterpret_cast<std::uint16_t*>(address), SIMT_RAW(addend).x)};
}
SIMT_INLINE SIMT_PAIR atomicAdd(SIMT_PAIR* address, SIMT_PAIR addend) {
    const SIMT_PAIR_RAW raw = addend;
    return simt::bit_cast<SIMT_PAIR_RAW>(simt::atomic_add_pair<SIMT_FORMAT>(
        reinterpret_cast<std::uint32_t*>(address), raw.x | static_cast<std::uint32_t>(raw.y) << 16));
}
