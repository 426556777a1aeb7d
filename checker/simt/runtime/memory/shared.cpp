// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/memory/shared.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <system_error>

#include "checker/simt/runtime/base/device.h"
#include "checker/simt/runtime/base/hot.h"

// Where `extern __shared__` arrays lie (checker/simt/include/simt/launch.h).
extern "C" {
alignas(simt::kDynamicSharedAlignment) char simt_dynamic_shared[simt::kDynamicSharedLimit + simt::kDynamicSharedGuard];
}

namespace simt {
namespace {

constexpr std::size_t kWidest = 16;  // bytes of one access
constexpr std::size_t kPageBytes = 4096;

std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
}

// "tile[2][31]", "byte 4 of tile[1]", "sum", of the byte at an offset; with_shape "tile[2][31] of tile[32][33]".
std::string element_text(const std::string& name, const Extents& extents, std::size_t offset, bool with_shape) {
    std::string index, shape;
    const std::size_t size = extents.element_bytes;
    std::size_t inner = size;
    for (const std::size_t count : extents.counts) { inner *= std::max<std::size_t>(count, 1); }
    for (const std::size_t count : extents.counts) {
        if (count != 0) {
            inner /= count;
            index += fmt::format("[{}]", offset / inner % count);
            shape += fmt::format("[{}]", count);
        }
    }
    const std::string part = offset % size == 0 ? "" : fmt::format("byte {} of ", offset % size);
    return part + name + index + (with_shape && !shape.empty() ? " of " + name + shape : "");
}

}  // namespace

void SharedMemory::configure(const Module* module, std::size_t dynamic_bytes) {
    dynamic_bytes_ = dynamic_bytes;
    static_begin_ = module == nullptr ? 0 : thread_local_begin(*module);
    static_end_ = static_begin_ == 0 ? 0 : static_begin_ + module->thread_local_bytes;
    // A static variable's offset is as aligned as its address.
    static_offset_ =
        rounded_up(kReservedSharedPerBlock + dynamic_bytes + kDynamicSharedGuard, kDynamicSharedAlignment) +
        static_begin_ % kDynamicSharedAlignment;
    slot_bytes_ = rounded_up(static_offset_ + static_bytes(), kPageBytes);
    if (module == module_) {
        return;
    }
    module_ = module;
    accidentally_aligned_.assign(static_bytes() / kWidest + 1, 0);
    for (const Symbol& symbol : module == nullptr ? std::span<const Symbol>() : std::span(module->thread_locals)) {
        const Extents* const extents = symbol.is_guard() || symbol.is_flag() ? nullptr : module->extents_of(symbol);
        if (extents != nullptr && !extents->aligned && extents->element_alignment < kWidest &&
            symbol.begin % kWidest == 0 && symbol.begin + symbol.bytes <= static_bytes()) {
            std::fill_n(accidentally_aligned_.begin() + static_cast<std::ptrdiff_t>(symbol.begin / kWidest),
                        symbol.bytes / kWidest, 1);
        }
    }
    // Without a symbol table nothing is known, and so a kernel is accused of nothing.
    const bool known = module != nullptr && !module->thread_locals.empty();
    static_template_.assign(static_bytes(), known ? Mark::outside : Mark::written);
    for (std::size_t i = 0; known && i < module->thread_locals.size(); i++) {
        const Symbol& symbol = module->thread_locals[i];
        if (!symbol.is_guard() && symbol.begin + symbol.bytes <= static_template_.size()) {
            std::fill_n(static_template_.begin() + static_cast<std::ptrdiff_t>(symbol.begin), symbol.bytes,
                        symbol.is_flag() ? Mark::written : Mark::unwritten);
        }
    }
}

unsigned SharedMemory::take_slot() {
    const auto slot = static_cast<unsigned>(std::countr_one(slots_taken_));
    slots_taken_ |= 1U << slot;
    return slot;
}

void SharedMemory::begin_block(unsigned slot) {
    marks_ = &marks_of_slots_[slot];
    std::vector<Mark>& dynamic = marks_->dynamic;
    dynamic.resize(sizeof simt_dynamic_shared, Mark::outside);
    if (marks_->dynamic_end > dynamic_bytes_) {
        std::fill_n(dynamic.begin() + static_cast<std::ptrdiff_t>(dynamic_bytes_), marks_->dynamic_end - dynamic_bytes_,
                    Mark::outside);
    }
    marks_->dynamic_end = dynamic_bytes_;
    if (!hot.checking) {
        return;
    }
    marks_->statics = static_template_;
    std::fill_n(dynamic.begin(), dynamic_bytes_, Mark::unwritten);
    expose();
}

