// SPDX-License-Identifier: MIT
#include "lessons/gpt2/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace {

bool aligned(const float* p) {
    return reinterpret_cast<std::uintptr_t>(p) % 64 == 0;
}

}  // namespace

TEST(Context, HasOneThreadUnlessToldOtherwise) {
    EXPECT_EQ(Context().threads, 1);
}

TEST(Context, GivesWorkspaceAlignedTo64Bytes) {
    for (const std::size_t floats : {1u, 15u, 16u, 17u, 1001u, 100'003u}) {
        Context fresh;
        EXPECT_TRUE(aligned(fresh.workspace(floats))) << floats;
    }
    Context growing;
    for (const std::size_t floats : {1u, 17u, 1001u, 100'003u}) {
        EXPECT_TRUE(aligned(growing.workspace(floats))) << floats;
    }
}

TEST(Context, KeepsTheWorkspaceWhileItIsLargeEnough) {
    Context ctx;
    float* first = ctx.workspace(100);
    std::fill_n(first, 100, 3.0f);
    for (const std::size_t floats : {100u, 1u, 0u, 99u, 100u}) { EXPECT_EQ(ctx.workspace(floats), first) << floats; }
    EXPECT_TRUE(std::all_of(first, first + 100, [](float x) { return x == 3.0f; }));
}

TEST(Context, GrowsAndThenKeepsTheLargerWorkspace) {
    Context ctx;
    ctx.workspace(10);
    float* large = ctx.workspace(1 << 20);
    std::fill_n(large, 1 << 20, 1.0f);  // all of it is there
    EXPECT_EQ(ctx.workspace(10), large);
    EXPECT_EQ(ctx.workspace(1 << 20), large);
}

TEST(Context, SharesItsWorkspaceWithNoOtherEvenAfterGrowing) {
    Context one, other;
    std::fill_n(one.workspace(64), 64, 1.0f);
    std::fill_n(other.workspace(64), 64, 2.0f);
    std::fill_n(one.workspace(4096), 4096, 1.0f);
    std::fill_n(other.workspace(4096), 4096, 2.0f);
    const float* p = one.workspace(4096);
    EXPECT_TRUE(std::all_of(p, p + 4096, [](float x) { return x == 1.0f; }));
}

TEST(Context, TakesAWorkspaceAgainAfterOneThatDidNotFit) {
    Context ctx;
    ctx.workspace(16);
    EXPECT_THROW(ctx.workspace(std::size_t{1} << 55), std::bad_alloc);
    float* again = ctx.workspace(16);
    ASSERT_NE(again, nullptr);
    std::fill_n(again, 16, 1.0f);
}

TEST(Context, MovesAndIsNotCopied) {
    static_assert(std::is_move_constructible_v<Context> && !std::is_copy_constructible_v<Context>);
    Context from;
    float* kept = from.workspace(100);
    Context to(std::move(from));
    EXPECT_EQ(to.workspace(100), kept);
}
