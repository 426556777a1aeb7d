// SPDX-License-Identifier: MIT
#include "checker/check.h"

#include <fmt/format.h>

#include <cmath>

#include "lessons/gpt2/op_table.h"
#include "lessons/gpt2/tensors.h"

namespace {

using checker::Buffers;
using checker::Call;
using checker::CaseFile;
using checker::Library;

const char* const kModelCases[] = {"regular", "odd", "head64", "t1"};

std::string shape_text(const CaseFile& file) {
    return fmt::format("B={} T={} C={}", file.dim("B"), file.dim("T"), file.dim("C"));
}

std::string shape_with_heads(const CaseFile& file) {
    return fmt::format("{} NH={}", shape_text(file), file.dim("NH"));
}

// ---- matmul ----------------------------------------------------------------------------------------------------

checker::RunFunction run_matmul(int N, int C, int OC, int out_stride, bool with_bias) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().matmul(at.f32("out"), at.f32("inp"), at.f32("weight"),
                                        with_bias ? at.f32("bias") : nullptr, N, C, OC, out_stride, ctx);
    };
}

void add_matmul(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("matmul", checker::defines(&OpTable::matmul));
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C"), V = file.dim("V"), Vp = file.dim("Vp");
        checker::Case& c = op.add_case(name, shape_text(file));
        const auto add = [&](const std::string& out, const std::string& inp, int in, const std::string& layer, int OC) {
            c.calls.push_back(
                {.where = out,
                 .inputs = {checker::input("inp", "B T C", {B, T, in}, file.f32("chained/" + inp)),
                            checker::input("weight", "OC/o C", {OC, in}, file.f32("param/" + layer + ".weight")),
                            checker::input("bias", "OC/o", {OC}, file.f32("param/" + layer + ".bias"))},
                 .outputs = {checker::output("out", "B T OC/o", {B, T, OC}, file.local(out, "matmul.out"))},
                 .run = run_matmul(B * T, in, OC, OC, true)});
        };
        for (int l = 0; l < file.dim("L"); l++) {
            const std::string h = fmt::format("h.{}.", l);
            add(h + "qkv", h + "ln_1", C, h + "attn.c_attn", 3 * C);
            add(h + "attn_proj", h + "attn", C, h + "attn.c_proj", C);
            add(h + "fc", h + "ln_2", C, h + "mlp.c_fc", 4 * C);
            add(h + "fc_proj", h + "fc_gelu", 4 * C, h + "mlp.c_proj", C);
        }
        // The logits: no bias, and rows that are longer than what is written.
        checker::Output logits =
            checker::output("out", "B T out_stride/o", {B, T, Vp}, file.local("logits", "matmul.out"));
        logits.columns = V;
        c.calls.push_back({.where = "logits",
                           .inputs = {checker::input("inp", "B T C", {B, T, C}, file.f32("chained/ln_f")),
                                      checker::input("weight", "OC/o C", {Vp, C}, file.f32("param/wte.weight"))},
                           .outputs = {logits},
                           .null = {"bias"},
                           .run = run_matmul(B * T, C, V, Vp, false)});
    }
    const CaseFile& c63 = lesson.case_file("op_c63");
    const int rows = c63.dim("B") * c63.dim("T"), in = c63.dim("C"), out = c63.dim("V");
    op.add_case("op_c63", fmt::format("N={} C={} OC={}", rows, in, out))
        .calls.push_back(
            {.where = "matmul.out",
             .inputs = {checker::input("inp", "N C", {rows, in}, c63.f32("input/matmul/inp")),
                        checker::input("weight", "OC/o C", {out, in}, c63.f32("input/matmul/weight")),
                        checker::input("bias", "OC/o", {out}, c63.f32("input/matmul/bias"))},
             .outputs = {checker::output("out", "N OC/o", {rows, out}, c63.local("matmul.out", "matmul.out"))},
             .run = run_matmul(rows, in, out, out, true)});

    constexpr int N = 8, C = 768, OC = 768;
    op.timed.push_back(
        {.shape = fmt::format("N={} C={} OC={}", N, C, OC),
         .call = {.where = "",
                  .inputs = {checker::normal("inp", "N C", {N, C}), checker::normal("weight", "OC/o C", {OC, C}),
                             checker::normal("bias", "OC/o", {OC})},
                  .outputs = {checker::output("out", "N OC/o", {N, OC})},
                  .run = run_matmul(N, C, OC, OC, true)}});
}

