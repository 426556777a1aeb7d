// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>

#include "checker/cases/blas.h"
#include "lessons/gpt2/op_table.h"
#include "lessons/gpt2/tensors.h"

namespace cases {
namespace {

using checker::Buffers;
using checker::Call;
using checker::CaseFile;
using checker::Library;

// Read and written once, an element.
constexpr double kGeluBytes = 2 * sizeof(float);
constexpr double kResidualBytes = 3 * sizeof(float);
// A row of the encoder: two floats read and one written, an element; and its token, which each thread of a block of 256
// may ask for.
constexpr double encoder_row_bytes(int C) {
    return 3.0 * sizeof(float) * C + 256 * sizeof(int);
}

const char* const kModelCases[] = {"regular", "odd", "head64", "t1"};

std::string shape_text(int B, int T, int C) {
    return fmt::format("B={} T={} C={}", B, T, C);
}

std::string shape_with_heads(const CaseFile& file) {
    return fmt::format("{} NH={}", shape_text(file.dim("B"), file.dim("T"), file.dim("C")), file.dim("NH"));
}

}  // namespace

// ---- layers ----------------------------------------------------------------------------------------------------

static checker::RunFunction run_encoder(int B, int T, int C) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().encoder(at.f32("out"), at.i32("tokens"), at.f32("wte"), at.f32("wpe"), B, T, C, ctx);
    };
}

checker::Op& add_encoder(checker::Lesson& lesson) {
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
                              .run = run_encoder(B, T, C),
                              .needed = {{"bytes_asked", B * T * encoder_row_bytes(C)}}});
    };
    for (const std::string name : kModelCases) {
        add(name, "tokens", "param/wte.weight", "param/wpe.weight", "encoded");
    }
    add("op_c63", "input/encoder/tokens", "input/encoder/wte", "input/encoder/wpe", "encoder.out");
    return op;
}

checker::Case& add_wide_encoder_case(checker::Lesson& lesson, checker::Op& op) {
    constexpr int B = 2, T = 3, C = 1000, Vp = 17;
    const double factor = lesson.budget_factor("encoder.out");
    const auto compute = [=](const std::vector<std::span<const float>>& inputs) {
        checker::Computed computed{.values = {}, .floor = {}, .factor = factor};
        for (std::size_t row = 0; row < B * T; row++) {
            const auto token = static_cast<std::size_t>(std::bit_cast<std::int32_t>(inputs[0][row]));
            float largest = 0;
            for (std::size_t c = 0; c < C; c++) {
                const double sum = static_cast<double>(inputs[1][token * C + c]) + inputs[2][row % T * C + c];
                computed.values.push_back(static_cast<float>(sum));
                largest = std::max(largest, std::abs(computed.values.back()));
            }
            computed.floor.push_back(0x1p-24F * largest);  // floors of reference/ops/encoder.py
        }
        return computed;
    };
    checker::Case& c = op.add_case("wide", shape_text(B, T, C));
    checker::Call call = time_encoder(B, T, C, Vp).call;
    call.where = "encoder.out";
    call.outputs = {checker::output("out", "B T C", {B, T, C}, compute)};
    call.needed = {{"bytes_asked", B * T * encoder_row_bytes(C)}};
    c.calls.push_back(std::move(call));
    return c;
}

// ---- tensors that start 4 bytes beyond a multiple of 64 ----------------------------------------------------------------

// The input behind one float that nobody reads.
static checker::Input late(checker::Input tensor) {
    tensor.spec.dims = checker::Dims("1+N/i", {1 + tensor.spec.dims.elements()});
    tensor.fill = [fill = std::move(tensor.fill)](std::span<std::byte> to, std::uint64_t seed) {
        std::ranges::fill(to.first(sizeof(float)), std::byte{});
        fill(to.subspan(sizeof(float)), seed);
    };
    return tensor;
}

