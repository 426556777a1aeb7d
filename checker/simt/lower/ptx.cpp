// SPDX-License-Identifier: MIT
#include "checker/simt/lower/ptx.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

namespace simt {
namespace {

using namespace std::string_view_literals;

// The constraints that nvcc has for registers of 32 and 64 bits.
constexpr char k32 = 'r', k64 = 'l', kFloat = 'f';

struct SpecialRegister {
    std::string_view name;
    char width;
};

constexpr std::array kSpecialRegisters = {
    SpecialRegister{"%tid.x", k32},          SpecialRegister{"%tid.y", k32},
    SpecialRegister{"%tid.z", k32},          SpecialRegister{"%ntid.x", k32},
    SpecialRegister{"%ntid.y", k32},         SpecialRegister{"%ntid.z", k32},
    SpecialRegister{"%ctaid.x", k32},        SpecialRegister{"%ctaid.y", k32},
    SpecialRegister{"%ctaid.z", k32},        SpecialRegister{"%nctaid.x", k32},
    SpecialRegister{"%nctaid.y", k32},       SpecialRegister{"%nctaid.z", k32},
    SpecialRegister{"%laneid", k32},         SpecialRegister{"%warpid", k32},
    SpecialRegister{"%nwarpid", k32},        SpecialRegister{"%smid", k32},
    SpecialRegister{"%nsmid", k32},          SpecialRegister{"%lanemask_eq", k32},
    SpecialRegister{"%lanemask_lt", k32},    SpecialRegister{"%lanemask_le", k32},
    SpecialRegister{"%lanemask_gt", k32},    SpecialRegister{"%lanemask_ge", k32},
    SpecialRegister{"%clock", k32},          SpecialRegister{"%clock_hi", k32},
    SpecialRegister{"%globaltimer_lo", k32}, SpecialRegister{"%globaltimer_hi", k32},
    SpecialRegister{"WARP_SZ", k32},         SpecialRegister{"%gridid", k32},
    SpecialRegister{"%gridid", k64},         SpecialRegister{"%clock64", k64},
    SpecialRegister{"%globaltimer", k64},
};

struct Instruction {
    std::string_view name;
    char result;
    std::string_view arguments;
};

constexpr std::array kInstructions = {
    Instruction{"bfind.u32", k32, "r"},
    Instruction{"bfind.s32", k32, "r"},
    Instruction{"bfind.u64", k32, "l"},
    Instruction{"bfind.s64", k32, "l"},
    Instruction{"popc.b32", k32, "r"},
    Instruction{"popc.b64", k32, "l"},
    Instruction{"clz.b32", k32, "r"},
    Instruction{"clz.b64", k32, "l"},
    Instruction{"brev.b32", k32, "r"},
    Instruction{"brev.b64", k64, "l"},
    Instruction{"prmt.b32", k32, "rrr"},
    Instruction{"bfe.u32", k32, "rrr"},
    Instruction{"bfi.b32", k32, "rrrr"},
    Instruction{"vabsdiff4.u32.u32.u32.add", k32, "rrr"},
    Instruction{"cvt.rna.tf32.f32", k32, "f"},
    Instruction{"cvt.rn.bf16x2.f32", k32, "ff"},
    Instruction{"ex2.approx.ftz.f32", kFloat, "f"},
    Instruction{"cvta.to.shared.u64", k64, "l"},
};

// mma.sync: what follows "mma.sync.aligned.", and the registers of D and C, of A and of B.
struct MmaInstruction {
    std::string_view name, shape;
    std::array<std::size_t, 4> registers;
};

constexpr std::array kMmaInstructions = {
    MmaInstruction{"m16n8k4.row.col.f32.tf32.tf32.f32", "m16n8k4_tf32", {4, 2, 1, 4}},
    MmaInstruction{"m16n8k8.row.col.f32.tf32.tf32.f32", "m16n8k8_tf32", {4, 4, 2, 4}},
    MmaInstruction{"m16n8k8.row.col.f32.bf16.bf16.f32", "m16n8k8_bf16", {4, 2, 1, 4}},
    MmaInstruction{"m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k16_bf16", {4, 4, 2, 4}},
    MmaInstruction{"m16n8k8.row.col.f32.f16.f16.f32", "m16n8k8_f16", {4, 2, 1, 4}},
    MmaInstruction{"m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16_f16", {4, 4, 2, 4}},
    MmaInstruction{"m16n8k8.row.col.f16.f16.f16.f16", "m16n8k8_f16_f16", {2, 2, 1, 2}},
    MmaInstruction{"m16n8k16.row.col.f16.f16.f16.f16", "m16n8k16_f16_f16", {2, 4, 2, 2}},
};

// ---- the statement in C++: strings, outputs and inputs ---------------------------------------------------------------

struct Operand {
    char constraint;
    bool is_read;                    // "+r"
    std::size_t begin = 0, end = 0;  // its parentheses, as offsets into the source
};

struct Statement {
    std::string ptx;
    std::vector<Operand> outputs, inputs;
    std::size_t begin = 0, end = 0;
};

// Returns what a string literal means, or nothing if it is none of plain characters.
std::optional<std::string> meaning(std::string_view literal) {
    if (literal.starts_with("R\"") && literal.ends_with('"')) {
        const std::size_t open = literal.find('('), close = literal.rfind(')');
        return std::string(literal.substr(open + 1, close - open - 1));
    }
    if (literal.size() < 2 || literal.front() != '"' || literal.back() != '"') {
        return std::nullopt;
    }
    std::string text;
    for (std::size_t i = 1; i + 1 < literal.size(); i++) {
        if (literal[i] != '\\') {
            text += literal[i];
            continue;
        }
        switch (literal[++i]) {
            case 'n':
                text += '\n';
                break;
            case 't':
                text += '\t';
                break;
            case 'r':
                text += '\r';
                break;
            case '\n':
                break;
            case '\\':
                text += '\\';
                break;
            case '"':
                text += '"';
                break;
            default:
                return std::nullopt;
        }
    }
    return text;
}

class StatementReader {
  public:
    StatementReader(const Source& source, const std::vector<Token>& tokens, std::size_t at)
        : source_(source), tokens_(tokens), at_(at) {}