// ---- attention -------------------------------------------------------------------------------------------------

checker::RunFunction run_causal_softmax(float scale, int B, int NH, int T) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().causal_softmax(at.f32("att"), at.f32("lse"), at.f32("scores"), scale, B, NH, T, ctx);
    };
}

void add_causal_softmax(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("causal_softmax", checker::defines(&OpTable::causal_softmax));
    const auto call = [](const CaseFile& file, const std::string& scores, const std::string& out) -> Call {
        const int B = file.dim("B"), T = file.dim("T"), NH = file.dim("NH");
        const float scale = 1.0F / std::sqrt(static_cast<float>(file.dim("C") / NH));
        checker::Output att =
            checker::output("att", "B NH/h T T/s", {B, NH, T, T}, file.local(out + ".att", "causal_softmax.att"));
        att.expected.exact_zeros = true;
        return {
            .where = out,
            .inputs = {checker::input("scores", "B NH/h T T/s", {B, NH, T, T}, file.f32(scores))},
            .outputs = {checker::output("lse", "B NH/h T", {B, NH, T}, file.local(out + ".lse", "causal_softmax.lse")),
                        att},
            .run = run_causal_softmax(scale, B, NH, T)};
    };
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        checker::Case& c = op.add_case(name, shape_with_heads(file));
        for (int l = 0; l < file.dim("L"); l++) {
            c.calls.push_back(call(file, fmt::format("chained/h.{}.scores", l), fmt::format("h.{}.causal_softmax", l)));
        }
    }
    const CaseFile& large = lesson.case_file("op_large_scores");
    op.add_case("op_large_scores", shape_with_heads(large))
        .calls.push_back(call(large, "input/causal_softmax/scores", "causal_softmax"));

    constexpr int B = 1, NH = 12, T = 256;
    op.timed.push_back({.shape = fmt::format("B={} NH={} T={}", B, NH, T),
                        .call = {.where = "",
                                 .inputs = {checker::normal("scores", "B NH/h T T/s", {B, NH, T, T}, 8.0F)},
                                 .outputs = {checker::output("lse", "B NH/h T", {B, NH, T}),
                                             checker::output("att", "B NH/h T T/s", {B, NH, T, T})},
                                 .run = run_causal_softmax(0.125F, B, NH, T)}});
}

checker::RunFunction run_attention(int B, int T, int C, int NH) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().attention(at.f32("out"), at.f32("lse"), at.f32("qkv"), at.scratch("scratch"), B, T, C,
                                           NH, ctx);
    };
}

checker::Scratch attention_scratch(int B, int T, int C, int NH) {
    return {"scratch",
            [=](const Library& library) { return library.table<OpTable>().attention_scratch_bytes(B, T, C, NH); }};
}

void add_attention(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("attention", [](const Library& library) {
        const OpTable& ops = library.table<OpTable>();
        return ops.attention != nullptr && ops.attention_scratch_bytes != nullptr;
    });
    const auto call = [](const CaseFile& file, const std::string& qkv, const std::string& out,
                         const std::string& lse) -> Call {
        const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C"), NH = file.dim("NH");
        return {.where = out,
                .inputs = {checker::input("qkv", "B T 3C/c", {B, T, 3 * C}, file.f32(qkv))},
                .outputs = {checker::output("lse", "B NH/h T", {B, NH, T}, file.local(lse, "attention.lse")),
                            checker::output("out", "B T C", {B, T, C}, file.local(out, "attention.out"))},
                .scratch = {attention_scratch(B, T, C, NH)},
                .run = run_attention(B, T, C, NH)};
    };
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        checker::Case& c = op.add_case(name, shape_with_heads(file));
        for (int l = 0; l < file.dim("L"); l++) {
            const std::string h = fmt::format("h.{}.", l);
            c.calls.push_back(call(file, "chained/" + h + "qkv", h + "attn", h + "lse"));
        }
    }
    const CaseFile& large = lesson.case_file("op_large_scores");
    op.add_case("op_large_scores", shape_with_heads(large))
        .calls.push_back(call(large, "input/attention/qkv", "attention.out", "attention.lse"));

    constexpr int B = 1, T = 64, C = 768, NH = 12;
    op.timed.push_back({.shape = fmt::format("B={} T={} C={} NH={}", B, T, C, NH),
                        .call = {.where = "",
                                 .inputs = {checker::normal("qkv", "B T 3C/c", {B, T, 3 * C})},
                                 .outputs = {checker::output("lse", "B NH/h T", {B, NH, T}),
                                             checker::output("out", "B T C", {B, T, C})},
                                 .scratch = {attention_scratch(B, T, C, NH)},
                                 .run = run_attention(B, T, C, NH)}});
}