// The output behind one float, which should be `first`.
static checker::Output late(const checker::Output& tensor, float first) {
    const checker::Expected expected = tensor.expected;
    const long elements = tensor.spec.dims.elements();
    return checker::output(tensor.spec.name, "1+N/i", {1 + elements}, [=](const auto&) {
        checker::Computed computed{.values = {first}, .floor = {expected.floor.front()}, .factor = expected.factor};
        computed.values.insert(computed.values.end(), expected.values.begin(), expected.values.end());
        const std::size_t row = expected.values.size() / expected.floor.size();
        for (std::size_t i = 0; i < expected.values.size(); i++) { computed.floor.push_back(expected.floor[i / row]); }
        return computed;
    });
}

// The call with one of its tensors late, an input or the output `out`. `run` finds the pointer behind that float, and has
// stored the float itself where it is the output's: `first` is what it should be.
static Call with_late(Call call, const std::string& name, float first, checker::RunFunction run) {
    for (checker::Input& input : call.inputs) {
        if (input.spec.name == name) {
            input = late(std::move(input));
        }
    }
    for (checker::Output& output : call.outputs) {
        if (output.spec.name == name) {
            output = late(output, first);
        }
    }
    call.where = name + " starts 4 bytes late, alone";
    call.needed = {};
    call.run = std::move(run);
    return call;
}

static checker::RunFunction run_layernorm(int B, int T, int C) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().layernorm(at.f32("out"), at.f32("mean"), at.f32("rstd"), at.f32("inp"),
                                           at.f32("weight"), at.f32("bias"), B, T, C, ctx);
    };
}

// out, mean and rstd are the tensors' names in the file.
static Call layernorm_call(const CaseFile& file, int B, int T, const std::string& inp, const std::string& weight,
                           const std::string& bias, const std::string& out, const std::string& mean,
                           const std::string& rstd) {
    const auto C = static_cast<int>(file.f32(weight).size());
    return {.where = out,
            .inputs = {checker::input("inp", "B T C", {B, T, C}, file.f32(inp)),
                       checker::input("weight", "C", {C}, file.f32(weight)),
                       checker::input("bias", "C", {C}, file.f32(bias))},
            .outputs = {checker::output("mean", "B T", {B, T}, file.local(mean, "layernorm.mean")),
                        checker::output("rstd", "B T", {B, T}, file.local(rstd, "layernorm.rstd")),
                        checker::output("out", "B T C", {B, T, C}, file.local(out, "layernorm.out"))},
            .run = run_layernorm(B, T, C)};
}

// The op-level inputs of a case file, as a case of the file's name.
static void add_layernorm_case(checker::Op& op, const CaseFile& file, const std::string& name, int B, int T) {
    const auto C = static_cast<int>(file.f32("input/layernorm/weight").size());
    checker::Case& c = op.add_case(name, shape_text(B, T, C));
    c.calls.push_back(layernorm_call(file, B, T, "input/layernorm/inp", "input/layernorm/weight",
                                     "input/layernorm/bias", "layernorm.out", "layernorm.mean", "layernorm.rstd"));
}