    // Nothing if it is not written as nvcc's manual has it.
    std::optional<Statement> read() {
        Statement statement;
        statement.begin = tokens_[at_++].begin;
        while (is("volatile") || is("__volatile__") || is("__volatile") || is("inline") || is("__inline__")) { at_++; }
        if (!is("(")) {
            return std::nullopt;
        }
        at_++;
        const std::optional<std::string> ptx = strings();
        if (!ptx) {
            return std::nullopt;
        }
        statement.ptx = *ptx;
        int group = 0;
        while (is(":") || is("::")) {
            group += is("::") ? 2 : 1;
            at_++;
            if (group < 3 && !operands(group == 1 ? statement.outputs : statement.inputs)) {
                return std::nullopt;
            }
            while (group == 3 && (is_text() || is(","))) { at_++; }
        }
        if (!is(")")) {
            return std::nullopt;
        }
        statement.end = tokens_[at_].end;
        return statement;
    }

  private:
    std::string_view text() const { return at_ < tokens_.size() ? source_.spelling(tokens_[at_]) : std::string_view(); }
    bool is(std::string_view word) const { return text() == word; }
    bool is_text() const { return at_ < tokens_.size() && tokens_[at_].kind == TokenKind::text; }

    std::optional<std::string> strings() {
        std::string all;
        bool any = false;
        for (; is_text(); at_++) {
            const std::optional<std::string> one = meaning(text());
            if (!one) {
                return std::nullopt;
            }
            all += *one;
            any = true;
        }
        return any ? std::optional(all) : std::nullopt;
    }

    // "=r"(x), "=l"(y)
    bool operands(std::vector<Operand>& into) {
        while (is_text()) {
            std::string constraint = strings().value_or("");
            const bool is_read = constraint.starts_with('+');
            std::erase_if(constraint, [](char c) { return c == '=' || c == '&' || c == '+'; });
            if (constraint.size() != 1 || !is("(")) {
                return false;
            }
            Operand operand{.constraint = constraint[0], .is_read = is_read, .begin = tokens_[at_].begin};
            int depth = 0;
            do {
                depth += is("(") ? 1 : is(")") ? -1 : 0;
                operand.end = at_ < tokens_.size() ? tokens_[at_].end : 0;
                at_++;
            } while (depth > 0 && at_ < tokens_.size());
            into.push_back(operand);
            if (!is(",")) {
                break;
            }
            at_++;
        }
        return true;
    }

