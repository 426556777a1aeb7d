// SPDX-License-Identifier: MIT
#pragma once

#include "lessons/gpt2/tensors.h"

// The small byte-level model of reference/model/small, which is part of the program.
Parameters load_embedded_model();
