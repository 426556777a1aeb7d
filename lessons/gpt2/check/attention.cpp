// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "lessons/gpt2/check/cases.h"
#include "lessons/gpt2/check/floors.h"
#include "lessons/gpt2/check/op_spec.h"

namespace cases {
namespace {

// lse and out, as reference/ops/attention.py has them.
std::vector<checker::Computed> compute_attention(const Sizes& d, const Values& inputs) {
    const auto B = static_cast<std::size_t>(d["B"]), T = static_cast<std::size_t>(d["T"]);
    const auto C = static_cast<std::size_t>(d["C"]), NH = static_cast<std::size_t>(d["NH"]), HS = C / NH;
    const double scale = 1 / std::sqrt(static_cast<double>(HS));
    checker::Computed lse{.values = std::vector<float>(B * NH * T), .floor = std::vector<float>(B * NH * T)};
    checker::Computed out{.values = std::vector<float>(B * T * C), .floor = std::vector<float>(B * T)};
    for (std::size_t head = 0; head < B * NH; head++) {
        const std::size_t b = head / NH, first = head % NH * HS;
        const auto at = [&](std::size_t t, std::size_t part) {
            return &inputs[0][(b * T + t) * 3 * C + part * C + first];
        };
        for (std::size_t t = 0; t < T; t++) {
            std::vector<double> scaled, of_scores;
            for (std::size_t s = 0; s <= t; s++) {
                double score = 0, squares = 0;
                for (std::size_t i = 0; i < HS; i++) {
                    const double term = static_cast<double>(at(t, 0)[i]) * static_cast<double>(at(s, 1)[i]);
                    score += term;
                    squares += term * term;
                }
                scaled.push_back(scale * score);
                of_scores.push_back(scale *
                                    (sum_error(squares, score, static_cast<double>(HS)) + kRounding * std::abs(score)));
            }
            std::vector<double> of_scaled = of_exponents(scaled);
            std::ranges::transform(of_scaled, of_scores, of_scaled.begin(), std::plus<>());
            const SoftmaxRow att = softmax_row(scaled, of_scaled);
            lse.values[head * T + t] = static_cast<float>(att.lse);
            lse.floor[head * T + t] = static_cast<float>(att.of_lse);
            for (std::size_t i = 0; i < HS; i++) {
                double value = 0, squares = 0;
                for (std::size_t s = 0; s <= t; s++) {
                    const double term = att.probs[s] * at(s, 2)[i];
                    value += term;
                    squares += term * term;
                }
                // Independent errors of the probabilities, each of which moves the output from `value` to its own.
                double moved = 0;
                for (std::size_t s = 0; s <= t; s++) {
                    const double by = att.probs[s] * of_scaled[s] * (at(s, 2)[i] - value);
                    moved += by * by;
                }
                const double floor = std::sqrt(moved) + sum_error(squares, value, static_cast<double>(t + 1)) +
                                     3 * kRounding * std::abs(value);
                out.values[(b * T + t) * C + first + i] = static_cast<float>(value);
                out.floor[b * T + t] = std::max(out.floor[b * T + t], static_cast<float>(floor));
            }
        }
    }
    return {std::move(lse), std::move(out)};
}

// As halfway_in_bf16(), for heads of 16 channels. In the first head all scaled scores are near 16, so that lse is wrong by
// their error, and the values are small: they do not raise the floors of out. In the others scores are near 0.5 or -0.5, and
// values near 1 or -1: rounded scores change the probabilities, and with them out.
checker::Input halfway_qkv(const std::string& name, const std::string& dims, const Sizes& sizes) {
    checker::Input qkv = halfway_in_bf16()(name, dims, sizes);
    const auto C = static_cast<std::size_t>(sizes["C"]), HS = C / static_cast<std::size_t>(sizes["NH"]);
    qkv.fill = [C, HS, drawn = std::move(qkv.fill)](std::span<std::byte> bytes, std::uint64_t seed) {
        drawn(bytes, seed);
        const std::span values(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
        for (std::size_t i = 0; i < values.size(); i++) {
            const std::size_t token = i / (3 * C), part = i / C % 3;  // queries, keys, values
            const float sign = token % 5 < 2 ? -1.0F : 1.0F;
            const bool is_first_head = i % C < HS;
            values[i] *= is_first_head ? std::array{4.0F, 1.0F, 0.125F}[part] : std::array{0.125F, sign, sign}[part];
        }
    };
    return qkv;
}

// What it asks for as scratch, which must grow with the batch: at most twice as much for twice the batch, and no less.
// Asked at GPT-2's largest size, where counts pass 2^31 long before a GPU's memory is full.
std::size_t scratch_bytes(const Library& library, const Sizes& d) {
    constexpr int T = 1024, C = 1600, NH = 25, kLargestBatch = 256;
    constexpr std::size_t kRounding = std::size_t{1} << 20;  // to whole pages, or blocks of its own
    const auto bytes = library.find<attention_scratch_bytes>();
    for (int B = 1; B < kLargestBatch; B *= 2) {
        const std::size_t one = bytes(B, T, C, NH), two = bytes(2 * B, T, C, NH);
        if (two < one || two / 2 > one + kRounding) {
            throw std::runtime_error(fmt::format(
                "attention_scratch_bytes gives {} at B={} T={} C={} NH={} and {} at B={}: a product that an int cannot "
                "hold? Begin it with sizeof(float), or a std::size_t",
                one, B, T, C, NH, two, 2 * B));
        }
    }
    return bytes(d["B"], d["T"], d["C"], d["NH"]);
}

}  // namespace

const OpSpec attention_spec{
    .name = "attention",
    .shape = "B T C NH",
    .inputs = {{.name = "qkv", .dims = "B T 3C/c", .draw = normal(), .factor = true}},
    .outputs = {{"lse", "B NH/h T"}, {"out", "B T C"}},
    .defined = defines<attention, attention_scratch_bytes>,
    .run =
        [](const Library& library, const Buffers& at, const Sizes& d, Context& ctx) {
            library.find<attention>()(at.f32("out"), at.f32("lse"), at.f32("qkv"), at.scratch("scratch"), d["B"],
                                      d["T"], d["C"], d["NH"], ctx);
        },
    .scratch_bytes = scratch_bytes,
    .scratch_dims = "B NH/h T T/s",
    // Without a (T, T) matrix in memory. FLOP: the two products below the diagonal.
    .cost = [](const Sizes& d) -> Cost {
        const double rows = d.number("B") * d["T"], C = d["C"];
        return {.bytes = kFloat * (4 * rows * C + rows * d["NH"]), .flop = 2 * rows * (d["T"] + 1) * C};
    },
    .dry_run = "B=1 T=16 C=48 NH=12",
    .compute = compute_attention,
    .drawn_cases = {{"one", "B=1 T=1 C=1 NH=1"},
                    {"thin_heads", "B=2 T=9 C=5 NH=5"},
                    {"long", "B=1 T=1100 C=4 NH=1"},
                    {"halfway", "B=1 T=60 C=48 NH=3", {{"qkv", halfway_qkv}}}},
    .turns = "B=2 T=6 C=24 NH=4"};

void add_unseen_token(OpCases& attention) {
    const Sizes sizes = Sizes::of("B=2 T=5 C=12 NH=2");
    const Change last_token = [T = sizes["T"], C = sizes["C"]](long token, long column, long /*columns*/, float drawn) {
        const std::array parts{drawn, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
        return token % T == T - 1 ? parts[static_cast<std::size_t>(column / C)] : drawn;
    };
    attention.add_drawn("unseen", sizes.text(attention.spec().shape), {{"qkv", changed(normal(), last_token)}});
}

void add_huge_attention(OpCases& attention) {
    attention.add_unwritten("B=4870 T=192 C=768 NH=12");  // 2,154,332,160 of each; B NH fits a grid's z
}

void add_tiled_attention(OpCases& attention, std::vector<checker::Needed> (*needed)(const Sizes&)) {
    // At a length and at twice the length: what grows as its square is seen at one of them.
    for (const auto& [name, shape] : {std::pair("tiles", "B=1 T=256 C=64 NH=1"), {"twice", "B=1 T=512 C=64 NH=1"}}) {
        attention.add_drawn(name, shape).calls.back().needed = needed(Sizes::of(shape));
    }
    // Each head size with another length: a query less than a tile of 64, a tile, one more, one more than two; one query.
    attention.add_drawn("heads_of_16", "B=2 T=63 C=32 NH=2");
    attention.add_drawn("heads_of_20", "B=1 T=129 C=60 NH=3");
    attention.add_drawn("heads_of_64", "B=2 T=65 C=128 NH=2");
    attention.add_drawn("heads_of_80", "B=1 T=64 C=160 NH=2");
    attention.add_drawn("heads_of_128", "B=1 T=129 C=256 NH=2");
    attention.add_drawn("heads_of_11", "B=2 T=70 C=33 NH=3");  // rows that start at no multiple of 16 bytes
    attention.add_drawn("one_query", "B=3 T=1 C=128 NH=2");
    // One float4 more than a kernel for heads of 32, and of 64, has; with a key more than a tile of 32.
    attention.add_drawn("heads_of_36", "B=1 T=33 C=36 NH=1");
    attention.add_drawn("heads_of_68", "B=1 T=33 C=68 NH=1");
    add_misaligned(attention, "heads_of_16");
    attention.add_unwritten("B=18000 T=64 C=768 NH=12", "huge_qkv");  // 2,654,208,000 of qkv, and 216,000 heads
    attention.add_unwritten("B=48000 T=64 C=768 NH=12", "huge_out");  // 2,359,296,000 of out
}

}  // namespace cases