checker::Op& add_layernorm(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("layernorm", checker::defines(&OpTable::layernorm));
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        const int B = file.dim("B"), T = file.dim("T");
        checker::Case& c = op.add_case(name, shape_text(B, T, file.dim("C")));
        // One layernorm of the model: its name, its parameters', and the tensor that it reads.
        const auto add = [&](const std::string& ln, const std::string& parameters, const std::string& inp) {
            c.calls.push_back(layernorm_call(file, B, T, "chained/" + inp, "param/" + parameters + ".weight",
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
    add_layernorm_case(op, c63, "op_c63", c63.dim("B"), c63.dim("T"));
    return op;
}

void add_wide_layernorm_case(checker::Lesson& lesson, checker::Op& op) {
    const CaseFile& wide = lesson.case_file("op_wide");
    const std::size_t C = wide.f32("input/layernorm/weight").size();
    add_layernorm_case(op, wide, "op_wide", 1, static_cast<int>(wide.f32("input/layernorm/inp").size() / C));
}

void add_shifted_layernorm_case(checker::Lesson& lesson, checker::Op& op) {
    const CaseFile& file = lesson.case_file("regular");
    const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C");
    checker::Case& shifted = op.add_case("shifted", shape_text(B, T, C));
    const Call whole = op.cases.front().calls.front();  // h.0.ln_1
    const float bias = file.f32("param/h.0.ln_1.bias").front();
    for (const std::string name : {"inp", "weight", "bias", "out"}) {
        const auto run = [=](const Library& library, const Buffers& at) {
            Context ctx;
            const auto& layernorm = library.table<OpTable>().layernorm;
            const auto pointer = [&](const char* tensor) { return at.f32(tensor) + (tensor == name ? 1 : 0); };
            const float *inp = pointer("inp"), *weight = pointer("weight"), *b = pointer("bias");
            float *mean = at.f32("mean"), *rstd = at.f32("rstd");
            if (name == "out") {  // a row of one channel is at its mean, so that the bias is left
                layernorm(at.f32("out"), mean, rstd, inp, weight, b, 1, 1, 1, ctx);
            }
            layernorm(pointer("out"), mean, rstd, inp, weight, b, B, T, C, ctx);
        };
        shifted.calls.push_back(with_late(whole, name, bias, run));
    }
}

static checker::RunFunction run_gelu(int N) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().gelu(at.f32("out"), at.f32("inp"), N, ctx);
    };
}

checker::Case& add_gelu_case(checker::Lesson& lesson, checker::Op& op, const std::string& file_name) {
    const CaseFile& file = lesson.case_file(file_name);
    const std::span<const float> inp = file.f32("input/gelu/inp");
    const checker::Reference reference = file.local("gelu.out", "gelu.out");
    const int N = static_cast<int>(inp.size());
    // A row for each floor; in the model's shapes where the file has them.
    const bool model = file.has_dim("B");
    const std::string dims = model ? "B T C" : "rows/r cols/c";
    const long rows = static_cast<long>(reference.expected.floor.size());
    const std::vector<long> sizes =
        model ? std::vector<long>{file.dim("B"), file.dim("T"), file.dim("C")} : std::vector<long>{rows, N / rows};
    checker::Case& c = op.add_case(
        file_name, model ? shape_text(file.dim("B"), file.dim("T"), file.dim("C")) : fmt::format("N={}", N));
    c.calls.push_back({.where = "gelu.out",
                       .inputs = {checker::input("inp", dims, sizes, inp)},
                       .outputs = {checker::output("out", dims, sizes, reference)},
                       .run = run_gelu(N),
                       .needed = {{"bytes_asked", kGeluBytes * N}}});
    return c;
}

checker::Op& add_gelu(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("gelu", checker::defines(&OpTable::gelu));
    // N = B * T * C elements; indices are those of the tensor in the model.
    const auto call = [](const CaseFile& file, int C, const std::string& inp, const std::string& out) -> Call {
        const int B = file.dim("B"), T = file.dim("T");
        return {.where = out,
                .inputs = {checker::input("inp", "B T C", {B, T, C}, file.f32(inp))},
                .outputs = {checker::output("out", "B T C", {B, T, C}, file.local(out, "gelu.out"))},
                .run = run_gelu(B * T * C),
                .needed = {{"bytes_asked", kGeluBytes * B * T * C}}};
    };
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        const int C = 4 * file.dim("C");
        checker::Case& c = op.add_case(name, shape_text(file.dim("B"), file.dim("T"), C));
        for (int l = 0; l < file.dim("L"); l++) {
            c.calls.push_back(call(file, C, fmt::format("chained/h.{}.fc", l), fmt::format("h.{}.fc_gelu", l)));
        }
    }
    add_gelu_case(lesson, op, "op_c63");
    return op;
}

// A copy of the op's case op_c63 that makes its one call in another way.
static void add_shifted_case(checker::Op& op, const checker::RunFunction& run) {
    const auto c63 = std::ranges::find(op.cases, "op_c63", &checker::Case::name);
    checker::Case& shifted = op.add_case("shifted", c63->shape);
    shifted.calls = c63->calls;
    shifted.calls.front().run = run;
    shifted.calls.front().where = "all start 4 bytes late";
}

