// SPDX-License-Identifier: MIT
#include "checker/check.h"

#include <fmt/format.h>

#include "lessons/gpt2/op_table.h"

namespace {

using checker::Buffers;
using checker::Call;
using checker::CaseFile;
using checker::Library;

const char* const kModelCases[] = {"regular", "odd", "head64", "t1"};

std::string shape_text(int B, int T, int C) {
    return fmt::format("B={} T={} C={}", B, T, C);
}

void add_encoder(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("encoder", checker::defines(&OpTable::encoder));
    const auto add = [&](const std::string& name, const std::string& tokens, const std::string& wte,
                         const std::string& wpe, const std::string& out) {
        const CaseFile& file = lesson.case_file(name);
        const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C");
        const int Vp = file.dim("Vp"), max_T = file.dim("max_T");
        op.add_case(name, shape_text(B, T, C))
            .calls.push_back({.where = out,
                              .inputs = {checker::input("tokens", "B T", {B, T}, file.i32(tokens)),
                                         checker::input("wte", "Vp/v C", {Vp, C}, file.f32(wte)),
                                         checker::input("wpe", "max_T/t C", {max_T, C}, file.f32(wpe))},
                              .outputs = {checker::output("out", "B T C", {B, T, C}, file.local(out, "encoder.out"))},
                              .run = [=](const Library& library, const Buffers& at) {
                                  Context ctx;
                                  library.table<OpTable>().encoder(at.f32("out"), at.i32("tokens"), at.f32("wte"),
                                                                   at.f32("wpe"), B, T, C, ctx);
                              }});
    };
    for (const std::string name : kModelCases) {
        add(name, "tokens", "param/wte.weight", "param/wpe.weight", "encoded");
    }
    add("op_c63", "input/encoder/tokens", "input/encoder/wte", "input/encoder/wpe", "encoder.out");

    constexpr int B = 4, T = 1024, C = 768, Vp = 4096;
    op.timed.push_back(
        {.shape = shape_text(B, T, C),
         .call = {.where = "",
                  .inputs = {checker::integers("tokens", "B T", {B, T}, Vp), checker::normal("wte", "Vp/v C", {Vp, C}),
                             checker::normal("wpe", "T C", {T, C})},
                  .outputs = {checker::output("out", "B T C", {B, T, C})},
                  .run = [](const Library& library, const Buffers& at) {
                      Context ctx;
                      library.table<OpTable>().encoder(at.f32("out"), at.i32("tokens"), at.f32("wte"), at.f32("wpe"), B,
                                                       T, C, ctx);
                  }}});
}

checker::RunFunction run_layernorm(int B, int T, int C) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().layernorm(at.f32("out"), at.f32("mean"), at.f32("rstd"), at.f32("inp"),
                                           at.f32("weight"), at.f32("bias"), B, T, C, ctx);
    };
}

void add_layernorm(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("layernorm", checker::defines(&OpTable::layernorm));
    // out, mean and rstd are the tensors' names in the file.
    const auto call = [&](const CaseFile& file, const std::string& inp, const std::string& weight,
                          const std::string& bias, const std::string& out, const std::string& mean,
                          const std::string& rstd) -> Call {
        const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C");
        return {.where = out,
                .inputs = {checker::input("inp", "B T C", {B, T, C}, file.f32(inp)),
                           checker::input("weight", "C", {C}, file.f32(weight)),
                           checker::input("bias", "C", {C}, file.f32(bias))},
                .outputs = {checker::output("mean", "B T", {B, T}, file.local(mean, "layernorm.mean")),
                            checker::output("rstd", "B T", {B, T}, file.local(rstd, "layernorm.rstd")),
                            checker::output("out", "B T C", {B, T, C}, file.local(out, "layernorm.out"))},
                .run = run_layernorm(B, T, C)};
    };
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        checker::Case& c = op.add_case(name, shape_text(file.dim("B"), file.dim("T"), file.dim("C")));
        // One layernorm of the model: its name, its parameters', and the tensor that it reads.
        const auto add = [&](const std::string& ln, const std::string& parameters, const std::string& inp) {
            c.calls.push_back(call(file, "chained/" + inp, "param/" + parameters + ".weight",
                                   "param/" + parameters + ".bias", ln, ln + "_mean", ln + "_rstd"));
        };
        std::string stream = "encoded";
        for (int l = 0; l < file.dim("L"); l++) {
            const std::string h = fmt::format("h.{}.", l);
            add(h + "ln_1", h + "ln_1", stream);
            add(h + "ln_2", h + "ln_2", h + "residual_1");
            stream = h + "residual_2";
        }
        add("ln_f", "ln_f", stream);
    }
    const CaseFile& c63 = lesson.case_file("op_c63");
    op.add_case("op_c63", shape_text(c63.dim("B"), c63.dim("T"), c63.dim("C")))
        .calls.push_back(call(c63, "input/layernorm/inp", "input/layernorm/weight", "input/layernorm/bias",
                              "layernorm.out", "layernorm.mean", "layernorm.rstd"));

    constexpr int B = 4, T = 1024, C = 768;
    op.timed.push_back(
        {.shape = shape_text(B, T, C),
         .call = {.where = "",
                  .inputs = {checker::normal("inp", "B T C", {B, T, C}), checker::normal("weight", "C", {C}),
                             checker::normal("bias", "C", {C})},
                  .outputs = {checker::output("mean", "B T", {B, T}), checker::output("rstd", "B T", {B, T}),
                              checker::output("out", "B T C", {B, T, C})},
                  .run = run_layernorm(B, T, C)}});
}