    const Source& source_;
    const std::vector<Token>& tokens_;
    std::size_t at_;
};

// ---- the PTX -----------------------------------------------------------------------------------------------------------

std::string_view trimmed(std::string_view text) {
    const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_space(text.back())) { text.remove_suffix(1); }
    return text;
}

std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(by, begin), text.size());
        parts.push_back(trimmed(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return parts;
}

// Returns the PTX without comments, and with one % where the template has two.
std::string plain(const std::string& ptx) {
    std::string text;
    for (std::size_t i = 0; i < ptx.size(); i++) {
        const std::string_view rest = std::string_view(ptx).substr(i);
        if (rest.starts_with("//")) {
            i = std::min(ptx.find('\n', i), ptx.size());
            text += '\n';
        } else if (rest.starts_with("/*")) {
            i = std::min(ptx.find("*/", i), ptx.size() - 1) + 1;
            text += ' ';
        } else {
            text += ptx[i];
            i += rest.starts_with("%%") ? 1 : 0;
        }
    }
    return text;
}

std::string function(std::string_view name) {
    std::string words(name.starts_with('%') ? name.substr(1) : name);
    std::replace(words.begin(), words.end(), '.', '_');
    return "::simt::ptx::" + words;
}

// Returns k of the operand %k.
std::optional<std::size_t> operand_number(std::string_view word) {
    std::size_t number = 0;
    if (!word.starts_with('%') ||
        std::from_chars(word.data() + 1, word.data() + word.size(), number).ptr != word.data() + word.size() ||
        word.size() < 2) {
        return std::nullopt;
    }
    return number;
}

// Returns the instruction with one blank, behind its name.
std::string without_blanks(std::string_view instruction) {
    std::string text;
    for (const char c : instruction) {
        if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            text += c;
        } else if (text.find(' ') == std::string::npos) {
            text += ' ';
        }
    }
    return text;
}

bool is_number(std::string_view word) {
    return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
           std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isxdigit(c) != 0 || c == 'x'; });
}

class Translation {
  public:
    Translation(const Source& source, const Statement& statement) : source_(source), statement_(statement) {}

    // Nothing if the device lacks one of the instructions.
    std::optional<std::vector<PtxEdit>> edits() {
        const std::string ptx = plain(statement_.ptx);
        std::string_view body = trimmed(ptx);
        if (body.starts_with('{') && body.ends_with('}')) {
            body = trimmed(body.substr(1, body.size() - 2));
        }
        const std::vector<std::string_view> instructions = split(body, ';');
        if (!instructions.back().empty()) {
            return std::nullopt;
        }
        if (const auto calls = matrix_edits(instructions)) {
            return calls;
        }
        values_.resize(statement_.outputs.size());
        for (const std::string_view instruction : instructions) {
            if (!instruction.empty() && !read(instruction)) {
                return std::nullopt;
            }
        }
        return called_ != nullptr ? call() : assignments();
    }

  private:
    // Returns the edits for a conversion of a generic address, or for one instruction on matrices.
    std::optional<std::vector<PtxEdit>> matrix_edits(const std::vector<std::string_view>& all) {
        std::vector<std::string> instructions;  // without blanks, but for one behind the name
        for (const std::string_view one : all) {
            if (!one.empty() && !one.starts_with(".reg")) {
                instructions.push_back(without_blanks(one));
            }
        }
        if (instructions.size() == 2 && statement_.outputs.size() == 1 && statement_.inputs.size() == 1) {
            return shared_address(instructions[0], instructions[1]);
        }
        if (instructions.size() != 1) {
            return std::nullopt;
        }
        const std::size_t blank = std::min(instructions[0].find(' '), instructions[0].size());
        const std::string_view name = std::string_view(instructions[0]).substr(0, blank);
        const std::string_view rest =
            std::string_view(instructions[0]).substr(std::min(blank + 1, instructions[0].size()));
        constexpr std::string_view kMma = "mma.sync.aligned.";
        for (const MmaInstruction& known : kMmaInstructions) {
            if (name.starts_with(kMma) && name.substr(kMma.size()) == known.name) {
                return mma(known, rest);
            }
        }
        return name.starts_with("ldmatrix.sync.aligned.") ? ldmatrix(name, rest) : async_copy(name, rest);
    }

