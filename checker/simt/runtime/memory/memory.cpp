// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/memory/memory.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "checker/simt/runtime/base/random.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/base/thread_request.h"
#include "checker/simt/runtime/memory/modules.h"

namespace simt {

namespace {

constexpr std::size_t kSmallestGap = 8192;
constexpr std::size_t kLargestGap = std::size_t{16} << 20;
// An index of type int that overflows points 2^32 elements, of 4 bytes, before the place that it should point to.
constexpr std::size_t kOverflowingBytes = std::size_t{1} << 31;
constexpr std::size_t kOverflowGap = std::size_t{16} << 30;
constexpr std::size_t kGpuPage = std::size_t{2} << 20;
constexpr int kPoison = 0xff;  // each byte of it: NaN, or -1

std::size_t page() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

std::size_t round_up(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
}

void* reserve(std::size_t bytes, int protection) {
    void* address = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        fmt::print(stderr,
                   "simt: the system gives no {} GiB of address space for the device's memory ({}); `ulimit -v "
                   "unlimited` lifts a limit\n",
                   bytes >> 30, std::strerror(errno));
        std::_Exit(2);
    }
    return address;
}

void check_protection(int result) {
    if (result != 0) {
        std::perror("simt: the device's memory cannot be opened or closed");
        std::_Exit(1);
    }
}

std::size_t gap_after(std::size_t bytes) {
    return std::clamp(bytes / 2, kSmallestGap, kLargestGap);
}

// Bytes before a buffer. CUDA promises an alignment of 256 bytes; no buffer here has a larger one by accident.
std::size_t room_before(std::size_t bytes) {
    return Memory::kAlignment + (bytes >= kOverflowingBytes ? kOverflowGap : 0);
}

// Bytes that a buffer takes with what lies before and after it.
std::size_t room_for(std::size_t bytes) {
    return round_up(room_before(bytes) + bytes + gap_after(bytes), page());
}

std::string plural(std::size_t count, const char* unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
}

// Returns the return address where the program called the destructor that runs; null if none does, or if its code is part
// of the caller's.
const void* caller_of_destructor() {
    struct Search {
        bool in_destructor = false;
        const void* caller = nullptr;
    } search;
    _Unwind_Backtrace(
        [](_Unwind_Context* context, void* data) {
            auto& its = *static_cast<Search*>(data);
            const std::uintptr_t address = _Unwind_GetIP(context);
            const Module* const module = module_of(reinterpret_cast<const void*>(address - 1));
            const Symbol* const function = module == nullptr ? nullptr : module->function_at(address - 1);
            if (function == nullptr) {
                return _URC_END_OF_STACK;
            }
            const std::string& name = function->linkage_name;
            const bool is_runtimes = name.starts_with("cuda") || name.starts_with("_ZN4simt");
            const bool is_destructor = name.ends_with("D1Ev") || name.ends_with("D2Ev") || name.ends_with("D0Ev");
            its.caller = its.in_destructor && !is_destructor ? reinterpret_cast<const void*>(address) : nullptr;
            its.in_destructor = is_destructor;
            return is_destructor || is_runtimes ? _URC_NO_REASON : _URC_END_OF_STACK;
        },
        &search);
    return search.caller;
}

}  // namespace

Memory& Memory::instance() {
    static auto& memory = *new Memory;  // never destroyed: leaks are reported when the process ends
    return memory;
}

Memory::Memory() {
    hot_begin_ = reinterpret_cast<std::uintptr_t>(reserve(kReserved, PROT_NONE));
    hot.device_begin = hot_begin_;
    const char* check = std::getenv("SIMT_CHECK");
    hot.checking = (check == nullptr || std::string_view(check) != "off") && !stops_in_a_thread();
    if (hot.checking) {
        shadow_ = static_cast<std::uint8_t*>(reserve(kReserved, PROT_READ | PROT_WRITE));
        hot.shadow = shadow_;
        hot.device_bytes = kHostVisible;
        const auto table = [] {
            return reserve(kReserved / HotRaces::kPageBytes * sizeof(void*), PROT_READ | PROT_WRITE);
        };
        hot.races.words = static_cast<std::uint64_t**>(table());
        hot.races.pages = static_cast<RacePage**>(table());
        key_ = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    }
}

