// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/memory/shadows.h"

#include <cstdint>
#include <cstring>
#include <set>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/memory/registered.h"

namespace simt {
namespace {

constexpr std::size_t kMostSearched = std::size_t{1} << 20;  // bytes of managed and pinned memory

struct GivenOut {
    std::set<const Symbol*> variables;
    bool all = false;  // too much memory to search
};

GivenOut& given_out() {
    static auto& instance = *new GivenOut;
    return instance;
}

const Symbol* variable_at(std::uintptr_t address) {
    if (address < hot.variables_begin || address >= hot.variables_end) {
        return nullptr;
    }
    const Module* const module = module_of(reinterpret_cast<const void*>(address));
    const Section section = module == nullptr ? Section::none : module->section_of(address);
    return section == Section::device || section == Section::constant ? module->variable_at(address) : nullptr;
}

}  // namespace

const Symbol* shadow_at(const void* address) {
    const Symbol* const variable = hot.checking ? variable_at(reinterpret_cast<std::uintptr_t>(address)) : nullptr;
    if (variable == nullptr || variable->is_guard()) {
        return nullptr;
    }
    give_out_addresses_in_host_memory();
    return given_out().all || given_out().variables.contains(variable) ? nullptr : variable;
}

void give_out(const void* variable) {
    if (const Symbol* const symbol = variable_at(reinterpret_cast<std::uintptr_t>(variable))) {
        given_out().variables.insert(symbol);
    }
}

void give_out_addresses_in(const void* begin, std::size_t bytes) {
    constexpr std::uintptr_t kWord = sizeof(std::uintptr_t);
    if (hot.variables_begin >= hot.variables_end) {
        return;
    }
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
    for (std::uintptr_t at = (reinterpret_cast<std::uintptr_t>(begin) + kWord - 1) / kWord * kWord; at + kWord <= end;
         at += kWord) {
        std::uintptr_t value = 0;
        std::memcpy(&value, reinterpret_cast<const void*>(at), kWord);
        if (value >= hot.variables_begin && value < hot.variables_end) {
            give_out(reinterpret_cast<const void*>(value));
        }
    }
}

void give_out_addresses_in_host_memory() {
    GivenOut& all = given_out();
    if (all.all || hot.variables_begin >= hot.variables_end) {
        return;
    }
    std::size_t bytes = 0;
    for (const auto& [begin, allocation] : Memory::instance().allocations()) {
        if (allocation.freed_at == nullptr && is_for_the_host(allocation.residence)) {
            bytes += allocation.bytes;
            all.all = all.all || bytes > kMostSearched;
            if (!all.all) {
                give_out_addresses_in(reinterpret_cast<const void*>(begin), allocation.bytes);
            }
        }
    }
    all.all = all.all || any_registered();
}

}  // namespace simt
