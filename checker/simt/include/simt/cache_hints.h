// SPDX-License-Identifier: MIT
//
// Loads and stores with a cache hint. The hint changes no value and no count of bytes asked for.
#pragma once
#pragma GCC system_header

#define SIMT_LOAD(name)                                              \
    template <class T>                                               \
    __attribute__((always_inline)) inline T name(const T* address) { \
        return *address;                                             \
    }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#undef SIMT_LOAD
#define SIMT_STORE(name)                                                   \
    template <class T>                                                     \
    __attribute__((always_inline)) inline void name(T* address, T value) { \
        *address = value;                                                  \
    }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE
