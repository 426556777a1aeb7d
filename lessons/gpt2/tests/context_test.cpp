// SPDX-License-Identifier: MIT
#include "lessons/gpt2/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
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
        EXPECT_TRUE(aligned(fresh.workspace<float>(floats))) << floats;
    }
    Context growing;
    for (const std::size_t floats : {1u, 17u, 1001u, 100'003u}) {
        EXPECT_TRUE(aligned(growing.workspace<float>(floats))) << floats;
    }
}

TEST(Context, KeepsTheWorkspaceWhileItIsLargeEnough) {
    Context ctx;
    float* first = ctx.workspace<float>(100);
    std::fill_n(first, 100, 3.0f);
    for (const std::size_t floats : {100u, 1u, 0u, 99u, 100u}) {
        EXPECT_EQ(ctx.workspace<float>(floats), first) << floats;
    }
    EXPECT_TRUE(std::all_of(first, first + 100, [](float x) { return x == 3.0f; }));
}

TEST(Context, GrowsAndThenKeepsTheLargerWorkspace) {
    Context ctx;
    ctx.workspace<float>(10);
    float* large = ctx.workspace<float>(1 << 20);
    std::fill_n(large, 1 << 20, 1.0f);  // all of it is there
    EXPECT_EQ(ctx.workspace<float>(10), large);
    EXPECT_EQ(ctx.workspace<float>(1 << 20), large);
}

TEST(Context, SharesItsWorkspaceWithNoOtherEvenAfterGrowing) {
    Context one, other;
    std::fill_n(one.workspace<float>(64), 64, 1.0f);
    std::fill_n(other.workspace<float>(64), 64, 2.0f);
    std::fill_n(one.workspace<float>(4096), 4096, 1.0f);
    std::fill_n(other.workspace<float>(4096), 4096, 2.0f);
    const float* p = one.workspace<float>(4096);
    EXPECT_TRUE(std::all_of(p, p + 4096, [](float x) { return x == 1.0f; }));
}

TEST(Context, TakesAWorkspaceAgainAfterOneThatDidNotFit) {
    Context ctx;
    ctx.workspace<float>(16);
    EXPECT_THROW(ctx.workspace<float>(std::size_t{1} << 55), std::bad_alloc);
    float* again = ctx.workspace<float>(16);
    ASSERT_NE(again, nullptr);
    std::fill_n(again, 16, 1.0f);
}

TEST(Context, GivesAWorkspaceAlignedAsAsked) {
    for (const std::size_t alignment : {1u, 16u, 128u, 256u, 1024u, 4096u}) {
        Context ctx;
        void* const memory = ctx.workspace(100, alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u) << alignment;
        std::memset(memory, 1, 100);  // all of it is there
        EXPECT_EQ(ctx.workspace(100, alignment), memory) << alignment;
    }
}

namespace {

// Counts what it has given and not got back.
struct Counting final : checker::Allocator {
    int given = 0;
    std::byte* allocate(std::size_t bytes) override {
        given++;
        return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kAlignment}));
    }
    void release(std::byte* memory) override {
        given--;
        ::operator delete (memory, std::align_val_t{kAlignment});
    }
};

}  // namespace

TEST(Context, TakesItsWorkspaceFromTheMemoryThatItIsGivenAndGivesItBack) {
    Counting memory;
    {
        Context ctx(&memory);
        ctx.workspace(100);
        EXPECT_EQ(memory.given, 1);
        ctx.workspace(1000);
        EXPECT_EQ(memory.given, 1) << "the smaller one goes first";
        const Context moved(std::move(ctx));
        EXPECT_EQ(memory.given, 1);
    }
    EXPECT_EQ(memory.given, 0);
}

namespace {

// A library's handle: made once, destroyed once, and before the workspace that it was given.
struct ToyHandle {
    ToyHandle() { made++; }
    ~ToyHandle() { workspaces_at_end = memory == nullptr ? 0 : memory->given; }
    Counting* memory = nullptr;
    inline static int made = 0;
    inline static int workspaces_at_end = -1;
};

}  // namespace

TEST(Context, MakesAHandleWhenItIsFirstAskedForAndKeepsIt) {
    Counting memory;
    {
        Context ctx(&memory);
        EXPECT_EQ(ToyHandle::made, 0);
        ToyHandle& handle = ctx.handle<ToyHandle>();
        handle.memory = &memory;
        ctx.workspace(100);
        EXPECT_EQ(&ctx.handle<ToyHandle>(), &handle);
        EXPECT_NE(static_cast<void*>(&ctx.handle<int>()), &handle) << "one of each type";
    }
    EXPECT_EQ(ToyHandle::made, 1);
    EXPECT_EQ(ToyHandle::workspaces_at_end, 1) << "a library may work in the workspace until its handle is gone";
}

TEST(Context, MovesAndIsNotCopied) {
    static_assert(std::is_move_constructible_v<Context> && !std::is_copy_constructible_v<Context>);
    Context from;
    float* kept = from.workspace<float>(100);
    Context to(std::move(from));
    EXPECT_EQ(to.workspace<float>(100), kept);
}