    // cp.async, with or without a size in L2, and its groups: calls without a result, whose arguments are inputs in their
    // order or numbers.
    std::optional<std::vector<PtxEdit>> async_copy(std::string_view name, std::string_view rest) {
        const auto is_copy = [&](std::string_view begin) {
            return name.starts_with(begin) &&
                   (name == begin || std::string_view(".L2::64B.L2::128B.L2::256B").find(name.substr(begin.size())) !=
                                         std::string_view::npos);
        };
        const bool copies = is_copy("cp.async.ca.shared.global") || is_copy("cp.async.cg.shared.global");
        const std::string_view called = copies                            ? "cp_async"
                                        : name == "cp.async.commit_group" ? "cp_async_commit_group"
                                        : name == "cp.async.wait_group"   ? "cp_async_wait_group"
                                        : name == "cp.async.wait_all"     ? "cp_async_wait_all"
                                                                          : "";
        std::vector<std::string_view> words = rest.empty() ? std::vector<std::string_view>() : split(rest, ',');
        const std::size_t least = copies ? 3 : called == "cp_async_wait_group" ? 1 : 0, most = copies ? 4 : least;
        if (called.empty() || words.size() < least || words.size() > most || !statement_.outputs.empty()) {
            return std::nullopt;
        }
        for (std::size_t i = 0; copies && i < 2; i++) {  // the addresses
            if (!words[i].starts_with('[') || !words[i].ends_with(']') ||
                is_number(words[i].substr(1, words[i].size() - 2))) {
                return std::nullopt;
            }
            words[i] = words[i].substr(1, words[i].size() - 2);
        }
        return call_of_inputs(statement_.begin, "::simt::ptx::" + std::string(called) + "(", words, "");
    }

    // { .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }
    std::optional<std::vector<PtxEdit>> shared_address(std::string_view first, std::string_view second) {
        constexpr std::string_view kToShared = "cvta.to.shared.u64 ", kTo32 = "cvt.u32.u64 %0,";
        if (!first.starts_with(kToShared) || !first.ends_with(",%1") || !second.starts_with(kTo32) ||
            first.substr(kToShared.size(), first.size() - kToShared.size() - 3) != second.substr(kTo32.size()) ||
            statement_.outputs[0].constraint != k32 || statement_.inputs[0].constraint != k64) {
            return std::nullopt;
        }
        replace(statement_.begin, statement_.outputs[0].begin, "");
        replace(statement_.outputs[0].end, statement_.inputs[0].begin, " = ::simt::ptx::cvta_to_shared_u32(");
        replace(statement_.inputs[0].end, statement_.end, ")");
        return edits_;
    }

    // Appends the operands' numbers of lists of registers, "{%0,%1},{%2}". Returns false if list i has not `counts[i]`.
    bool lists(std::string_view text, const std::vector<std::size_t>& counts, std::vector<std::size_t>& numbers) const {
        for (const std::size_t count : counts) {
            const std::size_t end = text.find('}');
            if (!text.starts_with('{') || end == std::string_view::npos) {
                return false;
            }
            const std::vector<std::string_view> words = split(text.substr(1, end - 1), ',');
            for (const std::string_view word : words) {
                const std::optional<std::size_t> number = operand_number(word);
                if (!number || *number >= statement_.outputs.size() + statement_.inputs.size()) {
                    return false;
                }
                numbers.push_back(*number);
            }
            text.remove_prefix(std::min(end + 2, text.size()));
            if (words.size() != count) {
                return false;
            }
        }
        return text.empty();
    }

    std::optional<std::vector<PtxEdit>> mma(const MmaInstruction& known, std::string_view text) {
        std::vector<std::size_t> numbers;
        const auto& counts = known.registers;
        if (!lists(text, {counts.begin(), counts.end()}, numbers) || !are_outputs(numbers, counts[0])) {
            return std::nullopt;
        }
        return call_of_operands(
            fmt::format("mma_sync_operands<::simt::MmaShape::{}, {}>", known.shape, fmt::join(numbers, ", ")));
    }

