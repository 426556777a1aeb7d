// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/memory/frees.h"

#include <fmt/core.h>

#include <string>

#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/report/findings.h"

namespace simt {
namespace {

FreedBy freed_by(Residence residence) {
    return residence == Residence::pinned ? FreedBy::cuda_free_host
           : residence == Residence::heap ? FreedBy::kernel
                                          : FreedBy::cuda_free;
}

}  // namespace

const char* text_of(FreedBy by) {
    switch (by) {
        case FreedBy::cuda_free:
            return "cudaFree";
        case FreedBy::cuda_free_host:
            return "cudaFreeHost";
        case FreedBy::kernel:
            return "free() or delete in a kernel";
    }
    return "";
}

bool may_free(void* pointer, FreedBy by, const void* site) {
    Allocation* allocation = Memory::instance().begins_at(pointer);
    if (allocation == nullptr) {
        report(Kind::invalid_free, "", site, [&] {
            const Allocation* inside = Memory::instance().find(reinterpret_cast<std::uintptr_t>(pointer));
            return inside == nullptr ? std::string("the pointer is none that the device gave out")
                                     : "the pointer is not the beginning of a buffer: " +
                                           place_in(*inside, reinterpret_cast<std::uintptr_t>(pointer));
        });
        return false;
    }
    if (allocation->freed_at != nullptr) {
        report(Kind::double_free, "", site, [&] {
            const std::string place = text_of_free(*allocation);
            return text_of(*allocation) + " was freed before" + (place.empty() ? "" : ",") + place;
        });
        return false;
    }
    if (const FreedBy right = freed_by(allocation->residence); right != by) {
        report(Kind::invalid_free, "", site, [&] {
            return fmt::format("{} is freed with {}; {} takes {}", text_of(*allocation), text_of(by),
                               right == FreedBy::cuda_free        ? "cudaMalloc's memory"
                               : right == FreedBy::cuda_free_host ? "pinned memory"
                                                                  : "a kernel's own memory",
                               text_of(right));
        });
        return false;
    }
    return true;
}

}  // namespace simt