void add_shifted_gelu_case(checker::Lesson& lesson, checker::Op& op) {
    const auto N = static_cast<int>(lesson.case_file("op_c63").f32("input/gelu/inp").size());
    add_shifted_case(op, [=](const Library& library, const Buffers& at) {
        Context ctx;
        const auto& gelu = library.table<OpTable>().gelu;
        gelu(at.f32("out"), at.f32("inp"), 1, ctx);
        gelu(at.f32("out") + 1, at.f32("inp") + 1, N - 1, ctx);
    });
    std::vector<Call>& calls = op.cases.back().calls;
    const Call whole = calls.front();
    for (const std::string name : {"inp", "out"}) {
        const auto run = [=](const Library& library, const Buffers& at) {
            Context ctx;
            const auto& gelu = library.table<OpTable>().gelu;
            const float* inp = at.f32("inp") + (name == "inp" ? 1 : 0);
            if (name == "out") {
                gelu(at.f32("out"), inp, 1, ctx);
            }
            gelu(at.f32("out") + (name == "out" ? 1 : 0), inp, N, ctx);
        };
        calls.push_back(with_late(whole, name, whole.outputs.front().expected.values.front(), run));
    }
}

static checker::RunFunction run_residual(int N) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().residual(at.f32("out"), at.f32("inp1"), at.f32("inp2"), N, ctx);
    };
}