bool Memory::has_fresh_room(std::size_t bytes, Residence residence) const {
    const Range& range = range_of(residence);
    return bytes <= kTotal - used_ && room_for(bytes) <= range.limit - range.end;
}

void* Memory::allocate(std::size_t bytes, Residence residence, const void* site) {
    if (bytes > kTotal - used_) {
        return nullptr;
    }
    const std::size_t misalignment = std::exchange(misalignment_, 0);
    const std::size_t aligned = room_before(bytes), before = aligned + misalignment;
    const std::size_t room = room_for(misalignment + bytes);
    const std::optional<std::size_t> offset = take(range_of(residence), room, residence != Residence::heap);
    if (!offset) {
        return nullptr;
    }
    const std::uintptr_t begin = hot_begin_ + *offset + before;
    make_usable(hot_begin_ + *offset + aligned - kAlignment, room - (aligned - kAlignment), residence);
    used_ += bytes;
    allocations_.emplace(begin, Allocation{.begin = begin,
                                           .bytes = bytes,
                                           .residence = residence,
                                           .allocated_at = site,
                                           .room_before = before,
                                           .room_end = hot_begin_ + *offset + room});
    if (is_for_the_host(residence)) {
        mark_written(begin, bytes);
    }
    return reinterpret_cast<void*>(begin);
}

std::optional<std::size_t> Memory::take(Range& range, std::size_t bytes, bool may_give_up) {
    if (bytes <= range.limit - range.end) {
        range.end += bytes;
        return range.end - bytes;
    }
    std::optional<std::size_t> offset = take_from_holes(range, bytes);
    while (!offset && may_give_up && !range.freed.empty()) {
        give_up_oldest(range);
        offset = take_from_holes(range, bytes);
    }
    if (offset) {
        discard(hot_begin_ + *offset, bytes);
    }
    return offset;
}

std::optional<std::size_t> Memory::take_from_holes(Range& range, std::size_t bytes) {
    const auto hole = std::ranges::find_if(range.holes, [&](const auto& one) { return one.second >= bytes; });
    if (hole == range.holes.end()) {
        return std::nullopt;
    }
    const auto [offset, size] = *hole;
    range.holes.erase(hole);
    if (size > bytes) {
        range.holes.emplace(offset + bytes, size - bytes);
    }
    return offset;
}

void Memory::give_up_oldest(Range& range) {
    const auto entry = allocations_.find(range.freed.front());
    range.freed.pop_front();
    std::size_t begin = entry->second.begin - entry->second.room_before - hot_begin_;
    std::size_t end = entry->second.room_end - hot_begin_;
    allocations_.erase(entry);
    last_found_ = nullptr;
    auto next = range.holes.lower_bound(begin);
    if (next != range.holes.end() && next->first == end) {
        end += next->second;
        next = range.holes.erase(next);
    }
    if (next != range.holes.begin() && std::prev(next)->first + std::prev(next)->second == begin) {
        begin = std::prev(next)->first;
    }
    range.holes[begin] = end - begin;
}

// Forgets what was written there.
void Memory::discard(std::uintptr_t begin, std::size_t bytes) {
    madvise(reinterpret_cast<void*>(begin), bytes, MADV_DONTNEED);
    if (shadow_ != nullptr) {
        madvise(shadow_ + (begin - hot_begin_), bytes, MADV_DONTNEED);
        if (running_lane() != nullptr && hot.races.doubt != nullptr) {
            hot.races.doubt(begin, bytes);
        }
    }
}