// ---- loss ------------------------------------------------------------------------------------------------------

checker::RunFunction run_softmax(int N, int V, int Vp) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().softmax(at.f32("probs"), at.f32("logits"), N, V, Vp, ctx);
    };
}

void add_softmax(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("softmax", checker::defines(&OpTable::softmax));
    const auto add = [&](const std::string& name, const std::string& logits, const std::string& probs) {
        const CaseFile& file = lesson.case_file(name);
        const int B = file.dim("B"), T = file.dim("T"), V = file.dim("V"), Vp = file.dim("Vp");
        checker::Output out = checker::output("probs", "B T Vp/v", {B, T, Vp}, file.local(probs, "softmax.probs"));
        out.columns = V;
        op.add_case(name, fmt::format("N={} V={} Vp={}", B * T, V, Vp))
            .calls.push_back({.where = probs,
                              .inputs = {checker::input("logits", "B T Vp/v", {B, T, Vp}, file.f32(logits))},
                              .outputs = {out},
                              .run = run_softmax(B * T, V, Vp)});
    };
    for (const std::string name : kModelCases) { add(name, "chained/logits", "probs"); }
    add("op_large_scores", "input/softmax/logits", "softmax.probs");

    constexpr int N = 16, V = 50257, Vp = 50304;
    checker::Output probs = checker::output("probs", "N Vp/v", {N, Vp});
    probs.columns = V;
    op.timed.push_back({.shape = fmt::format("N={} V={} Vp={}", N, V, Vp),
                        .call = {.where = "",
                                 .inputs = {checker::normal("logits", "N Vp/v", {N, Vp}, 3.0F)},
                                 .outputs = {probs},
                                 .run = run_softmax(N, V, Vp)}});
}

checker::RunFunction run_crossentropy(int N, int Vp) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().crossentropy(at.f32("losses"), at.f32("probs"), at.i32("targets"), N, Vp, ctx);
    };
}

void add_crossentropy(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("crossentropy", checker::defines(&OpTable::crossentropy));
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        const int B = file.dim("B"), T = file.dim("T"), Vp = file.dim("Vp");
        op.add_case(name, fmt::format("N={} V={} Vp={}", B * T, file.dim("V"), Vp))
            .calls.push_back(
                {.where = "losses",
                 .inputs = {checker::input("probs", "B T Vp/v", {B, T, Vp}, file.f32("chained/probs")),
                            checker::input("targets", "B T", {B, T}, file.i32("targets"))},
                 .outputs = {checker::output("losses", "B T", {B, T}, file.local("losses", "crossentropy.losses"))},
                 .run = run_crossentropy(B * T, Vp)});
    }
    constexpr int N = 4096, Vp = 256;
    op.timed.push_back({.shape = fmt::format("N={} Vp={}", N, Vp),
                        .call = {.where = "",
                                 .inputs = {checker::uniform("probs", "N Vp/v", {N, Vp}, 1e-6F, 1.0F),
                                            checker::integers("targets", "N", {N}, Vp)},
                                 .outputs = {checker::output("losses", "N", {N})},
                                 .run = run_crossentropy(N, Vp)}});
}

// ---- forward ---------------------------------------------------------------------------------------------------

// Every parameter and every activation is a buffer of its own, so that whatever leaves its view is seen.
checker::RunFunction run_forward(const Config& config, int B, int T, bool with_targets) {
    return [=](const Library& library, const Buffers& at) {
        const auto bind = [&](const std::string& name, float*& view, const Shape&) { view = at.f32(name); };
        Parameters params(config);
        params.visit(bind);
        Activations acts(config, B, T);
        acts.visit(bind);
        acts.scratch = at.scratch("scratch");
        Context ctx;
        library.table<OpTable>().forward(acts, params, at.i32("tokens"), with_targets ? at.i32("targets") : nullptr,
                                         ctx);
    };
}

