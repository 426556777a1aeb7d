// SPDX-License-Identifier: MIT
//
// What the table looks like when the function that it names is not there.
#include "checker/tests/fakes/fake.h"

extern "C" const FakeTable op_table = {nullptr};
