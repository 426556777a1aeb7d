// SPDX-License-Identifier: MIT
#include "lessons/gpt2/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lessons/gpt2/loading.h"
#include "lessons/gpt2/ops.h"
#include "lessons/gpt2/tests/support.h"

using checker::SafeTensors;

namespace {

Parameters tiny_parameters() {
    const TemporaryFolder folder;
    TinyModel().save(folder.path());
    return load_parameters(folder.path());
}

class Case : public testing::TestWithParam<const char*> {};

}  // namespace

// Every tensor of the model stays near the float64 reference. The lesson's check holds each to its budget; here a bound
// that sequential float sums of this length keep by far, and that a wrong order of ops exceeds by far.
TEST_P(Case, ForwardAgreesWithTheReference) {
    const SafeTensors file = SafeTensors::open(std::string("reference/cases/") + GetParam() + ".safetensors");
    const auto dims = nlohmann::json::parse(file.metadata().at("config"));
    const Config config{.max_T = dims.at("max_T"),
                        .V = dims.at("V"),
                        .Vp = dims.at("Vp"),
                        .L = dims.at("L"),
                        .NH = dims.at("NH"),
                        .C = dims.at("C")};
    Parameters params(config);
    params.allocate();
    params.visit([&](const std::string& name, float*& view, const Shape& shape) {
        const auto values = file.at("param/" + name).f32();
        ASSERT_EQ(values.size(), static_cast<std::size_t>(shape.elements()));
        std::ranges::copy(values, view);
    });
    const int B = dims.at("B"), T = dims.at("T");
    Activations acts(config, B, T);
    acts.allocate(forward_scratch_bytes(config, B, T));
    acts.backward_follows = true;
    Context ctx;
    forward(acts, params, file.at("tokens").i32().data(), file.at("targets").i32().data(), ctx);

    acts.visit([&](const std::string& name, float*& view, const Shape&) {
        const auto expected = file.at("chained/" + name).f32();
        float largest = 0.0f;
        for (const float x : expected) { largest = std::max(largest, std::abs(x)); }
        for (std::size_t i = 0; i < expected.size(); i++) {
            const float error = std::abs(view[i] - expected[i]);
            ASSERT_TRUE(error <= 1e-4f * largest) << name << "[" << i << "]: " << view[i] << ", not " << expected[i];
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Committed, Case, testing::Values("regular", "odd", "head64", "t1"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Model, GivesTheSameLogitsWithMoreRoomThanNeeded) {
    Model exact(tiny_parameters(), 3), roomy(tiny_parameters(), 6);
    const std::vector<int> tokens{1, 2, 3};
    const auto expected = exact.next_logits(tokens);
    roomy.next_logits(std::vector<int>{9, 8, 7, 6, 5, 4});  // leaves its traces behind
    const auto got = roomy.next_logits(tokens);
    EXPECT_EQ(got.size(), 11u);
    EXPECT_TRUE(std::ranges::equal(got, expected));
}

TEST(Model, LooksAtTheTailOfATextBeyondItsContext) {
    Model model(tiny_parameters(), 6);
    const std::vector<int> tokens{9, 1, 2, 3, 4, 5, 6};
    const auto view = model.next_logits(tokens);
    const std::vector<float> slid(view.begin(), view.end());
    EXPECT_TRUE(std::ranges::equal(slid, model.next_logits(std::span(tokens).subspan(1))));
}

TEST(Model, RefusesTokensOutsideTheVocabulary) {
    Model model(tiny_parameters(), 6);
    EXPECT_EQ(message_of([&] {
                  model.run(std::vector<int>{1, 11});
              }),
              "token 11 at position 1 is not in the vocabulary, 0 to 10");
    EXPECT_NE(message_of([&] { model.run(std::vector<int>{-1}); }), "");
    EXPECT_NE(message_of([&] { model.run(std::vector<int>{1}, std::vector<int>{11}); }), "");
}

TEST(Model, RefusesNoTokensAndTooMany) {
    Model model(tiny_parameters(), 6);
    EXPECT_NE(message_of([&] { model.run({}); }), "");
    EXPECT_NE(message_of([&] { model.run(std::vector<int>(7, 1)); }), "");
    EXPECT_NE(message_of([&] { model.run(std::vector<int>(3, 1), std::vector<int>(2, 1)); }), "");
}

// The last layernorm's scale makes the logits so large that some probabilities are subnormal or 0 in float.
TEST(Model, GivesTheLossOfAnUnderflowedProbability) {
    for (const float scale : {1.0f, 30.0f, 100.0f, 1000.0f}) {
        Parameters params = tiny_parameters();
        for (long c = 0; c < params.config.C; c++) { params.ln_f_weight[c] *= scale; }
        Model model(std::move(params), 6);
        for (int target = 0; target < 11; target++) {
            const Activations& acts = model.run(std::vector<int>{3}, std::vector<int>{target});
            double sum = 0.0;
            for (int v = 0; v < 11; v++) {
                sum += std::exp(static_cast<double>(acts.logits[v]) - static_cast<double>(acts.logits[target]));
            }
            EXPECT_NEAR(static_cast<double>(acts.losses[0]), std::log(sum), 1e-6 * (1.0 + std::log(sum)))
                << scale << " " << target;
        }
    }
}

TEST(MeanLoss, AveragesOverEveryTokenButTheFirst) {
    Model model(tiny_parameters(), 6);
    const std::vector<int> tokens{3, 1, 4, 1, 5};
    const Activations& acts = model.run(std::span(tokens).first(4), std::span(tokens).subspan(1));
    const double expected = (static_cast<double>(acts.losses[0]) + static_cast<double>(acts.losses[1]) +
                             static_cast<double>(acts.losses[2]) + static_cast<double>(acts.losses[3])) /
                            4;
    EXPECT_DOUBLE_EQ(mean_loss(model, tokens), expected);
}

TEST(MeanLoss, CutsALongTextIntoWindowsThatDoNotOverlap) {
    Model model(tiny_parameters(), 6);
    const std::vector<int> tokens{3, 1, 4, 1, 5, 9, 2, 6, 5};  // 8 predictions: 6 and 2
    const double expected =
        (6 * mean_loss(model, std::span(tokens).first(7)) + 2 * mean_loss(model, std::span(tokens).subspan(6))) / 8;
    std::vector<std::size_t> reported;
    EXPECT_NEAR(mean_loss(model, tokens, [&](std::size_t done, std::size_t) { reported.push_back(done); }), expected,
                1e-12);
    EXPECT_EQ(reported, (std::vector<std::size_t>{6, 8}));
}

TEST(MeanLoss, NeedsTwoTokens) {
    Model model(tiny_parameters(), 6);
    EXPECT_THROW(mean_loss(model, std::vector<int>{1}), std::invalid_argument);
}

TEST(Model, BlamesTheWeightsForAnOverflowOnlyWhereTheyAreLargeEnough) {
    Parameters params = tiny_parameters();
    EXPECT_EQ(why_not_finite(params), "the forward pass of this build is wrong: run the checks of its lessons");
    params.h[1].mlp_c_fc_bias[2] = -3e30f;
    const std::string why = why_not_finite(params);
    EXPECT_NE(why.find("h.1.mlp.c_fc.bias reaches 3e+30) that float overflows"), std::string::npos) << why;
}