checker::Scratch forward_scratch(const Config& config, int B, int T) {
    return {"scratch",
            [=](const Library& library) { return library.table<OpTable>().forward_scratch_bytes(config, B, T); }};
}

std::vector<long> sizes_of(const Shape& shape) {
    return {shape.dims.begin(), shape.dims.begin() + shape.rank};
}

// Names of an activation's dimensions: of rank 2 they are (B, T), of rank 3 (B, T, C), but lse is (B, NH, T).
std::string_view dims_of(const std::string& name, const Shape& shape) {
    if (name.ends_with("lse")) {
        return "B NH/h T";
    }
    return shape.rank == 2 ? "B T" : "B T C";
}

// With targets everything is filled; without, probs and losses stay as they are.
Call forward_call(const CaseFile& file, bool with_targets) {
    const Config config{.max_T = file.dim("max_T"),
                        .V = file.dim("V"),
                        .Vp = file.dim("Vp"),
                        .L = file.dim("L"),
                        .NH = file.dim("NH"),
                        .C = file.dim("C")};
    const int B = file.dim("B"), T = file.dim("T");
    Call call{.where = with_targets ? "with targets" : "without targets",
              .inputs = {checker::input("tokens", "B T", {B, T}, file.i32("tokens")),
                         checker::input("targets", "B T", {B, T}, file.i32("targets"))},
              .outputs = {},
              .scratch = {forward_scratch(config, B, T)},
              .run = run_forward(config, B, T, with_targets)};
    Parameters params(config);
    params.visit([&](const std::string& name, float*&, const Shape& shape) {
        const std::string_view dims = shape.rank == 1 ? "C" : "O C";
        call.inputs.push_back(checker::input(name, dims, sizes_of(shape), file.f32("param/" + name)));
    });
    Activations acts(config, B, T);
    if (!with_targets) {
        call.null.emplace_back("targets");
    }
    acts.visit([&](const std::string& name, float*&, const Shape& shape) {
        checker::Output output = checker::output(name, dims_of(name, shape), sizes_of(shape), file.chained(name));
        if (name == "logits" || name == "probs") {
            output.columns = config.V;
            output.watch_padding = false;  // a forward may compute the padding too; what it holds is not looked at
        }
        output.stays_untouched = !with_targets && (name == "probs" || name == "losses");
        call.outputs.push_back(std::move(output));
    });
    return call;
}

void add_forward(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("forward", [](const Library& library) {
        const OpTable& ops = library.table<OpTable>();
        return ops.forward != nullptr && ops.forward_scratch_bytes != nullptr;
    });
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        checker::Case& c = op.add_case(name, fmt::format("{} L={}", shape_with_heads(file), file.dim("L")));
        c.calls.push_back(forward_call(file, true));
        c.calls.push_back(forward_call(file, false));
    }

    constexpr int B = 1, T = 32;
    const Config config{.max_T = T, .V = 256, .Vp = 256, .L = 2, .NH = 4, .C = 128};
    Call call{.where = "",
              .inputs = {checker::integers("tokens", "B T", {B, T}, config.V),
                         checker::integers("targets", "B T", {B, T}, config.V)},
              .outputs = {},
              .scratch = {forward_scratch(config, B, T)},
              .run = run_forward(config, B, T, true)};
    Parameters params(config);
    params.visit([&](const std::string& name, float*&, const Shape& shape) {
        call.inputs.push_back(checker::normal(name, shape.rank == 1 ? "C" : "O C", sizes_of(shape), 0.1F));
    });
    Activations acts(config, B, T);
    acts.visit([&](const std::string& name, float*&, const Shape& shape) {
        call.outputs.push_back(checker::output(name, dims_of(name, shape), sizes_of(shape)));
    });
    op.timed.push_back({.shape = fmt::format("B={} T={} C={} NH={} L={}", B, T, config.C, config.NH, config.L),
                        .call = std::move(call)});
}

void register_cases(checker::Lesson& lesson) {
    lesson.declared_in("lessons/gpt2/ops.h");
    add_matmul(lesson);
    add_causal_softmax(lesson);
    add_attention(lesson);
    add_softmax(lesson);
    add_crossentropy(lesson);
    add_forward(lesson);
}

}  // namespace

int main(int argc, char** argv) {
    return checker::run_lesson(argc, argv, "02_forward", register_cases);
}
