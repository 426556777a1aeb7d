// SPDX-License-Identifier: MIT
#include "checker/simt/driver/arithmetic.h"

#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "checker/simt/runtime/counting/arithmetic_table.h"

namespace simt {

// fused: fused multiply-adds. contract: whatever -std says. expensive-optimizations: the pass that fuses them asks for
// it. red-zone: a call where a block begins must find nothing below the stack pointer.
const char* const kArithmeticFlags[4] = {"-mfma", "-ffp-contract=fast", "-fexpensive-optimizations", "-mno-red-zone"};
const char* const kCallFlag = kArithmeticFlags[3];

const char* why_no_arithmetic() {
#ifdef __x86_64__
    return __builtin_cpu_supports("fma") ? nullptr : "this processor has no fused multiply-add";
#else
    return "it knows the instructions of x86-64 alone";
#endif
}

namespace {

struct Operations {
    ArithmeticKind kind;
    unsigned count;
};

struct Instruction {
    std::string_view mnemonic, operands;
};

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) { text.remove_prefix(1); }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) { text.remove_suffix(1); }
    return text;
}

// Nothing for a directive, a label, a comment.
std::optional<Instruction> instruction_in(std::string_view line) {
    if (line.size() < 2 || line[0] != '\t' || std::islower(static_cast<unsigned char>(line[1])) == 0) {
        return std::nullopt;
    }
    line = without_blanks(line);
    const std::size_t end = line.find_first_of(" \t");
    return Instruction{line.substr(0, end), end == line.npos ? std::string_view() : without_blanks(line.substr(end))};
}

// ---- x86-64 -----------------------------------------------------------------------------------------------------------

// vfmadd231ss, vaddss, vucomiss, vcmpltss and their like: the ending says float or double, one number or a vector.
std::optional<Operations> operations_of(const Instruction& instruction) {
    std::string_view name = instruction.mnemonic;
    if (name == "call" || name == "jmp") {  // what has no instruction here and one under nvcc
        const std::string_view function = instruction.operands.substr(0, instruction.operands.find('@'));
        const bool real = function == "fminf" || function == "fmaxf";
        return real || function == "fmin" || function == "fmax"
                   ? std::optional(Operations{real ? ArithmeticKind::other : ArithmeticKind::of_double, 1})
                   : std::nullopt;
    }
    if (name.size() < 5) {
        return std::nullopt;
    }
    const std::string_view ending = name.substr(name.size() - 2);
    const bool vector = ending[0] == 'p', of_double = ending[1] == 'd';
    if ((ending[0] != 's' && !vector) || (ending[1] != 's' && !of_double)) {
        return std::nullopt;
    }
    name.remove_suffix(2);
    const bool vex = name[0] == 'v';
    name.remove_prefix(vex ? 1 : 0);
    bool fused = false;
    for (const std::string_view one : {"fmadd", "fmsub", "fnmadd", "fnmsub"}) {
        fused = fused || name.starts_with(one);
    }
    bool other = vex && name.starts_with("cmp");
    for (const std::string_view one : {"add", "sub", "mul", "div", "min", "max", "comi", "ucomi"}) {
        other = other || name == one;
    }
    if (!fused && !other) {
        return std::nullopt;
    }
    const auto has = [&](std::string_view what) { return instruction.operands.find(what) != std::string_view::npos; };
    const unsigned bytes = has("%zmm") ? 64 : has("%ymm") ? 32 : 16;
    return Operations{of_double ? ArithmeticKind::of_double
                      : fused   ? ArithmeticKind::fused
                                : ArithmeticKind::other,
                      vector ? bytes / (of_double ? 8 : 4) : 1};
}

bool ends_block(const Instruction& instruction) {
    return instruction.mnemonic[0] == 'j' || instruction.mnemonic.starts_with("ret") ||
           instruction.mnemonic == "notrack" || instruction.mnemonic == "ud2";
}

