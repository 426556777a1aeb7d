// SPDX-License-Identifier: MIT
#include <array>

#include "lessons/gpt2/check/cases.h"

namespace cases {
namespace {

// Two layers one after the other, then the first one again for fewer rows: these alone, with a bias that begins 4 bytes
// after a multiple of 256, and with rows that do. All of it with one Context, as a model has it. Each layer has its own
// weight and bias, and all else begins at multiples of 256 bytes from where its buffer does. Each part is computed twice,
// first without pre_gelu.
void add_in_turn(OpCases& op) {
    static constexpr std::size_t C = 72, OC = 64;
    struct Part {
        std::size_t layer, rows, inp, bias;  // inp: its first float; bias: its first float in the layer's
    };
    static constexpr std::array kParts{Part{0, 24, 0, 0}, Part{1, 24, 24 * C, 0}, Part{0, 8, 48 * C, 0},
                                       Part{0, 8, 48 * C, 1}, Part{0, 8, 48 * C + 1, 0}};
    static constexpr std::size_t N = 24 + 24 + 8 + 8 + 8, kRowsOfInp = 24 + 24 + 8;
    const auto sizes_of = [](std::size_t rows) {
        return Sizes{{"N", static_cast<double>(rows)}, {"C", C}, {"OC", OC}, {"outputs", 2}};
    };
    checker::Call call = op.drawn(sizes_of(N));
    call.inputs = {checker::normal("inp", "rows*C+1/i", {kRowsOfInp * C + 1}),
                   checker::normal("weight", "layers/l OC/o C", {2, OC, C}),
                   checker::normal("bias", "layers/l OC/o", {2, OC})};
    std::vector<checker::Call> parts;
    for (const Part& part : kParts) { parts.push_back(op.drawn(sizes_of(part.rows))); }
    const auto inputs_of = [](const Part& part, const Values& inputs) -> Values {
        return {inputs[0].subspan(part.inp, part.rows * C), inputs[1].subspan(part.layer * OC * C, OC * C),
                inputs[2].subspan(part.layer * OC + part.bias, OC)};
    };
    const auto append = [](checker::Computed& all, const checker::Computed& part) {
        all.values.insert(all.values.end(), part.values.begin(), part.values.end());
        all.floor.insert(all.floor.end(), part.floor.begin(), part.floor.end());
        all.factor = part.factor;
    };
    for (std::size_t i = 0; i < call.outputs.size(); i++) {
        call.outputs[i].compute = [=](const Values& inputs) {
            checker::Computed all;
            for (std::size_t p = 0; p < kParts.size(); p++) {
                append(all, parts[p].outputs[i].compute(inputs_of(kParts[p], inputs)));
            }
            return all;
        };
    }
    // The same of factors that are rounded to the precision.
    call.rounded = [=, outputs = call.outputs.size()](const Values& inputs) {
        std::vector<checker::Computed> all(outputs);
        for (std::size_t p = 0; p < kParts.size(); p++) {
            const std::vector<checker::Computed> part = parts[p].rounded(inputs_of(kParts[p], inputs));
            for (std::size_t i = 0; i < outputs; i++) { append(all[i], part[i]); }
        }
        return all;
    };
    call.run = [=, run = op.spec().run, outputs = op.spec().outputs](const Library& library, const Buffers& at) {
        Context& ctx = at.kept<Context>();
        std::size_t row = 0;
        for (const auto& [layer, rows, inp, bias] : kParts) {
            Buffers part = at;
            part.add("inp", checker::Element::f32, at.f32("inp") + inp);
            part.add("weight", checker::Element::f32, at.f32("weight") + layer * OC * C);
            part.add("bias", checker::Element::f32, at.f32("bias") + layer * OC + bias);
            for (const OutputSpec& output : outputs) {
                part.add(output.name, checker::Element::f32, at.f32(output.name) + row * OC);
            }
            Buffers without = part;
            without.add_null("pre_gelu");
            for (const Buffers& buffers : {without, part}) { run(library, buffers, sizes_of(rows), ctx); }
            row += rows;
        }
    };
    op.op().add_case("in_turn", sizes_of(N).text("N C OC")).calls.push_back(std::move(call));
}

// A request is 32 lanes' 16 bytes at best.
constexpr double kRequestBytes = 32 * 16;

// Rows of GPT-2's 768 channels: `tensors` of rows are read or written, each once. A row needs the weights and the biases as
// well, which L1 has for all rows but a block's first, and stores its mean and its reciprocal deviation.
void count_rows(OpCases& op, double tensors) {
    constexpr double kRows = 16, kChannels = 768;
    const double bytes = kFloat * (tensors + 2) * kRows * kChannels;
    op.add_drawn("row768", "B=2 T=8 C=768").calls.back().needed = {
        {"bytes_asked", bytes + 2 * kFloat * kRows}, {"requests", bytes / kRequestBytes + 2 * kRows}, {"sectors"}};
}

// Rows for layernorm and residual_layernorm.
void add_rows(OpCases& op, double tensors) {
    count_rows(op, tensors);
    op.add_drawn("narrow", "B=1 T=9 C=3");    // fewer channels than lanes
    op.add_drawn("ragged", "B=3 T=5 C=161");  // rows that start anywhere
    op.add_drawn("edge_6", "B=1 T=3 C=772");  // one float4 more than 6 for each lane
    op.add_drawn("edge_8", "B=1 T=3 C=257");  // one float more than 8 for each lane
    op.add_drawn("edge", "B=1 T=3 C=1668");   // one float4 more than 13 for each lane
    op.add_drawn("xxl", "B=1 T=2 C=5000");
}

}  // namespace
}  // namespace cases