    // The qualifiers come in any order: ".m8n8.x4.trans.shared.b16", ".x4.m8n8.b16".
    std::optional<std::vector<PtxEdit>> ldmatrix(std::string_view name, std::string_view text) {
        std::size_t matrices = 0;
        bool transposed = false;
        const std::vector<std::string_view> words = split(name, '.');
        for (std::size_t i = 3; i < words.size(); i++) {
            const std::string_view word = words[i];
            if (word == "x1" || word == "x2" || word == "x4") {
                matrices = static_cast<std::size_t>(word[1] - '0');
            } else if (word == "trans") {
                transposed = true;
            } else if (word != "m8n8" && word != "shared" && word != "shared::cta" && word != "b16") {
                return std::nullopt;
            }
        }
        const std::size_t bracket = text.find(",[");
        if (bracket == std::string_view::npos || !text.ends_with(']')) {
            return std::nullopt;
        }
        std::string_view address = text.substr(bracket + 2, text.size() - bracket - 3);
        const std::size_t plus = std::min(address.find('+'), address.size());
        const std::string_view offset = plus == address.size() ? "0" : address.substr(plus + 1);
        const std::optional<std::size_t> number = operand_number(address.substr(0, plus));
        std::vector<std::size_t> numbers;
        if (!number || *number < statement_.outputs.size() || !is_number(offset) ||
            *number >= statement_.outputs.size() + statement_.inputs.size() ||
            !lists(text.substr(0, bracket), {matrices}, numbers) || !are_outputs(numbers, matrices)) {
            return std::nullopt;
        }
        return call_of_operands(fmt::format("ldmatrix_operands<{}, {}, {}, {}>", transposed ? "true" : "false", offset,
                                            *number, fmt::join(numbers, ", ")));
    }

    bool are_outputs(const std::vector<std::size_t>& numbers, std::size_t count) const {
        return std::all_of(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count),
                           [&](std::size_t number) { return number < statement_.outputs.size(); });
    }

    // All operands, in their order, become the arguments; which one stands where is in the function's template arguments.
    std::optional<std::vector<PtxEdit>> call_of_operands(const std::string& name) {
        std::size_t from = statement_.begin;
        std::string text = "::simt::ptx::" + name + "(";
        for (const std::vector<Operand>* group : {&statement_.outputs, &statement_.inputs}) {
            for (const Operand& operand : *group) {
                replace(from, operand.begin, text);
                from = operand.end;
                text = ", ";
            }
        }
        replace(from, statement_.end, ")");
        return edits_;
    }

    bool read(std::string_view instruction) {
        const std::size_t blank = instruction.find_first_of(" \t\n\r");
        if (blank == std::string_view::npos || called_ != nullptr) {
            return false;
        }
        const std::string_view name = instruction.substr(0, blank);
        const std::vector<std::string_view> words = split(instruction.substr(blank), ',');
        if (name == ".reg") {
            return true;  // a name that it declares has no value yet
        }
        if (name.starts_with("mov.") && words.size() == 2) {
            return move(name.substr(4), words[0], words[1]);
        }
        for (const Instruction& known : kInstructions) {
            if (known.name == name && words.size() == known.arguments.size() + 1) {
                called_ = &known;
                arguments_.assign(words.begin() + 1, words.end());
                return words[0] == "%0" && statement_.outputs.size() == 1 &&
                       statement_.outputs[0].constraint == known.result && !statement_.outputs[0].is_read &&
                       locals_.empty() && values_[0].empty();
            }
        }
        return false;
    }

    bool move(std::string_view type, std::string_view to, std::string_view from) {
        const char width = type == "u32" || type == "s32" || type == "b32"   ? k32
                           : type == "u64" || type == "s64" || type == "b64" ? k64
                                                                             : '\0';
        const std::string key = std::string(from) + width;
        const auto local = locals_.find(key);
        std::string value = local == locals_.end() ? "" : local->second;
        for (const SpecialRegister& known : kSpecialRegisters) {
            value = known.name == from && known.width == width ? function(from) + "()" : value;
        }
        if (value.empty()) {
            return false;
        }
        const std::optional<std::size_t> output = operand_number(to);
        if (!output) {
            locals_[std::string(to) + width] = value;
            return true;
        }
        if (*output >= statement_.outputs.size() || statement_.outputs[*output].constraint != width ||
            !values_[*output].empty()) {
            return false;
        }
        values_[*output] = value;
        return true;
    }

    std::optional<std::vector<PtxEdit>> assignments() {
        std::size_t from = statement_.begin;
        std::string text;
        for (std::size_t i = 0; i < values_.size(); i++) {
            if (values_[i].empty()) {
                return std::nullopt;
            }
            replace(from, statement_.outputs[i].begin, text);
            from = statement_.outputs[i].end;
            text = " = " + values_[i] + (i + 1 < values_.size() ? ", " : "");
        }
        if (values_.empty() || !statement_.inputs.empty()) {
            return std::nullopt;
        }
        replace(from, statement_.end, text);
        return edits_;
    }

    // The inputs stay where they are, and become the arguments in their order.
    std::optional<std::vector<PtxEdit>> call() {
        replace(statement_.begin, statement_.outputs[0].begin, "");
        return call_of_inputs(statement_.outputs[0].end, " = " + function(called_->name) + "(",
                              {arguments_.begin(), arguments_.end()}, called_->arguments);
    }

    // Appends a call whose arguments are numbers, and the inputs in their order; the inputs stay where they are. `text`, up
    // to the parenthesis, replaces what begins at `from`. `constraints`: of each argument that is an input; empty: any.
    std::optional<std::vector<PtxEdit>> call_of_inputs(std::size_t from, std::string text,
                                                       const std::vector<std::string_view>& words,
                                                       std::string_view constraints) {
        std::size_t input = 0;
        for (std::size_t i = 0; i < words.size(); i++) {
            text += i > 0 ? ", " : "";
            if (is_number(words[i])) {
                text += words[i];
            } else if (input < statement_.inputs.size() &&
                       operand_number(words[i]) == statement_.outputs.size() + input &&
                       (constraints.empty() || statement_.inputs[input].constraint == constraints[i] ||
                        statement_.inputs[input].constraint == 'n')) {
                replace(from, statement_.inputs[input].begin, text);
                from = statement_.inputs[input++].end;
                text.clear();
            } else {
                return std::nullopt;
            }
        }
        if (input != statement_.inputs.size()) {
            return std::nullopt;
        }
        replace(from, statement_.end, text + ")");
        return edits_;
    }

    void replace(std::size_t begin, std::size_t end, const std::string& text) {
        const std::string& source = source_.text();
        const auto lines = std::count(source.begin() + static_cast<std::ptrdiff_t>(begin),
                                      source.begin() + static_cast<std::ptrdiff_t>(end), '\n');
        edits_.push_back({begin, end, text + std::string(static_cast<std::size_t>(lines), '\n')});
    }

    const Source& source_;
    const Statement& statement_;
    std::vector<std::string> values_;            // for each output, an expression
    std::map<std::string, std::string> locals_;  // registers that the PTX declares, with their width
    const Instruction* called_ = nullptr;
    std::vector<std::string> arguments_;
    std::vector<PtxEdit> edits_;
};

