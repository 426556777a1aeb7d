// SPDX-License-Identifier: MIT
//
// build/tools/ops: what the checker knows of the ops, as JSON for scripts.
//
//   ops                                          every op, with the sizes that its shapes name
//   ops --costs 'layernorm B=4 T=1024 C=768' …   the bytes that a call must move at least and its FLOP (lessons/gpt2/check)
//
// Sizes that a shape does not name may be given too: 'encoder B=4 T=1024 C=768 Vp=4096'. A parameter that is null has a
// minus, as in build/tools/calls: 'matmul N=4096 C=768 OC=50257 -bias'.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <stdexcept>

#include "lessons/gpt2/check/op_spec.h"

namespace {

using nlohmann::json;

double elements(const cases::Sizes& sizes, const std::string& dims) {
    const std::vector<long> axes = sizes.axes(dims);
    return std::accumulate(axes.begin(), axes.end(), 1.0, std::multiplies<>());
}

// Returns how much of the op's cost is a parameter's tensor: all of it, as none that may be null (ops.h) has padding.
// Throws std::invalid_argument if the op has no such parameter.
double counted_bytes(const cases::OpSpec& op, const std::string& parameter, const cases::Sizes& sizes) {
    std::vector<std::string> known;
    for (const cases::InputSpec& input : op.inputs) {
        if (input.name == parameter) {
            return elements(sizes, input.dims) * static_cast<double>(checker::bytes_of(input.element));
        }
        known.push_back(input.name);
    }
    for (std::size_t i = 0; i < op.outputs.size(); i++) {
        const cases::OutputSpec& output = op.outputs[i];
        if (output.name == parameter) {
            const bool is_wanted = !sizes.has("outputs") || static_cast<int>(i) < sizes["outputs"];
            const double bytes = static_cast<double>(checker::bytes_of(output.element));
            return is_wanted ? elements(sizes, output.dims) * bytes : 0;
        }
        known.push_back(output.name);
    }
    throw std::invalid_argument(
        fmt::format("{} has no parameter {}; it has {}", op.name, parameter, fmt::join(known, ", ")));
}

json cost_of(const std::string& call) {
    const std::vector<std::string> words = cases::words(call);
    const cases::OpSpec* op = words.empty() ? nullptr : cases::find_op(words.front());
    if (op == nullptr) {
        throw std::invalid_argument(fmt::format("'{}' starts with no op; `build/tools/ops` lists them", call));
    }
    const auto [named, null] = cases::CallSizes::of(fmt::format("{}", fmt::join(std::span(words).subspan(1), " ")));
    if (!named.has_axes(op->shape)) {
        throw std::invalid_argument(fmt::format("'{}' lacks a size: those of {} are {}", call, op->name, op->shape));
    }
    const cases::Sizes sizes = named.completed(op->defaults);
    cases::Cost cost = op->cost(sizes);
    // Nobody has said how many bytes a whole forward pass must move.
    if (cost.bytes > 0) {
        for (const std::string& parameter : null) { cost.bytes -= counted_bytes(*op, parameter, sizes); }
    }
    return {{"op", op->name},
            {"shape", sizes.text(op->shape)},
            {"bytes", cost.bytes > 0 ? json(cost.bytes) : json()},
            {"flop", cost.flop}};
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    json result = json::array();
    try {
        if (arguments.empty()) {
            for (const cases::OpSpec* op : cases::all_ops()) {
                result.push_back({{"op", op->name}, {"sizes", cases::words(op->shape)}});
            }
        } else if (arguments.front() == "--costs") {
            for (const std::string& call : std::span(arguments).subspan(1)) { result.push_back(cost_of(call)); }
        } else {
            throw std::invalid_argument("usage: ops [--costs 'OP SIZE=N …' …]");
        }
    } catch (const std::exception& e) {
        fmt::print(stderr, "ops: {}\n", e.what());
        return 2;
    }
    fmt::print("{}\n", result.dump(1));
    return 0;
}
