// SPDX-License-Identifier: MIT
#include "checker/simt/include/simt/rounding.h"

#include <cfenv>
#include <cmath>

namespace {

// The mode of rounding while it lives.
class Rounding {
  public:
    explicit Rounding(int mode) { std::fesetround(mode); }
    ~Rounding() { std::fesetround(FE_TONEAREST); }
    Rounding(const Rounding&) = delete;
    Rounding& operator=(const Rounding&) = delete;
};

}  // namespace

// noipa: a compiler that saw the arithmetic would move it out of the mode that it is meant for.
#define SIMT_DEFINE(Real, name, parameters, value, arguments)              \
    __attribute__((noipa)) static Real name##_in_current_mode parameters { \
        return value;                                                      \
    }                                                                      \
    Real name##_rd parameters {                                            \
        const Rounding down(FE_DOWNWARD);                                  \
        return name##_in_current_mode arguments;                           \
    }                                                                      \
    Real name##_ru parameters {                                            \
        const Rounding up(FE_UPWARD);                                      \
        return name##_in_current_mode arguments;                           \
    }                                                                      \
    Real name##_rz parameters {                                            \
        const Rounding towards_zero(FE_TOWARDZERO);                        \
        return name##_in_current_mode arguments;                           \
    }
extern "C" {
SIMT_ROUNDED_FUNCTIONS(SIMT_DEFINE)
}
#undef SIMT_DEFINE