void cases::add_own(LessonCases& lesson) {
    for (const char* const name : {"linear", "linear_gelu"}) {
        OpCases& op = lesson.op(name);
        const Sizes square{{"N", kSquare}, {"C", kSquare}, {"OC", kSquare}, {"outputs", 1}};
        op.add_drawn("square", square.text("N C OC outputs")).calls.back().needed = {
            {"library_calls", 1},
            {"kernel_launches", 0},
            {"bytes_moved", op.spec().cost(square).bytes},
            {"bytes_in_small_pieces", 0}};
        op.add_drawn("one", "N=1 C=1 OC=1 outputs=1");
        op.add_drawn("ragged", "N=17 C=33 OC=129 outputs=1");
        op.add_drawn("long", "N=2 C=3072 OC=3 outputs=1");
        // TF32 has all of fp32's exponents; fp16, of as many bits of mantissa, ends at 65,504.
        op.add_drawn("beyond_fp16", "N=16 C=64 OC=24 outputs=1", {{"inp", normal(1e6F)}});
        add_in_turn(op);
        op.add_drawn("whole_vectors", "N=24 C=72 OC=64").calls.back().needed = {{"library_calls", 1},
                                                                                {"kernel_launches", 0}};
        add_misaligned_in_turn(op, "whole_vectors");
        op.add_unwritten("N=42735 C=8 OC=50304");  // 2,149,741,440 outputs
    }
    // Lesson 10's bytes, by one launch.
    OpCases& matmul_gelu = lesson.op("matmul_gelu");
    constexpr double kTile = 128, kN = kSquare;
    matmul_gelu.add_drawn("square", "N=256 C=256 OC=256").calls.back().needed = {
        {"library_calls", 0}, {"kernel_launches", 1}, {"bytes_moved", kFloat * (2 * kN * kN * kN / kTile + kN * kN)}};
    matmul_gelu.add_drawn("head64", "N=32 C=128 OC=128");
    matmul_gelu.add_drawn("odd", "N=111 C=60 OC=101");
    matmul_gelu.add_drawn("one", "N=1 C=1 OC=1");
    matmul_gelu.add_drawn("ragged", "N=17 C=33 OC=129");
    matmul_gelu.add_drawn("long", "N=2 C=3072 OC=3");
    matmul_gelu.add_drawn("edge", "N=65 C=1 OC=33");  // one row and one column more than a warp has
    matmul_gelu.add_drawn("groups",
                          "N=2177 C=1 OC=129");  // two rows of tiles more than a group of 16 has, and two columns
    matmul_gelu.add_drawn("whole_vectors", "N=9 C=20 OC=12");
    add_misaligned(matmul_gelu, "whole_vectors");
    matmul_gelu.add_huge("N=42735 C=1 OC=50257");  // 2,147,732,895 outputs

    OpCases &layernorm = lesson.op("layernorm"), &residual_layernorm = lesson.op("residual_layernorm");
    residual_layernorm.add_drawn("head64", "B=2 T=16 C=128");
    residual_layernorm.add_drawn("odd", "B=3 T=37 C=60");
    add_misaligned(layernorm, "head64");
    add_misaligned(residual_layernorm, "head64");
    add_rows(layernorm, 2);
    add_rows(residual_layernorm, 4);
    // A block launches attention's softmax and two residual_layernorms, and calls cuBLAS for its four products and, for each
    // sequence, attention's two. Then the encoder, the first layernorm, the logits, softmax and crossentropy.
    constexpr double kB = 2, kL = 2;
    lesson.op("forward").at("regular").calls.front().needed = {{"library_calls", kL * (4 + 2 * kB) + 1},
                                                               {"kernel_launches", kL * 3 + 4}};
}