checker::Op& add_residual(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("residual", checker::defines(&OpTable::residual));
    const auto call = [](const CaseFile& file, const std::string& inp1, const std::string& inp2,
                         const std::string& out) -> Call {
        const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C");
        return {.where = out,
                .inputs = {checker::input("inp1", "B T C", {B, T, C}, file.f32(inp1)),
                           checker::input("inp2", "B T C", {B, T, C}, file.f32(inp2))},
                .outputs = {checker::output("out", "B T C", {B, T, C}, file.local(out, "residual.out"))},
                .run = run_residual(B * T * C),
                .needed = {{"bytes_asked", kResidualBytes * B * T * C}}};
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
    return op;
}

void add_shifted_residual_case(checker::Lesson& lesson, checker::Op& op) {
    const auto N = static_cast<int>(lesson.case_file("op_c63").f32("input/residual/inp1").size());
    add_shifted_case(op, [=](const Library& library, const Buffers& at) {
        Context ctx;
        const auto& residual = library.table<OpTable>().residual;
        residual(at.f32("out"), at.f32("inp1"), at.f32("inp2"), 1, ctx);
        residual(at.f32("out") + 1, at.f32("inp1") + 1, at.f32("inp2") + 1, N - 1, ctx);
    });
    std::vector<Call>& calls = op.cases.back().calls;
    const Call whole = calls.front();
    for (const std::string name : {"inp1", "inp2", "out"}) {
        const auto run = [=](const Library& library, const Buffers& at) {
            Context ctx;
            const auto& residual = library.table<OpTable>().residual;
            const auto pointer = [&](const char* tensor) { return at.f32(tensor) + (tensor == name ? 1 : 0); };
            const float *inp1 = pointer("inp1"), *inp2 = pointer("inp2");
            if (name == "out") {
                residual(at.f32("out"), inp1, inp2, 1, ctx);
            }
            residual(pointer("out"), inp1, inp2, N, ctx);
        };
        calls.push_back(with_late(whole, name, whole.outputs.front().expected.values.front(), run));
    }
}

void count_rows(checker::Op& op, const std::function<std::vector<checker::Needed>(double elements)>& needed) {
    checker::Case& c = *std::ranges::find(op.cases, "head64", &checker::Case::name);
    for (Call& call : c.calls) { call.needed = needed(static_cast<double>(call.inputs[0].spec.dims.elements())); }
}

// ---- matmul ----------------------------------------------------------------------------------------------------

checker::RunFunction run_matmul(const MatmulDims& dims, Contexts contexts, int threads) {
    const auto kept = std::make_shared<Context>();
    kept->threads = threads;
    return [=](const Library& library, const Buffers& at) {
        Context fresh;
        fresh.threads = threads;
        library.table<OpTable>().matmul(at.f32("out"), at.f32("inp"), at.f32("weight"),
                                        dims.bias ? at.f32("bias") : nullptr, dims.N, dims.C, dims.OC, dims.stride(),
                                        contexts == Contexts::kept ? *kept : fresh);
    };
}

std::string MatmulDims::text() const {
    return fmt::format("N={} C={} OC={}", N, C, OC);
}

checker::Case& add_matmul_case(checker::Lesson& lesson, checker::Op& op, const std::string& file_name, int threads) {
    const CaseFile& file = lesson.case_file(file_name);
    const std::span<const float> bias = file.f32("input/matmul/bias"), inp = file.f32("input/matmul/inp");
    const int OC = static_cast<int>(bias.size()), C = file.dim("C"), N = static_cast<int>(inp.size()) / C;
    checker::Case& c =
        threads == 1 ? op.add_case(file_name, MatmulDims{N, C, OC}.text())
                     : op.add_case("threads", fmt::format("{}, {} threads", MatmulDims{N, C, OC}.text(), threads));
    c.calls.push_back({.where = "matmul.out",
                       .inputs = {checker::input("inp", "N C", {N, C}, inp),
                                  checker::input("weight", "OC/o C", {OC, C}, file.f32("input/matmul/weight")),
                                  checker::input("bias", "OC/o", {OC}, bias)},
                       .outputs = {checker::output("out", "N OC/o", {N, OC}, file.local("matmul.out", "matmul.out"))},
                       .run = run_matmul({N, C, OC}, Contexts::fresh, threads)});
    return c;
}

// Of a device that can run some blocks of a launch alone: what they wrote is judged, element by element.
static checker::Call sampled_matmul(const MatmulDims& dims, double factor) {
    const auto expected = [=](long element, const std::vector<std::span<const float>>& inputs) {
        const auto n = static_cast<std::size_t>(element / dims.OC), o = static_cast<std::size_t>(element % dims.OC);
        const auto C = static_cast<std::size_t>(dims.C);
        return checker::computed_element(inputs[0].subspan(n * C, C), inputs[1].subspan(o * C, C), inputs[2][o]);
    };
    return {
        .where = "",
        .inputs = {checker::normal("inp", "N C", {dims.N, dims.C}),
                   checker::normal("weight", "OC/o C", {dims.OC, dims.C}), checker::normal("bias", "OC/o", {dims.OC})},
        .outputs = {},
        .run = run_matmul(dims),
        .sampled = checker::Sampled{.output = {.name = "out",
                                               .role = checker::Role::output,
                                               .element = checker::Element::f32,
                                               .dims = checker::Dims("N OC/o", {dims.N, dims.OC})},
                                    .expected = expected,
                                    .factor = factor}};
}

void add_huge_matmul_case(checker::Lesson& lesson, checker::Op& op) {
    if (lesson.takes_sampled() && !lesson.rehearsal()) {
        add_sampled_matmul_case(lesson, op, "huge", {.N = 42'735, .C = 1, .OC = 50'257});  // 2,147,732,895 outputs
    }
}

void add_sampled_matmul_case(checker::Lesson& lesson, checker::Op& op, const std::string& name,
                             const MatmulDims& dims) {
    op.add_case(name, dims.text()).calls.push_back(sampled_matmul(dims, lesson.budget_factor("matmul.out")));
}

checker::Timed time_matmul(const MatmulDims& dims, double factor) {
    const auto compute = [=](const std::vector<std::span<const float>>& inputs) {
        return checker::computed_matmul(inputs[0], inputs[1], inputs[2], dims.N, dims.C, dims.OC, factor);
    };
    return {.shape = dims.text(),
            .flop = 2.0 * dims.N * dims.C * dims.OC,
            .call = {.where = dims.text(),
                     .inputs = {checker::normal("inp", "N C", {dims.N, dims.C}),
                                checker::normal("weight", "OC/o C", {dims.OC, dims.C}),
                                checker::normal("bias", "OC/o", {dims.OC})},
                     .outputs = {checker::output("out", "N OC/o", {dims.N, dims.OC}, compute)},
                     .run = run_matmul(dims, Contexts::kept)},
            .run_on_two_threads = run_matmul(dims, Contexts::kept, 2)};
}

void time_large_matmuls(checker::Lesson& lesson, checker::Op& op, const MatmulDims& rehearsed) {
    constexpr int kSide = 4096, N = 4096, C = 768, V = 50'257;
    const std::vector<MatmulDims> all{{kSide, kSide, kSide}, {N, C, 3 * C}, {N, C, C},
                                      {N, C, 4 * C},         {N, 4 * C, C}, {N, C, V}};
    for (const MatmulDims& dims : lesson.rehearsal() ? std::vector{rehearsed} : all) {
        checker::Timed timed = time_matmul(dims, lesson.budget_factor("matmul.out"));
        timed.library = lesson.matmul_library(dims.N, dims.C, dims.OC);
        op.timed.push_back(std::move(timed));
    }
}

void add_matmul_shapes(checker::Lesson& lesson, checker::Op& op, const std::vector<checker::Needed>& of_square) {
    const double factor = lesson.budget_factor("matmul.out");
    const auto add = [&](const std::string& name, const MatmulDims& dims, bool sampled = false) {
        checker::Call call = sampled ? sampled_matmul(dims, factor) : time_matmul(dims, factor).call;
        call.run = run_matmul(dims);
        op.add_case(name, dims.text()).calls.push_back(std::move(call));
    };
    add("square", {.N = kSquare, .C = kSquare, .OC = kSquare});
    op.cases.back().calls.back().needed = of_square;
    add("one", {.N = 1, .C = 1, .OC = 1});
    add("ragged", {.N = 17, .C = 33, .OC = 129});
    add("one_channel", {.N = 65, .C = 1, .OC = 33});
    add("vocabulary", {.N = 2, .C = 33, .OC = 50'257}, lesson.samples_blocks());
}

void add_shifted_matmul_case(checker::Lesson& lesson, checker::Op& op) {
    constexpr int N = 9, C = 20, OC = 12;
    const double factor = lesson.budget_factor("matmul.out");
    const auto compute = [=](const std::vector<std::span<const float>>& inputs) {
        return checker::computed_matmul(inputs[0].subspan(1), inputs[1].subspan(1), inputs[2], N, C, OC, factor);
    };
    const auto run = [=](const Library& library, const Buffers& at) {
        Context ctx;
        const auto& matmul = library.table<OpTable>().matmul;
        const float *inp = at.f32("inp") + 1, *weight = at.f32("weight") + 1, *bias = at.f32("bias");
        matmul(at.f32("out"), inp, weight, bias, N, C, 1, OC, ctx);
        matmul(at.f32("out") + 1, inp, weight + C, bias + 1, N, C, OC - 1, OC, ctx);
    };
    op.add_case("shifted", MatmulDims{.N = N, .C = C, .OC = OC}.text())
        .calls.push_back(
            {.where = "matmul.out",
             .inputs = {checker::normal("inp", "1+N*C/i", {1 + N * C}),
                        checker::normal("weight", "1+OC*C/i", {1 + OC * C}), checker::normal("bias", "OC/o", {OC})},
             .outputs = {checker::output("out", "N OC/o", {N, OC}, compute)},
             .run = run});
}

checker::Op& add_matmul(checker::Lesson& lesson) {
    checker::Op& op = lesson.op("matmul", checker::defines(&OpTable::matmul));
    for (const std::string name : kModelCases) {
        const CaseFile& file = lesson.case_file(name);
        const int B = file.dim("B"), T = file.dim("T"), C = file.dim("C"), V = file.dim("V"), Vp = file.dim("Vp");
        checker::Case& c = op.add_case(name, shape_text(B, T, C));
        const auto add = [&](const std::string& out, const std::string& inp, int in, const std::string& layer, int OC) {
            c.calls.push_back(
                {.where = out,
                 .inputs = {checker::input("inp", "B T C", {B, T, in}, file.f32("chained/" + inp)),
                            checker::input("weight", "OC/o C", {OC, in}, file.f32("param/" + layer + ".weight")),
                            checker::input("bias", "OC/o", {OC}, file.f32("param/" + layer + ".bias"))},
                 .outputs = {checker::output("out", "B T OC/o", {B, T, OC}, file.local(out, "matmul.out"))},
                 .run = run_matmul({B * T, in, OC})});
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
                           .run = run_matmul({B * T, C, V, Vp, false})});
    }
    add_matmul_case(lesson, op, "op_c63");
    return op;
}

// ---- attention -------------------------------------------------------------------------------------------------

static checker::RunFunction run_causal_softmax(float scale, int B, int NH, int T) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().causal_softmax(at.f32("att"), at.f32("lse"), at.f32("scores"), scale, B, NH, T, ctx);
    };
}