void SharedMemory::expose() const {
    const auto marks = [](const std::vector<Mark>& of) { return reinterpret_cast<const std::uint8_t*>(of.data()); };
    hot.shared[0] = {static_begin_, marks_->statics.size(), marks(marks_->statics),
                     static_begin_ % kWidest == 0 ? accidentally_aligned_.data() : nullptr};
    hot.shared[1] = {reinterpret_cast<std::uintptr_t>(simt_dynamic_shared), dynamic_bytes_, marks(marks_->dynamic)};
}

void SharedMemory::end_launch() {
    hot.shared[0] = hot.shared[1] = {};
}

// Makes room for the slots of this launch, none of which is in use yet.
void SharedMemory::reserve_slots() {
    if (slots_ != nullptr) {
        munmap(slots_, reserved_bytes_);
    }
    slots_ = nullptr;
    reserved_bytes_ = slot_bytes_ * kResidentBlocks;
    void* const memory =
        mmap(nullptr, reserved_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::system_error(errno, std::generic_category(), "simt: no memory for blocks' shared memory");
    }
    slots_ = static_cast<char*>(memory);
}

void SharedMemory::save(unsigned slot) {
    if (slots_ == nullptr || slot_bytes_ * kResidentBlocks > reserved_bytes_) {
        reserve_slots();
    }
    char* const bytes = slot_begin(slot);
    std::copy_n(simt_dynamic_shared, dynamic_bytes_, bytes + kReservedSharedPerBlock);
    std::copy_n(reinterpret_cast<const char*>(static_begin_), static_bytes(), bytes + static_offset_);
}

void SharedMemory::load(unsigned slot) {
    const char* const bytes = slot_begin(slot);
    std::copy_n(bytes + kReservedSharedPerBlock, dynamic_bytes_, simt_dynamic_shared);
    std::copy_n(bytes + static_offset_, static_bytes(), reinterpret_cast<char*>(static_begin_));
    marks_ = &marks_of_slots_[slot];
    expose();
}

std::optional<std::size_t> SharedMemory::offset_of(std::uintptr_t address) const {
    if (const std::uintptr_t dynamic = address - reinterpret_cast<std::uintptr_t>(simt_dynamic_shared);
        dynamic < dynamic_bytes_ + kDynamicSharedGuard) {
        return kReservedSharedPerBlock + dynamic;
    }
    return address - static_begin_ < static_bytes() ? std::optional(static_offset_ + (address - static_begin_))
                                                    : std::nullopt;
}

std::optional<std::uintptr_t> SharedMemory::address_of(std::size_t offset) const {
    if (offset - kReservedSharedPerBlock < dynamic_bytes_ + kDynamicSharedGuard) {
        return reinterpret_cast<std::uintptr_t>(simt_dynamic_shared) + (offset - kReservedSharedPerBlock);
    }
    return offset - static_offset_ < static_bytes() ? std::optional(static_begin_ + (offset - static_offset_))
                                                    : std::nullopt;
}

std::optional<std::uintptr_t> SharedMemory::address_of(std::size_t offset, unsigned slot) const {
    return address_of(offset) ? std::optional(reinterpret_cast<std::uintptr_t>(slot_begin(slot)) + offset)
                              : std::nullopt;
}

Mark* SharedMemory::marks(std::uintptr_t address, std::size_t bytes) {
    const std::uintptr_t dynamic_offset = address - reinterpret_cast<std::uintptr_t>(simt_dynamic_shared);
    if (dynamic_offset <= sizeof simt_dynamic_shared - bytes) {
        return marks_->dynamic.data() + dynamic_offset;
    }
    const std::uintptr_t static_offset = address - static_begin_;
    std::vector<Mark>& statics = marks_->statics;
    if (address >= static_begin_ && static_offset < statics.size() && bytes <= statics.size() - static_offset) {
        return statics.data() + static_offset;
    }
    return nullptr;
}