void Memory::make_usable(std::uintptr_t begin, std::size_t bytes, Residence residence) {
    void* const first = reinterpret_cast<void*>(begin);
    const bool open_now = opened_ > 0 && key_ < 0;
    if (is_for_the_host(residence) || !hot.checking || open_now) {
        check_protection(mprotect(first, bytes, PROT_READ | PROT_WRITE));
    } else if (key_ >= 0) {
        check_protection(pkey_mprotect(first, bytes, PROT_READ | PROT_WRITE, key_));
    }
}

bool Memory::lend(const Allocation& allocation, std::uintptr_t address, std::size_t bytes) {
    const std::uintptr_t end = allocation.begin + allocation.bytes;
    const std::uintptr_t mapped =
        std::max(end + gap_after(allocation.bytes), allocation.begin + round_up(allocation.bytes, kGpuPage));
    if (address < allocation.begin - kAlignment || address + bytes > mapped) {
        return false;
    }
    std::size_t& last = range_of(allocation.residence).end;
    const std::uintptr_t unused = hot_begin_ + last, pages_end = round_up(address + bytes, page());
    if (pages_end > unused) {
        make_usable(unused, pages_end - unused, allocation.residence);
        last = pages_end - hot_begin_;  // nobody else gets them
        protect(opened_ > 0);
    }
    const auto next = allocations_.upper_bound(allocation.begin);
    const std::uintptr_t others = next == allocations_.end() ? mapped : next->first;
    for (std::uintptr_t byte = address; byte < std::min(address + bytes, others); byte++) {
        if (byte < allocation.begin || byte >= end) {
            *reinterpret_cast<unsigned char*>(byte) = kPoison;
        }
    }
    return true;
}

void Memory::free(Allocation& allocation, const void* site) {
    allocation.freed_at = site;
    allocation.freed_for = allocation.residence == Residence::heap ? nullptr : caller_of_destructor();
    used_ -= allocation.bytes;
    // It shares no page: they are its own from the page of its first byte to the gap.
    const std::uintptr_t first = (allocation.begin - kAlignment) / page() * page();
    discard(first, round_up(allocation.begin + allocation.bytes - first, page()));
    range_of(allocation.residence).freed.push_back(allocation.begin);
}

Allocation* Memory::find(std::uintptr_t address) {
    if (last_found_ != nullptr && address - last_found_->begin < last_found_->bytes) {
        return last_found_;
    }
    // The room before a buffer belongs to that buffer; the rest of a gap belongs to the buffer before it.
    auto after = allocations_.upper_bound(address);
    if (after != allocations_.end() && after->first - address <= after->second.room_before) {
        return &after->second;
    }
    if (after == allocations_.begin() || !contains(address)) {
        return nullptr;
    }
    Allocation& before = std::prev(after)->second;
    last_found_ = &before;
    return &before;
}

Allocation* Memory::begins_at(const void* pointer) {
    const auto entry = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
    return entry == allocations_.end() ? nullptr : &entry->second;
}

bool Memory::holds(std::uintptr_t address, std::size_t bytes) {
    const Allocation* allocation = find(address);
    return allocation != nullptr && allocation->freed_at == nullptr && address >= allocation->begin &&
           address - allocation->begin <= allocation->bytes &&
           bytes <= allocation->bytes - (address - allocation->begin);
}

bool Memory::is_any_alive(std::uintptr_t begin, std::size_t bytes) const {
    for (auto after = allocations_.lower_bound(begin + bytes); after != allocations_.begin();) {
        const Allocation& allocation = (--after)->second;
        if (allocation.freed_at == nullptr && allocation.begin + allocation.bytes > begin) {
            return true;
        }
        if (allocation.begin + allocation.bytes <= begin && allocation.bytes > 0) {
            return false;  // allocations do not overlap
        }
    }
    return false;
}

void Memory::mark_written(std::uintptr_t address, std::size_t bytes) {
    if (shadow_ != nullptr) {
        std::memset(shadow_ + (address - hot_begin_), 1, bytes);
    }
}