checker::RunFunction run_gelu(int N) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().gelu(at.f32("out"), at.f32("inp"), N, ctx);
    };
}

void add_gelu(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("gelu", checker::defines(&OpTable::gelu));
    // N = B * T * C elements; indices are those of the tensor in the model.
    const auto call = [](const CaseFile& file, int C, const std::string& inp, const std::string& out) -> Call {
        const int B = file.dim("B"), T = file.dim("T");
        return {.where = out,
                .inputs = {checker::input("inp", "B T C", {B, T, C}, file.f32(inp))},
                .outputs = {checker::output("out", "B T C", {B, T, C}, file.local(out, "gelu.out"))},
                .run = run_gelu(B * T * C)};
    };
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        const int C = 4 * file.dim("C");
        checker::Case& c = op.add_case(name, shape_text(file.dim("B"), file.dim("T"), C));
        for (int l = 0; l < file.dim("L"); l++) {
            c.calls.push_back(call(file, C, fmt::format("chained/h.{}.fc", l), fmt::format("h.{}.fc_gelu", l)));
        }
    }
    const CaseFile& c63 = lesson.case_file("op_c63");
    op.add_case("op_c63", shape_text(c63.dim("B"), c63.dim("T"), c63.dim("C")))
        .calls.push_back(call(c63, c63.dim("C"), "input/gelu/inp", "gelu.out"));

    constexpr int N = 128 * 3072;
    op.timed.push_back({.shape = fmt::format("N={}", N),
                        .bytes_moved = 2 * sizeof(float) * N,
                        .call = {.where = "",
                                 .inputs = {checker::normal("inp", "N/i", {N}, 2.0F)},
                                 .outputs = {checker::output("out", "N/i", {N})},
                                 .run = run_gelu(N)}});
}

checker::RunFunction run_residual(int N) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().residual(at.f32("out"), at.f32("inp1"), at.f32("inp2"), N, ctx);
    };
}

void add_residual(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("residual", checker::defines(&OpTable::residual));
    const auto call = [](const CaseFile& file, const std::string& inp1, const std::string& inp2,
                         const std::string& out) -> Call {
        const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C");
        return {.where = out,
                .inputs = {checker::input("inp1", "B T C", {B, T, C}, file.f32(inp1)),
                           checker::input("inp2", "B T C", {B, T, C}, file.f32(inp2))},
                .outputs = {checker::output("out", "B T C", {B, T, C}, file.local(out, "residual.out"))},
                .run = run_residual(B * T * C)};
    };
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        checker::Case& c = op.add_case(name, shape_text(file.dim("B"), file.dim("T"), file.dim("C")));
        std::string stream = "chained/encoded";
        for (int l = 0; l < file.dim("L"); l++) {
            const std::string h = fmt::format("h.{}.", l);
            c.calls.push_back(call(file, stream, "chained/" + h + "attn_proj", h + "residual_1"));
            c.calls.push_back(call(file, "chained/" + h + "residual_1", "chained/" + h + "fc_proj", h + "residual_2"));
            stream = "chained/" + h + "residual_2";
        }
    }
    const CaseFile& c63 = lesson.case_file("op_c63");
    op.add_case("op_c63", shape_text(c63.dim("B"), c63.dim("T"), c63.dim("C")))
        .calls.push_back(call(c63, "input/residual/inp1", "input/residual/inp2", "residual.out"));

    constexpr int N = 4 * 1024 * 768;
    op.timed.push_back({.shape = fmt::format("N={}", N),
                        .bytes_moved = 3 * sizeof(float) * N,
                        .call = {.where = "",
                                 .inputs = {checker::normal("inp1", "N/i", {N}), checker::normal("inp2", "N/i", {N})},
                                 .outputs = {checker::output("out", "N/i", {N})},
                                 .run = run_residual(N)}});
}

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    add_encoder(lesson);
    add_layernorm(lesson);
    add_gelu(lesson);
    add_residual(lesson);
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "01_layers", register_cases);
}
