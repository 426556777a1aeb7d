// SPDX-License-Identifier: MIT
//
// Loads and stores with a cache hint. The hint changes no value and no count of bytes asked for.
#pragma once
#pragma GCC system_header

template <class T>
__attribute__((always_inline)) inline T __ldg(const T* address) {
    return *address;
}
template <class T>
__attribute__((always_inline)) inline T __ldca(const T* address) {
    return *address;
}
template <class T>
__attribute__((always_inline)) inline T __ldcg(const T* address) {
    return *address;
}
template <class T>
__attribute__((always_inline)) inline T __ldcs(const T* address) {
    return *address;
}
template <class T>
__attribute__((always_inline)) inline T __ldlu(const T* address) {
    return *address;
}
template <class T>
__attribute__((always_inline)) inline T __ldcv(const T* address) {
    return *address;
}
template <class T>
__attribute__((always_inline)) inline void __stwb(T* address, T value) {
    *address = value;
}
template <class T>
__attribute__((always_inline)) inline void __stcg(T* address, T value) {
    *address = value;
}
template <class T>
__attribute__((always_inline)) inline void __stcs(T* address, T value) {
    *address = value;
}
template <class T>
__attribute__((always_inline)) inline void __stwt(T* address, T value) {
    *address = value;
}