void Memory::set_marks(std::uintptr_t address, const std::uint8_t* marks, std::size_t bytes) {
    if (shadow_ != nullptr) {
        std::memcpy(shadow_ + (address - hot_begin_), marks, bytes);
    }
}

void Memory::copy_marks(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
    if (shadow_ != nullptr) {
        std::memmove(shadow_ + (to - hot_begin_), shadow_ + (from - hot_begin_), bytes);
    }
}

// With a key, opening and closing costs one instruction; without one, the time grows with the number of pages in use.
void Memory::protect(bool open) {
    if (key_ >= 0) {
        check_protection(pkey_set(key_, open ? 0 : PKEY_DISABLE_ACCESS));
    } else if (hot.checking && device_.end > 0) {
        check_protection(
            mprotect(reinterpret_cast<void*>(hot_begin_), device_.end, open ? PROT_READ | PROT_WRITE : PROT_NONE));
    }
}

void Memory::open() {
    if (opened_++ == 0) {
        protect(true);
    }
}

void Memory::close() {
    if (--opened_ == 0) {
        protect(false);
    }
}

void Memory::protect_pages(std::uintptr_t begin, std::size_t bytes, bool open) {
    if (hot.checking && is_device_only(begin)) {
        const std::uintptr_t first = begin / page() * page();
        check_protection(mprotect(reinterpret_cast<void*>(first), round_up(begin + bytes, page()) - first,
                                  open ? PROT_READ | PROT_WRITE : PROT_NONE));
    }
}

bool Memory::open_only(std::uintptr_t begin, std::size_t bytes) {
    if (opened_ > 0 || key_ >= 0) {
        open();
        return true;
    }
    protect_pages(begin, bytes, true);
    return false;
}

bool is_mapped(std::uintptr_t address) {
    unsigned char there = 0;
    return mincore(reinterpret_cast<void*>(address / page() * page()), 1, &there) == 0;
}

long elements_of(const std::vector<Axis>& shape) {
    return std::accumulate(shape.begin(), shape.end(), 1L, [](long n, const Axis& axis) { return n * axis.size; });
}

// "B=2, T=8, C=64"
std::string shape_text(const std::vector<Axis>& shape) {
    std::string text;
    for (const Axis& axis : shape) { text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name, axis.size); }
    return text;
}

std::string index_text(const std::vector<Axis>& shape, long element) {
    const long columns = shape.back().size, last_row = elements_of(shape) / columns - 1;
    const long past = std::max(element / columns - last_row, 0L);
    long row = element / columns - past;
    std::string text = fmt::format("{}={}", shape.back().index_name, shape.size() == 1 ? element : element % columns);
    for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
        const long value = row % shape[axis].size + (axis + 2 == shape.size() ? past : 0);
        text = fmt::format("{}={}, {}", shape[axis].index_name, value, text);
        row /= shape[axis].size;
    }
    return text;
}

std::string text_of(const Allocation& allocation) {
    if (!allocation.name.empty()) {
        return fmt::format("{} ({})", allocation.name, shape_text(allocation.shape));
    }
    return fmt::format("a buffer of {} from {}", plural(allocation.bytes, "byte"),
                       text_of(source_of(allocation.allocated_at)));
}

std::string text_of_free(const Allocation& allocation) {
    const SourceLine& line = source_of(allocation.freed_at);
    if (line.file.empty()) {
        return "";
    }
    return " at " + (allocation.freed_for == nullptr
                         ? text_with_caller(line)
                         : text_of(line) + " (called at " + text_of(source_of(allocation.freed_for)) + ")");
}