// Names the instruction on matrices, if it is one.
std::string refusal(const Source& source, const std::vector<Token>& tokens, std::size_t at) {
    const std::optional<Statement> statement = StatementReader(source, tokens, at).read();
    const std::string ptx = statement ? plain(statement->ptx) : "";
    for (const std::string_view name : {"mma.sync", "wgmma", "wmma", "ldmatrix", "stmatrix", "movmatrix"}) {
        for (std::size_t begin = ptx.find(name); begin != std::string::npos; begin = ptx.find(name, begin + 1)) {
            if (begin == 0 || std::string_view(" \t\n\r{;").find(ptx[begin - 1]) != std::string_view::npos) {
                const std::size_t end = std::min(ptx.find_first_of(" \t\n\r;", begin), ptx.size());
                return fmt::format(
                    "{} is not on the CPU device as it is written here; of instructions on matrices it has mma.sync "
                    "m16n8k4, m16n8k8 and m16n8k16 of TF32, bf16 and fp16, and ldmatrix",
                    ptx.substr(begin, end - begin));
            }
        }
    }
    return "inline PTX is not on the CPU device";
}

}  // namespace

std::vector<PtxEdit> lower_ptx(const Source& source, const std::vector<Token>& tokens, std::size_t at) {
    if (const std::optional<Statement> statement = StatementReader(source, tokens, at).read()) {
        if (trimmed(statement->ptx).empty() && statement->outputs.empty() && statement->inputs.empty()) {
            return {};
        }
        if (const auto edits = Translation(source, *statement).edits()) {
            return *edits;
        }
    }
    throw source.error(tokens[at].begin, refusal(source, tokens, at));
}

}  // namespace simt