// The call, and an instruction without effect whose displacement leads to the table.
constexpr std::string_view kCall =
    "\tcall\tsimt_arithmetic@PLT\n"
    "\t.byte\t0x0f, 0x1f, 0x80\n"
    "\t.long\t";

// ---- any ----------------------------------------------------------------------------------------------------------------

// Whether a jump may lead to the label: the name of a function, or .L and a number. Others are places for the debugger.
bool begins_block(std::string_view label) {
    return !label.starts_with(".L") || (label.size() > 2 && std::isdigit(static_cast<unsigned char>(label[2])) != 0);
}

// Of a section's directive: the group that the linker keeps or drops it with, if any.
std::string_view group_of(std::string_view section) {
    const std::size_t comdat = section.rfind(",comdat");
    if (comdat == section.npos) {
        return {};
    }
    const std::size_t begin = section.rfind(',', comdat - 1) + 1;
    return section.substr(begin, comdat - begin);
}

class Rewriting {
  public:
    explicit Rewriting(Counted which) : which_(which) {}
    std::string run(std::string_view assembly) {
        while (!assembly.empty()) {
            const std::size_t end = assembly.find('\n');
            if (end == assembly.npos) {
                line(assembly);
                break;
            }
            line(assembly.substr(0, end));
            assembly.remove_prefix(end + 1);
        }
        end_block();
        return std::move(text_);
    }

  private:
    struct CounterResult {
        unsigned label;
        Operations operations;
    };

    void line(std::string_view one) {
        const std::size_t colon = one.find(':');
        const bool label = !one.empty() && one[0] != '\t' && one[0] != '#' && colon != one.npos;
        const bool section = one.starts_with("\t.section") || one == "\t.text" || one == "\t.data" || one == "\t.bss";
        if (section || (label && begins_block(one.substr(0, colon)))) {
            end_block();
        }
        if (section) {
            group_ = group_of(one);
        }
        const std::optional<Instruction> instruction = instruction_in(one);
        if (instruction && !in_block_) {
            in_block_ = true;
            begin_ = text_.size();
        }
        text_ += one;
        text_ += '\n';
        if (!instruction) {
            return;
        }
        if (const std::optional<Operations> operations = operations_of(*instruction);
            operations && (which_ == Counted::all || operations->kind == ArithmeticKind::of_double)) {
            text_ += ".Lsimt_operation" + std::to_string(labels_) + ":\n";
            counted_.push_back({labels_++, *operations});
        }
        if (ends_block(*instruction)) {
            end_block();
        }
    }

    void end_block() {
        in_block_ = false;
        if (counted_.empty()) {
            return;
        }
        const std::string table = ".Lsimt_block" + std::to_string(blocks_++);
        text_.insert(begin_, std::string(kCall) + table + "-.\n");
        text_ += "\t.pushsection\t.rodata.simt_arithmetic";
        text_ += group_.empty() ? ",\"a\",@progbits\n"
                                : '.' + std::string(group_) + ",\"aG\",@progbits," + std::string(group_) + ",comdat\n";
        text_ += "\t.balign\t4\n" + table + ":\n\t.long\t" + std::to_string(counted_.size()) + '\n';
        for (const CounterResult& one : counted_) {
            text_ += "\t.long\t.Lsimt_operation" + std::to_string(one.label) + "-., " +
                     std::to_string(static_cast<unsigned>(one.operations.kind)) + ", " +
                     std::to_string(one.operations.count) + '\n';
        }
        text_ += "\t.popsection\n";
        counted_.clear();
    }

    Counted which_;
    std::string text_;
    std::string_view group_;              // the text's section has it
    bool in_block_ = false;               // an instruction of it has been read
    std::size_t begin_ = 0;               // the block's first instruction is there in the text
    std::vector<CounterResult> counted_;  // in the block
    unsigned labels_ = 0, blocks_ = 0;
};

}  // namespace

std::string with_arithmetic_counted(std::string_view assembly, Counted counted) {
#ifdef __x86_64__
    return Rewriting(counted).run(assembly);
#else
    static_cast<void>(counted);
    return std::string(assembly);
#endif
}

}  // namespace simt