checker::Op& add_causal_softmax(checker::Lesson& lesson) {
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
    return op;
}

static checker::RunFunction run_attention(int B, int T, int C, int NH) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().attention(at.f32("out"), at.f32("lse"), at.f32("qkv"), at.scratch("scratch"), B, T, C,
                                           NH, ctx);
    };
}

static checker::Scratch attention_scratch(int B, int T, int C, int NH) {
    return {"scratch",
            [=](const Library& library) { return library.table<OpTable>().attention_scratch_bytes(B, T, C, NH); }};
}

checker::Op& add_attention(checker::Lesson& lesson) {
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
    return op;
}

// ---- loss ------------------------------------------------------------------------------------------------------

static checker::RunFunction run_softmax(int N, int V, int Vp) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().softmax(at.f32("probs"), at.f32("logits"), N, V, Vp, ctx);
    };
}

checker::Op& add_softmax(checker::Lesson& lesson) {
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
    return op;
}

static checker::RunFunction run_crossentropy(int N, int Vp) {
    return [=](const Library& library, const Buffers& at) {
        Context ctx;
        library.table<OpTable>().crossentropy(at.f32("losses"), at.f32("probs"), at.i32("targets"), N, Vp, ctx);
    };
}

checker::Op& add_crossentropy(checker::Lesson& lesson) {
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
    return op;
}