std::size_t SharedMemory::index_of(std::uintptr_t address) const {
    const std::uintptr_t dynamic_offset = address - reinterpret_cast<std::uintptr_t>(simt_dynamic_shared);
    return dynamic_offset < dynamic_bytes_ ? dynamic_offset : dynamic_bytes_ + (address - static_begin_);
}

bool SharedMemory::is_flag(std::uintptr_t address) const {
    const std::uintptr_t offset = address - static_begin_;
    return module_ != nullptr &&
           std::any_of(module_->thread_locals.begin(), module_->thread_locals.end(),
                       [&](const Symbol& symbol) { return symbol.is_flag() && offset - symbol.begin < symbol.bytes; });
}

const Symbol* SharedMemory::symbol_at(std::uintptr_t address) const {
    const Symbol* nearest = nullptr;
    for (const Symbol& symbol : module_->thread_locals) {
        if (!symbol.is_guard() && !symbol.is_flag() && symbol.begin <= address - static_begin_) {
            nearest = &symbol;
        }
    }
    return nearest;
}

std::string SharedMemory::place_of_wild(std::uintptr_t address) const {
    constexpr std::uintptr_t kNear = 16384;
    const Symbol* first = nullptr;
    if (module_ == nullptr) {
        return "";
    }
    for (const Symbol& symbol : module_->thread_locals) {
        first = first == nullptr && !symbol.is_guard() && !symbol.is_flag() ? &symbol : first;
    }
    if (first == nullptr || static_begin_ == 0) {
        return "";
    }
    // An index of 32 bits that wraps is 2^32 elements too large.
    for (const std::uintptr_t element : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{2}, std::uintptr_t{4},
                                         std::uintptr_t{8}, std::uintptr_t{16}}) {
        const std::uintptr_t meant = address - (element << 32);
        const std::string by = element == 0 ? "" : fmt::format("2^32 elements of {} bytes beyond ", element);
        if (const std::uintptr_t begin = static_begin_ + first->begin; meant < begin && begin - meant <= kNear) {
            return fmt::format("{}{} bytes before {} ({} bytes)", by, begin - meant, first->name(), first->bytes);
        }
        if (meant >= static_begin_ + first->begin && meant - static_begin_ < static_bytes() + kNear) {
            return by + place_of(meant);
        }
    }
    return "";
}

const Extents* SharedMemory::extents_at(std::uintptr_t address) const {
    const bool dynamic = address - reinterpret_cast<std::uintptr_t>(simt_dynamic_shared) < sizeof simt_dynamic_shared;
    const Symbol* const symbol = dynamic ? nullptr : symbol_at(address);
    return symbol == nullptr ? nullptr : module_->extents_of(*symbol);
}

std::string SharedMemory::accidentally_aligned_place(std::uintptr_t address) {
    const std::size_t line = (address - static_begin_) / kWidest;
    if (line >= accidentally_aligned_.size() || accidentally_aligned_[line] == 0) {
        return "";
    }
    if (const Symbol* const symbol = symbol_at(address)) {
        std::fill_n(accidentally_aligned_.begin() + static_cast<std::ptrdiff_t>(symbol->begin / kWidest),
                    symbol->bytes / kWidest, 0);
    }
    return place_of(address);
}

std::string SharedMemory::place_of(std::uintptr_t address, bool with_shape) const {
    const std::uintptr_t offset = address - reinterpret_cast<std::uintptr_t>(simt_dynamic_shared);
    if (offset < sizeof simt_dynamic_shared) {
        return offset < dynamic_bytes_
                   ? fmt::format("byte {} of the {} bytes of dynamic shared memory", offset, dynamic_bytes_)
                   : fmt::format("{} bytes past the end of the {} bytes of dynamic shared memory",
                                 offset - dynamic_bytes_, dynamic_bytes_);
    }
    const Symbol* const nearest = symbol_at(address);
    if (nearest == nullptr) {
        return "before the first __shared__ array";
    }
    const std::size_t past = address - static_begin_ - nearest->begin;
    if (past >= nearest->bytes) {
        return fmt::format("{} bytes past the end of {} ({} bytes)", past - nearest->bytes, nearest->name(),
                           nearest->bytes);
    }
    const Extents* extents = module_->extents_of(*nearest);
    return extents != nullptr ? element_text(nearest->name(), *extents, past, with_shape)
                              : fmt::format("byte {} of {} ({} bytes)", past, nearest->name(), nearest->bytes);
}

}  // namespace simt
