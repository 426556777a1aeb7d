// SPDX-License-Identifier: MIT
//
// A template for two types.
#include "checker/tests/fakes/fake.h"

template <class T>
void thrice(T* values, int N) {
    for (int i = 0; i < N; i++) { values[i] = static_cast<T>(3 * values[i]); }
}

template void thrice<float>(float*, int);
template void thrice<short>(short*, int);