// ---- forward ---------------------------------------------------------------------------------------------------

// Every parameter and every activation is a buffer of its own, so that whatever leaves its view is seen.
static checker::RunFunction run_forward(const Config& config, int B, int T, bool with_targets) {
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

static checker::Scratch forward_scratch(const Config& config, int B, int T) {
    return {"scratch",
            [=](const Library& library) { return library.table<OpTable>().forward_scratch_bytes(config, B, T); }};
}

static std::vector<long> sizes_of(const Shape& shape) {
    return {shape.dims.begin(), shape.dims.begin() + shape.rank};
}

// Names of an activation's dimensions: of rank 2 they are (B, T), of rank 3 (B, T, C), but lse is (B, NH, T).
static std::string_view dims_of(const std::string& name, const Shape& shape) {
    if (name.ends_with("lse")) {
        return "B NH/h T";
    }
    return shape.rank == 2 ? "B T" : "B T C";
}

// With targets everything is filled; without, probs and losses stay as they are.
static Call forward_call(const CaseFile& file, bool with_targets) {
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

checker::Op& add_forward(checker::Lesson& lesson) {
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
    return op;
}

// ---- timed -----------------------------------------------------------------------------------------------------

checker::Timed time_encoder(int B, int T, int C, int Vp) {
    // Read: the tokens, the positions' rows, and those rows of wte that at least one of the random tokens names.
    const double rows = static_cast<double>(B) * T;
    const double distinct = Vp * -std::expm1(rows * std::log1p(-1.0 / Vp));
    const double floats = rows + T * static_cast<double>(C) + distinct * C + rows * C;
    return {.shape = shape_text(B, T, C),
            .bytes_moved = sizeof(float) * static_cast<std::size_t>(floats),
            .call = {.where = "",
                     .inputs = {checker::integers("tokens", "B T", {B, T}, Vp),
                                checker::normal("wte", "Vp/v C", {Vp, C}), checker::normal("wpe", "T C", {T, C})},
                     .outputs = {checker::output("out", "B T C", {B, T, C})},
                     .run = run_encoder(B, T, C)}};
}

checker::Timed time_layernorm(int B, int T, int C) {
    return {.shape = shape_text(B, T, C),
            .call = {.where = "",
                     .inputs = {checker::normal("inp", "B T C", {B, T, C}), checker::normal("weight", "C", {C}),
                                checker::normal("bias", "C", {C})},
                     .outputs = {checker::output("mean", "B T", {B, T}), checker::output("rstd", "B T", {B, T}),
                                 checker::output("out", "B T C", {B, T, C})},
                     .run = run_layernorm(B, T, C)}};
}

checker::Timed time_gelu(int N) {
    return {.shape = fmt::format("N={}", N),
            .bytes_moved = 2 * sizeof(float) * static_cast<std::size_t>(N),
            .call = {.where = "",
                     .inputs = {checker::normal("inp", "N/i", {N}, 2.0F)},
                     .outputs = {checker::output("out", "N/i", {N})},
                     .run = run_gelu(N)}};
}

checker::Timed time_residual(int N) {
    return {.shape = fmt::format("N={}", N),
            .bytes_moved = 3 * sizeof(float) * static_cast<std::size_t>(N),
            .call = {.where = "",
                     .inputs = {checker::normal("inp1", "N/i", {N}), checker::normal("inp2", "N/i", {N})},
                     .outputs = {checker::output("out", "N/i", {N})},
                     .run = run_residual(N)}};
}

checker::Timed time_causal_softmax(int B, int NH, int T) {
    constexpr float kScale = 0.125F;  // 1 / sqrt(HS) of GPT-2
    return {.shape = fmt::format("B={} NH={} T={}", B, NH, T),
            .call = {.where = "",
                     .inputs = {checker::normal("scores", "B NH/h T T/s", {B, NH, T, T}, 8.0F)},
                     .outputs = {checker::output("lse", "B NH/h T", {B, NH, T}),
                                 checker::output("att", "B NH/h T T/s", {B, NH, T, T})},
                     .run = run_causal_softmax(kScale, B, NH, T)}};
}

checker::Timed time_attention(int B, int T, int C, int NH) {
    return {.shape = fmt::format("B={} T={} C={} NH={}", B, T, C, NH),
            .call = {
                .where = "",
                .inputs = {checker::normal("qkv", "B T 3C/c", {B, T, 3 * C})},
                .outputs = {checker::output("lse", "B NH/h T", {B, NH, T}), checker::output("out", "B T C", {B, T, C})},
                .scratch = {attention_scratch(B, T, C, NH)},
                .run = run_attention(B, T, C, NH)}};
}

checker::Timed time_softmax(int N, int V, int Vp) {
    checker::Output probs = checker::output("probs", "N Vp/v", {N, Vp});
    probs.columns = V;
    return {.shape = fmt::format("N={} V={} Vp={}", N, V, Vp),
            .call = {.where = "",
                     .inputs = {checker::normal("logits", "N Vp/v", {N, Vp}, 3.0F)},
                     .outputs = {probs},
                     .run = run_softmax(N, V, Vp)}};
}

checker::Timed time_crossentropy(int N, int Vp) {
    return {.shape = fmt::format("N={} Vp={}", N, Vp),
            .call = {.where = "",
                     .inputs = {checker::uniform("probs", "N Vp/v", {N, Vp}, 1e-6F, 1.0F),
                                checker::integers("targets", "N", {N}, Vp)},
                     .outputs = {checker::output("losses", "N", {N})},
                     .run = run_crossentropy(N, Vp)}};
}

checker::Timed time_forward(const Config& config, int B, int T) {
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
    return {.shape = fmt::format("B={} T={} C={} NH={} L={}", B, T, config.C, config.NH, config.L),
            .call = std::move(call),
            .hot = true};
}

}  // namespace cases
