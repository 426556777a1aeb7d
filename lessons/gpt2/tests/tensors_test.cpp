// SPDX-License-Identifier: MIT
#include "lessons/gpt2/tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "lessons/gpt2/tests/support.h"

namespace {

constexpr Config kConfig{.max_T = 8, .V = 5, .Vp = 128, .L = 2, .NH = 2, .C = 6};

using Bf16 = __nv_bfloat16;

struct View {
    std::string name;
    std::uintptr_t begin;
    std::uintptr_t end;
    bool is_float;
};

template <class Tensors>
std::vector<View> views(Tensors& tensors) {
    std::vector<View> all;
    tensors.visit([&]<class Element>(const std::string& name, Element*& view, const Shape& shape) {
        const auto begin = reinterpret_cast<std::uintptr_t>(view);
        all.push_back({name, begin, begin + static_cast<std::uintptr_t>(shape.elements()) * element_bytes<Element>(),
                       std::is_same_v<Element, float>});
    });
    return all;
}

void expect_aligned_and_apart(const std::vector<View>& all) {
    for (std::size_t i = 0; i < all.size(); i++) {
        EXPECT_EQ(all[i].begin % 64, 0u) << all[i].name;
        if (i > 0) {
            EXPECT_LE(all[i - 1].end, all[i].begin) << all[i].name;
        }
    }
}

// Expects the views of `narrow` to be those of `full` in half the bytes, but for those that are floats in both.
void expect_halved(const std::vector<View>& full, const std::vector<View>& narrow) {
    ASSERT_EQ(narrow.size(), full.size());
    for (std::size_t i = 0; i < full.size(); i++) {
        EXPECT_EQ(narrow[i].name, full[i].name);
        const std::uintptr_t bytes = full[i].end - full[i].begin;
        EXPECT_EQ(narrow[i].end - narrow[i].begin, narrow[i].is_float ? bytes : bytes / 2) << full[i].name;
    }
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST(Arena, IsAlignedAndZeroed) {
    const Arena arena(1000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % 64, 0u);
    EXPECT_TRUE(std::all_of(arena.data(), arena.data() + 1000, [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Arena, SaysHowMuchItCouldNotGet) {
    const std::string message = message_of([] { Arena(std::size_t{1} << 62); });
    EXPECT_TRUE(contains(message, "4294967296.0 GiB could not be allocated")) << message;
}

TEST(Arena, IsMoveOnly) {
    EXPECT_FALSE(std::is_copy_constructible_v<Arena>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<Arena>);
}

TEST(Parameters, HaveNoMemoryUntilAllocated) {
    Parameters params(kConfig);
    EXPECT_EQ(params.h.size(), 2u);
    EXPECT_EQ(params.wte, nullptr);
    EXPECT_EQ(params.h[1].mlp_c_proj_bias, nullptr);
}

TEST(Parameters, LieApartAndAlignedInOneAllocation) {
    Parameters params(kConfig);
    params.allocate();
    const std::vector<View> all = views(params);
    EXPECT_EQ(all.size(), 2u + 2 * 12 + 2);
    expect_aligned_and_apart(all);
}

TEST(Parameters, KeepTheirViewsWhenMoved) {
    Parameters params(kConfig);
    params.allocate();
    params.ln_f_bias[5] = 3.0f;
    const Parameters moved = std::move(params);
    EXPECT_EQ(moved.ln_f_bias[5], 3.0f);
}

TEST(Activations, LieApartAndAlignedWithTheScratchBehind) {
    Activations acts(kConfig, 2, 7);
    acts.allocate(1000);
    const std::vector<View> all = views(acts);
    EXPECT_EQ(all.size(), 1u + 2 * 15 + 6);
    expect_aligned_and_apart(all);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(acts.scratch) % 64, 0u);
    EXPECT_LE(all.back().end, reinterpret_cast<std::uintptr_t>(acts.scratch));
    static_cast<char*>(acts.scratch)[999] = 1;  // is ours
}

TEST(Activations, OfADeviceHaveRoomOnTheHostForTheirResultsAlone) {
    Activations acts(kConfig, 2, 7);
    acts.allocate_results();
    std::vector<View> bound;
    for (const View& view : views(acts)) {
        if (view.begin != 0) {
            bound.push_back(view);
        }
    }
    ASSERT_EQ(bound.size(), 2U);
    EXPECT_EQ(bound[0].name, "logits");
    EXPECT_EQ(bound[1].name, "losses");
    expect_aligned_and_apart(bound);
    acts.logits[2 * 7 * kConfig.Vp - 1] = acts.losses[2 * 7 - 1] = 1.0F;  // to their ends
}

TEST(Activations, HaveLogSumExpsInPlaceOfProbabilities) {
    Activations acts(kConfig, 2, 7);
    acts.has_probs = false;
    acts.allocate(1000);
    const std::vector<View> all = views(acts);
    EXPECT_EQ(acts.probs, nullptr);
    ASSERT_EQ(all.size(), 1u + 2 * 15 + 6);
    EXPECT_EQ(all[all.size() - 2].name, "loss_lse");
    EXPECT_EQ(all[all.size() - 2].end - all[all.size() - 2].begin, 2u * 7 * sizeof(float));
    expect_aligned_and_apart(all);
}

TEST(Activations, RefuseMoreTokensThanTheContextHas) {
    EXPECT_TRUE(contains(message_of([] { Activations(kConfig, 1, 9); }), "T in 1 to max_T=8"));
    EXPECT_THROW(Activations(kConfig, 1, 0), std::invalid_argument);
    EXPECT_THROW(Activations(kConfig, 0, 1), std::invalid_argument);
}

TEST(Activations, EstimateTheirSizeBeforeAllocating) {
    // 2^30 floats of encoded alone, and three times that of qkv: refused before any memory is touched.
    Activations acts({.max_T = 1 << 14, .V = 5, .Vp = 128, .L = 4000, .NH = 1, .C = 1 << 14}, 1, 1 << 13);
    const std::string message = message_of([&] { acts.allocate(0); });
    EXPECT_TRUE(contains(message, "the activations need ")) << message;
    EXPECT_TRUE(contains(message, " are available")) << message;
    EXPECT_EQ(acts.encoded, nullptr);
}

TEST(Activations, RefuseATensorThatAnIntCannotIndex) {
    Activations acts({.max_T = 1 << 10, .V = 5, .Vp = 128, .L = 1, .NH = 1, .C = 1 << 20}, 1, 1 << 10);
    EXPECT_TRUE(contains(message_of([&] { acts.allocate(0); }), "h.0.qkv would have more than 2^31 - 1 elements"));
    EXPECT_TRUE(contains(
        message_of([] { Activations({.max_T = 1 << 16, .V = 5, .Vp = 128, .L = 1, .NH = 1, .C = 1}, 1, 1 << 16); }),
        "the attention scores would have more than 2^31 - 1 elements"));
}

TEST(Bfloat16, HalvesParametersAndGradients) {
    Parameters full(kConfig);
    ParametersOf<Bf16> narrow(kConfig), gradients(kConfig);
    full.allocate();
    narrow.allocate();
    gradients.allocate();
    expect_halved(views(full), views(narrow));
    expect_halved(views(full), views(gradients));
    expect_aligned_and_apart(views(narrow));
    for (const View& view : views(narrow)) { EXPECT_FALSE(view.is_float) << view.name; }
    EXPECT_LT(views(narrow).back().end - views(narrow).front().begin,
              views(full).back().end - views(full).front().begin);
}

TEST(Bfloat16, LeavesStatisticsFloats) {
    Activations full(kConfig, 2, 7);
    ActivationsOf<Bf16> narrow(kConfig, 2, 7);
    full.allocate(1000);
    narrow.allocate(1000);
    expect_halved(views(full), views(narrow));
    expect_aligned_and_apart(views(narrow));
    EXPECT_LE(views(narrow).back().end, reinterpret_cast<std::uintptr_t>(narrow.scratch));
    std::vector<std::string> floats;
    for (const View& view : views(narrow)) {
        if (view.is_float && !view.name.starts_with("h.1.")) {
            floats.push_back(view.name);
        }
    }
    EXPECT_EQ(floats, (std::vector<std::string>{"h.0.ln_1_mean", "h.0.ln_1_rstd", "h.0.lse", "h.0.ln_2_mean",
                                                "h.0.ln_2_rstd", "ln_f_mean", "ln_f_rstd", "losses"}));
}

TEST(Bfloat16, NarrowsToFewerRows) {
    ActivationsOf<Bf16> acts(kConfig, 2, 7);
    {
        const Narrowed narrowed(acts, 1, 3);
        EXPECT_EQ(acts.T, 3);
    }
    EXPECT_EQ(acts.T, 7);
}