std::string place_in(const Allocation& allocation, std::uintptr_t address) {
    const bool before = address < allocation.begin;
    const std::size_t past = before ? 0 : address - allocation.begin;
    const auto element = static_cast<long>(past / allocation.element_bytes);
    const std::vector<Axis>& shape = allocation.shape;
    const long elements = elements_of(shape);
    if (before) {
        return fmt::format("{} before {}", plural(allocation.begin - address, "byte"), text_of(allocation));
    }
    if (allocation.name.empty() || shape.empty() || elements == 0) {
        return past < allocation.bytes
                   ? fmt::format("byte {} of {}", past, text_of(allocation))
                   : fmt::format("{} past the end of {}", plural(past - allocation.bytes, "byte"), text_of(allocation));
    }
    if (element < elements) {
        return fmt::format("{}[{}] of {}", allocation.name, index_text(shape, element), text_of(allocation));
    }
    const long over = element - elements;
    if (shape.size() == 1) {
        return fmt::format("{}[{}], {} past the end of {}", allocation.name, index_text(shape, element),
                           plural(static_cast<std::size_t>(over + 1), "element"), text_of(allocation));
    }
    const long rows = over / shape.back().size + 1;
    return fmt::format("{}[{}] is {} past the end of {}", allocation.name, index_text(shape, element),
                       rows == 1 ? "one row" : plural(static_cast<std::size_t>(rows), "row"), text_of(allocation));
}

WrittenElements written_elements(const void* pointer, std::size_t element_bytes, std::size_t most) {
    const Allocation* const buffer = Memory::instance().begins_at(pointer);
    const std::uint8_t* const marks = buffer == nullptr ? nullptr : Memory::instance().marks(buffer->begin);
    if (marks == nullptr) {
        return {};
    }
    // Marks that were never set lie on pages that the operating system has not provided yet.
    const auto first_page = reinterpret_cast<std::uintptr_t>(marks) / page() * page();
    const std::size_t bytes = reinterpret_cast<std::uintptr_t>(marks) + buffer->bytes - first_page;
    std::vector<unsigned char> there((bytes + page() - 1) / page());
    check_protection(mincore(reinterpret_cast<void*>(first_page), bytes, there.data()));
    const std::size_t before = reinterpret_cast<std::uintptr_t>(marks) - first_page;
    const auto visit = [&](const auto& written) {
        for (std::size_t i = 0; i < there.size(); i++) {
            if (there[i] == 0) {
                continue;
            }
            const std::size_t begin = i * page() < before ? 0 : i * page() - before;
            const std::size_t end = std::min(buffer->bytes, (i + 1) * page() - before);
            for (std::size_t element = (begin + element_bytes - 1) / element_bytes;
                 element * element_bytes < end && (element + 1) * element_bytes <= buffer->bytes; element++) {
                const std::uint8_t* const mark = marks + element * element_bytes;
                if (std::all_of(mark, mark + element_bytes, [](std::uint8_t one) { return one != 0; })) {
                    written(element);
                }
            }
        }
    };
    WrittenElements result;
    visit([&](std::size_t) { result.all++; });
    // One of each of as many equal parts, at random, so that no column of a tile is left out; of the last part the last.
    const std::size_t wanted = std::min(most, result.all);
    Random random(1);
    const auto chosen = [&](std::size_t part) {
        const std::size_t begin = part * result.all / wanted, end = (part + 1) * result.all / wanted;
        return part + 1 == wanted ? result.all - 1 : begin + random.below(end - begin);
    };
    std::size_t at = 0, next = wanted > 0 ? chosen(0) : result.all;
    visit([&](std::size_t element) {
        if (at++ == next && result.some.size() < wanted) {
            result.some.push_back(element);
            next = result.some.size() < wanted ? chosen(result.some.size()) : result.all;
        }
    });
    return result;
}

void name_buffer(const void* pointer, const std::string& name, const std::vector<Axis>& shape,
                 std::size_t element_bytes, Values values) {
    if (Allocation* allocation = Memory::instance().begins_at(pointer)) {
        allocation->name = name;
        allocation->shape = shape;
        allocation->element_bytes = element_bytes;
        allocation->values = values;
    }
}

void name_use(const void* pointer, const BufferUse& use) {
    if (Allocation* allocation = Memory::instance().begins_at(pointer)) {
        allocation->use = use;
    }
}

}  // namespace simt
