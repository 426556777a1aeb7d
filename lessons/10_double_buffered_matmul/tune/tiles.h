// SPDX-License-Identifier: MIT
//
// The sizes that `make tune-lesson10` tries, each in a namespace of its own into which the op's file is included: there it
// finds them in place of its own, which make has left out. One more candidate is one more namespace, and its line in kTiles.
#pragma once

#include "checker/ptx.h"
#include "lessons/gpt2/launch.h"
#include "lessons/gpt2/ops.h"

// A candidate, as tile.h tells it.
struct Tile {
    int block_n, block_oc, thread_n, thread_oc, step;
    bool async;
    int threads;
    decltype(&::matmul) run;
    const void* kernel;
};

namespace tile_0 {
constexpr int kBlockN = 128, kBlockOC = 128, kThreadN = 8, kThreadOC = 8, kStep = 16;
constexpr bool kAsync = true;
#include "lessons/10_double_buffered_matmul/tune/tile.h"
}  // namespace tile_0

namespace tile_1 {
constexpr int kBlockN = 128, kBlockOC = 64, kThreadN = 8, kThreadOC = 8, kStep = 16;
constexpr bool kAsync = true;
#include "lessons/10_double_buffered_matmul/tune/tile.h"
}  // namespace tile_1

namespace tile_2 {
constexpr int kBlockN = 64, kBlockOC = 64, kThreadN = 4, kThreadOC = 8, kStep = 16;
constexpr bool kAsync = true;
#include "lessons/10_double_buffered_matmul/tune/tile.h"
}  // namespace tile_2

namespace tile_3 {
constexpr int kBlockN = 128, kBlockOC = 128, kThreadN = 8, kThreadOC = 8, kStep = 8;
constexpr bool kAsync = false;
#include "lessons/10_double_buffered_matmul/tune/tile.h"
}  // namespace tile_3

namespace tile_4 {
constexpr int kBlockN = 64, kBlockOC = 64, kThreadN = 4, kThreadOC = 8, kStep = 16;
constexpr bool kAsync = false;
#include "lessons/10_double_buffered_matmul/tune/tile.h"
}  // namespace tile_4

inline const Tile kTiles[] = {tile_0::told(), tile_1::told(), tile_2::told(), tile_3::told(), tile_4::told()};
