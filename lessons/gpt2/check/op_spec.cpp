// SPDX-License-Identifier: MIT
#include "lessons/gpt2/check/op_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

namespace cases {

std::span<const OpSpec* const> all_ops() {
    static constexpr std::array kAll{
#define OP(name) &name##_spec,
#include "lessons/gpt2/ops.def"
#undef OP
    };
    return kAll;
}

const OpSpec* find_op(std::string_view name) {
    const auto found = std::ranges::find(all_ops(), name, &OpSpec::name);
    return found == all_ops().end() ? nullptr : *found;
}

Draw normal(float sigma, checker::Element element) {
    return [=](const std::string& name, const std::string& dims, const Sizes& sizes) {
        return checker::normal(name, dims, sizes.axes(dims), sigma, element);
    };
}

Draw uniform(float low, float high) {
    return [=](const std::string& name, const std::string& dims, const Sizes& sizes) {
        return checker::uniform(name, dims, sizes.axes(dims), low, high);
    };
}

Draw ramp(float largest) {
    return [=](const std::string& name, const std::string& dims, const Sizes& sizes) {
        const auto fill = [=](std::span<std::byte> bytes, std::uint64_t /*seed*/) {
            const std::span values(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
            for (std::size_t i = 0; i < values.size(); i++) {
                values[i] = largest * (2 * static_cast<float>(i) / static_cast<float>(values.size() - 1) - 1);
            }
        };
        return checker::Input{
            {name, checker::Role::input, checker::Element::f32, checker::Dims(dims, sizes.axes(dims))}, fill};
    };
}

Draw halfway_in_bf16() {
    return [](const std::string& name, const std::string& dims, const Sizes& sizes) {
        checker::Input input = checker::uniform(name, dims, sizes.axes(dims), 0, 4);
        input.fill = [drawn = std::move(input.fill)](std::span<std::byte> bytes, std::uint64_t seed) {
            drawn(bytes, seed);
            const std::span values(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
            // An odd number of 128ths: half of one more is rounded up to the next, which is even.
            for (float& value : values) { value = 1 + (2 * std::floor(value) + 1) / 128 + 1.0F / 256; }
        };
        return input;
    };
}

Draw changed(Draw draw, Change change) {
    return [=](const std::string& name, const std::string& dims, const Sizes& sizes) {
        checker::Input input = draw(name, dims, sizes);
        input.fill = [=, columns = input.spec.dims.columns(), drawn = std::move(input.fill)](std::span<std::byte> bytes,
                                                                                             std::uint64_t seed) {
            drawn(bytes, seed);
            const std::span values(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
            for (std::size_t i = 0; i < values.size(); i++) {
                const auto element = static_cast<long>(i);
                values[i] = change(element / columns, element % columns, columns, values[i]);
            }
        };
        return input;
    };
}

float extreme_row(long row, long column, long /*columns*/, float drawn) {
    switch (row % 7) {
        case 0:
            return drawn + 1e4F;
        case 1:
            return 3;
        case 2:
            return column == 0 ? 1e3F : drawn;
        case 3:
            return drawn * 1e-20F;
        case 4:
            return drawn * 1e15F;
        case 5:
            return 0;
        default:
            return drawn - 1e4F;
    }
}

float extreme_logit(long row, long column, long columns, float drawn) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    switch (row % 10) {
        case 0:
            return drawn + 8e4F;
        case 1:
            return drawn - 8e4F;
        case 2:
            return -2e31F;
        case 3:
            return column % 2 == 0 ? 1e30F : -1e30F;
        case 4:
            return column == row % columns / 2 ? 800 : drawn;
        case 5:
            return column % 3 == 1 ? -kInfinity : drawn;
        case 6:
            return 2 * static_cast<float>(column) + drawn / 8;
        case 7:
            return 0;
        case 8:
            return (column < columns / 2 ? 0 : 87) + drawn / 8;  // exp(87) is finite, and no sum of many
        default:
            return drawn;
    }
}

// As extreme_logit(), of rows of 75 columns that count. Padding holds what no sum survives.
static float extreme_or_padding(long row, long column, long columns, float drawn) {
    constexpr long kColumns = 75;
    const float padding = row % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : 1e30F;
    return column < kColumns ? extreme_logit(row, column, columns, drawn) : padding;
}

std::vector<DrawnCase> cases_of_logits() {
    return {{"long", "N=2 V=50257 Vp=50304"},
            {"extreme", "N=16 V=75 Vp=78", {{"logits", changed(normal(3.0F), extreme_or_padding)}}},
            {"one", "N=9 V=1 Vp=1"},
            {"narrow", "N=1000 V=3 Vp=4"},
            // Twice as many as a grid has in y: of one that is cut there, most is written by no block.
            {.name = "rows", .shape = "N=140000 V=3 Vp=3", .by_blocks = true}};
}

Draw nan_in_row_1() {
    return changed(normal(), [](long row, long column, long columns, float drawn) {
        return row == 1 && column == columns / 2 ? std::numeric_limits<float>::quiet_NaN() : drawn;
    });
}

Draw integers_below(const std::string& size) {
    return [=](const std::string& name, const std::string& dims, const Sizes& sizes) {
        return checker::integers(name, dims, sizes.axes(dims), sizes[size]);
    };
}

const std::string& precision_of(const OpSpec& spec, const OutputSpec& output) {
    return output.precision.empty() ? spec.precision : output.precision;
}

double floors_times(const OpSpec& spec, const OutputSpec& output, const Sizes& sizes) {
    return spec.terms == nullptr || precision_of(spec, output) == "fp32" ? 1.0 : 1 / std::sqrt(spec.terms(sizes));
}

std::string dims_of(const OutputSpec& output, const Sizes& sizes) {
    if (output.columns.empty() || sizes.axes(output.dims).back() != sizes[output.columns]) {
        return output.dims;
    }
    const std::size_t last = output.dims.rfind(' ') + 1, index = output.dims.find('/', last);
    return output.dims.substr(0, last) + output.columns + output.dims.substr(index);
}

checker::RunFunction run_of(const OpSpec& spec, const Sizes& sizes, int threads) {
    return [=, run = spec.run](const Library& library, const Buffers& at) {
        Context& ctx = at.kept<Context>();
        ctx.threads = threads;
        ctx.stream = at.stream();
        call_with(ctx, [&] { run(library, at, sizes, ctx); });
    };
}

checker::Scratch scratch_of(const OpSpec& spec, const Sizes& sizes) {
    const std::string& dims = spec.scratch_dims;
    return {"scratch", [=, bytes = spec.scratch_bytes](const Library& library) { return bytes(library, sizes); },
            dims.empty() ? checker::Dims() : checker::Dims(dims, sizes.axes(dims))};
}

void add_rounded(checker::Call& call, const OpSpec& spec, const Sizes& sizes) {
    std::vector<bool> factor;  // by the call's inputs and outputs: it may leave out some of the op's
    for (const checker::Input& input : call.inputs) {
        factor.push_back(std::ranges::find(spec.inputs, input.spec.name, &InputSpec::name)->factor);
    }
    std::vector<std::size_t> outputs;
    for (const checker::Output& output : call.outputs) {
        const auto found = std::ranges::find(spec.outputs, output.spec.name, &OutputSpec::name);
        outputs.push_back(static_cast<std::size_t>(found - spec.outputs.begin()));
    }
    if (spec.precision == "fp32" || spec.compute == nullptr || std::ranges::find(factor, true) == factor.end()) {
        return;
    }
    const auto compute_rounded = [=, compute = spec.compute](const Values& read, const std::string& precision) {
        Values views = read;
        std::vector<std::vector<float>> rounded(factor.size());
        for (std::size_t i = 0; i < factor.size(); i++) {
            if (factor[i]) {
                rounded[i].resize(read[i].size());
                std::ranges::transform(read[i], rounded[i].begin(),
                                       [&](float value) { return checker::as_factor(value, precision); });
                views[i] = rounded[i];
            }
        }
        const std::vector<checker::Computed> all = compute(sizes, views);
        std::vector<checker::Computed> result;
        for (const std::size_t output : outputs) { result.push_back(all.at(output)); }
        return result;
    };
    call.rounded = [=, precision = spec.precision](const Values& read) { return compute_rounded(read, precision); };
    if (spec.precision == "tf32") {
        call.rounded_to_bf16 = [=](const Values& read) { return compute_rounded(read, "bf16"); };
    }
}

static void require_element(const OpSpec& spec, const checker::BufferSpec& drawn, checker::Element takes) {
    if (drawn.element != takes) {
        throw std::logic_error(fmt::format("{} takes {} of {}, but its values are drawn as {}", spec.name, drawn.name,
                                           checker::name_of(takes), checker::name_of(drawn.element)));
    }
}

checker::Call drawn_call(const OpSpec& spec, const Sizes& sizes, const std::vector<double>& factors,
                         const std::vector<std::string>& null, const std::map<std::string, Draw>& draws) {
    if (spec.drawn_call != nullptr) {
        checker::Call call = spec.drawn_call(sizes, spec);
        call.is_model = spec.is_model;
        return call;
    }
    checker::Call call{.where = sizes.text(spec.shape), .inputs = {}, .outputs = {}, .null = null, .run = {}};
    call.run = run_of(spec, sizes);
    for (const InputSpec& input : spec.inputs) {
        if (std::ranges::find(null, input.name) == null.end()) {
            const auto other = draws.find(input.name);
            const Draw& draw = other == draws.end() ? input.draw : other->second;
            call.inputs.push_back(draw(input.name, input.dims, sizes));
            require_element(spec, call.inputs.back().spec, input.element);
        }
    }
    for (std::size_t i = 0; i < spec.outputs.size(); i++) {
        const OutputSpec& output = spec.outputs[i];
        if (std::ranges::find(null, output.name) != null.end()) {
            continue;
        }
        if (sizes.has("outputs") && static_cast<int>(i) >= sizes["outputs"]) {
            call.null.push_back(output.name);
            continue;
        }
        const std::string dims = dims_of(output, sizes);
        call.outputs.push_back(output.before
                                   ? checker::inout(output.before(output.name, dims, sizes))
                                   : checker::output(output.name, dims, sizes.axes(output.dims), output.element));
        require_element(spec, call.outputs.back().spec, output.element);
        call.outputs.back().precision = precision_of(spec, output);
        call.outputs.back().expected.exact_zeros = output.exact_zeros;
        if (!output.columns.empty()) {
            call.outputs.back().columns = sizes[output.columns];
        }
        if (spec.compute != nullptr) {
            call.outputs.back().compute = [=, factor = factors.at(i), compute = spec.compute](const Values& inputs) {
                checker::Computed computed = std::move(compute(sizes, inputs).at(i));
                computed.factor = factor;
                return computed;
            };
        }
    }
    call.is_model = spec.is_model;
    add_rounded(call, spec, sizes);
    if (spec.scratch_bytes != nullptr) {
        call.scratch = {scratch_of(spec, sizes)};
    }
    return call;
}

}  // namespace cases
