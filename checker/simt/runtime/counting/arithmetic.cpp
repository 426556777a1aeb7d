// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/counting/arithmetic.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/counting/arithmetic_table.h"
#include "checker/simt/runtime/requests/traffic_trace.h"

namespace simt {
namespace {

template <class T>
T read_at(std::uintptr_t address) {
    T value;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return value;
}

// The call is followed by a nop of three bytes and a displacement, from its own address to the block's table.
std::uintptr_t table_of(std::uintptr_t return_address) {
    constexpr std::size_t kNop = 3;
    const std::uintptr_t field = return_address + kNop;
    return field + static_cast<std::uintptr_t>(std::intptr_t{read_at<std::int32_t>(field)});
}

void add(ArithmeticTraffic& sum, const ArithmeticInstruction& instruction, const TrafficSite& site) {
    const std::uint64_t requests = site.requests * instruction.operations,
                        threads = site.threads * instruction.operations;
    switch (instruction.kind) {
        case ArithmeticKind::fused:
            sum.fused_requests += requests;
            sum.fused += threads;
            return;
        case ArithmeticKind::other:
            sum.other_requests += requests;
            sum.other += threads;
            return;
        case ArithmeticKind::of_double:
            sum.in_double_requests += requests;
            sum.in_double += threads;
            return;
    }
}

}  // namespace

std::vector<LineTraffic> arithmetic_of(const std::vector<std::unique_ptr<TrafficSite>>& sites) {
    std::map<std::pair<std::string, int>, LineTraffic> by_line;
    for (const auto& site : sites) {
        if (site->kind != TraceKind::arithmetic) {
            continue;
        }
        const std::uintptr_t table = table_of(site->block);
        const auto count = read_at<ArithmeticBlock>(table).instructions;
        for (std::uint32_t i = 0; i < count; i++) {
            const std::uintptr_t at = table + sizeof(ArithmeticBlock) + i * sizeof(ArithmeticInstruction);
            const auto instruction = read_at<ArithmeticInstruction>(at);
            const std::uintptr_t end = at + static_cast<std::uintptr_t>(std::intptr_t{instruction.end});
            const SourceLine* line = &source_of(reinterpret_cast<const void*>(end));
            if (line->stands_in) {
                continue;
            }
            // In a function of a header of ours that was not inlined: the line that calls it.
            line = line->file.empty() ? &source_of(reinterpret_cast<const void*>(site->site)) : line;
            LineTraffic& sum = by_line[{line->file, line->line}];
            sum.line = *line;
            add(sum.traffic.arithmetic, instruction, *site);
        }
    }
    std::vector<LineTraffic> lines;
    for (auto& [where, line] : by_line) { lines.push_back(std::move(line)); }
    return lines;
}

}  // namespace simt

extern "C" {

[[gnu::used]] void simt_note_arithmetic(const void* site) {
    simt::note_in_trace(simt::packed(0, simt::TraceKind::arithmetic, 0), site);
}

#ifdef __x86_64__
// note_in_trace for the places that need nothing but an entry, which are nearly all. It is assembly because no register
// may change: a block does not expect a call where it begins. Elsewhere all of them are put aside first, those of vectors
// by XSAVE (components 0 to 2 and 5 to 7: at most 2,688 bytes).
[[gnu::naked]] void simt_arithmetic() {
    asm volatile(R"(
        pushq %%rax
        .cfi_adjust_cfa_offset 8
        lahf
        seto %%al
        pushq %%rcx
        .cfi_adjust_cfa_offset 8
        pushq %%rdx
        .cfi_adjust_cfa_offset 8
        pushq %%rsi
        .cfi_adjust_cfa_offset 8
        movq _ZN4simt3hotE@GOTPCREL(%%rip), %%rsi
        movq %c[next](%%rsi), %%rdx
        testq %%rdx, %%rdx
        je 1f
        movq %%fs:0, %%rcx
        cmpq %c[launcher](%%rsi), %%rcx
        jne 1f
        movq 32(%%rsp), %%rcx
        subq %c[main_begin](%%rsi), %%rcx
        cmpq %c[main_bytes](%%rsi), %%rcx
        jae 2f
        leaq %c[entry](%%rdx), %%rcx
        cmpq %c[end](%%rsi), %%rcx
        je 2f
        movq %%rcx, %c[next](%%rsi)
        movq 32(%%rsp), %%rcx
        shlq $16, %%rcx
        movq %%rcx, (%%rdx)
        movq %[what], 8(%%rdx)
    1:  popq %%rsi
        .cfi_remember_state
        .cfi_adjust_cfa_offset -8
        popq %%rdx
        .cfi_adjust_cfa_offset -8
        popq %%rcx
        .cfi_adjust_cfa_offset -8
        addb $0x7f, %%al
        sahf
        popq %%rax
        .cfi_adjust_cfa_offset -8
        ret
    2:  .cfi_restore_state
        pushq %%rax
        .cfi_adjust_cfa_offset 8
        pushq %%rdi
        .cfi_adjust_cfa_offset 8
        pushq %%r8
        .cfi_adjust_cfa_offset 8
        pushq %%r9
        .cfi_adjust_cfa_offset 8
        pushq %%r10
        .cfi_adjust_cfa_offset 8
        pushq %%r11
        .cfi_adjust_cfa_offset 8
        pushq %%rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %%rbp, 0
        movq 88(%%rsp), %%rdi
        movq %%rsp, %%rbp
        .cfi_def_cfa_register %%rbp
        subq $2688, %%rsp
        andq $-64, %%rsp
        xorl %%eax, %%eax
        movq %%rax, 512(%%rsp)
        movq %%rax, 520(%%rsp)
        movq %%rax, 528(%%rsp)
        movq %%rax, 536(%%rsp)
        movq %%rax, 544(%%rsp)
        movq %%rax, 552(%%rsp)
        movq %%rax, 560(%%rsp)
        movq %%rax, 568(%%rsp)
        movl $0xe7, %%eax
        xorl %%edx, %%edx
        xsave (%%rsp)
        cld
        call simt_note_arithmetic
        movl $0xe7, %%eax
        xorl %%edx, %%edx
        xrstor (%%rsp)
        movq %%rbp, %%rsp
        .cfi_def_cfa_register %%rsp
        popq %%rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore %%rbp
        popq %%r11
        .cfi_adjust_cfa_offset -8
        popq %%r10
        .cfi_adjust_cfa_offset -8
        popq %%r9
        .cfi_adjust_cfa_offset -8
        popq %%r8
        .cfi_adjust_cfa_offset -8
        popq %%rdi
        .cfi_adjust_cfa_offset -8
        popq %%rax
        .cfi_adjust_cfa_offset -8
        jmp 1b
    )" ::[next] "i"(offsetof(simt::Hot, trace.next)),
                 [end] "i"(offsetof(simt::Hot, trace.end)), [main_begin] "i"(offsetof(simt::Hot, trace.main_begin)),
                 [main_bytes] "i"(offsetof(simt::Hot, trace.main_bytes)), [launcher] "i"(offsetof(simt::Hot, launcher)),
                 [entry] "i"(sizeof(simt::TraceEntry)), [what] "i"(simt::packed(0, simt::TraceKind::arithmetic, 0)));
}
#else
void simt_arithmetic() {}
#endif

}  // extern "C"
