// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/access/access.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "checker/simt/include/simt/types.h"
#include "checker/simt/runtime/access/async_copies.h"
#include "checker/simt/runtime/access/bad_indices.h"
#include "checker/simt/runtime/access/focus.h"
#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/memory/registered.h"
#include "checker/simt/runtime/races/races.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/requests/traffic_trace.h"
#include "checker/simt/runtime/streams/streams.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

const char* verb(Access access) {
    switch (access) {
        case Access::read:
            return "reads";
        case Access::write:
            return "writes";
        case Access::atomic:
            return "changes atomically";
        case Access::copy:
            return "copies";
    }
    return "touches";
}

struct Request {
    std::uintptr_t address;
    std::size_t bytes;
    Access access;
    const void* site;

    std::string what() const { return fmt::format("{} {} byte{}", verb(access), bytes, bytes == 1 ? "" : "s"); }
    bool writes() const { return access == Access::write || access == Access::atomic; }
    bool reads() const { return access == Access::read || access == Access::atomic; }
};

[[noreturn]] void end_launch(cudaError_t error) {
    Scheduler::instance().abandon(error);
}

// By the size of a type, the paddings of all types of that size, as note_padding gets them. The types are known before
// main begins.
using Layout = std::vector<unsigned char>;
std::map<std::size_t, std::vector<Layout>>& padded_types() {
    static auto& types = *new std::map<std::size_t, std::vector<Layout>>;
    return types;
}

// Whether all bytes that nobody has written are the padding of one type that is as large as the access.
template <class Written>
bool only_padding(const Request& request, Written written) {
    const auto types = padded_types().find(request.bytes);
    return types != padded_types().end() &&
           std::any_of(types->second.begin(), types->second.end(), [&](const Layout& layout) {
               for (std::size_t i = 0; i < request.bytes; i++) {
                   if (!written(i) && layout[i] != 0) {
                       return false;
                   }
               }
               return true;
           });
}

// The first byte that nobody has written and that matters. Padding does not matter. Since not every type is known, a
// word that somebody has written in part counts as written if the access is larger than that word.
template <class Written>
std::size_t first_unwritten(const Request& request, Written written) {
    constexpr std::size_t kWord = 4;
    for (std::size_t i = 0; i < request.bytes; i++) {
        if (written(i)) {
            continue;
        }
        const std::size_t word = i / kWord * kWord;
        bool padding = false;
        for (std::size_t j = word; j < std::min(word + kWord, request.bytes); j++) { padding = padding || written(j); }
        padding = padding && request.bytes > kWord && request.address % kWord == 0;
        if (!padding) {
            return only_padding(request, written) ? request.bytes : i;
        }
    }
    return request.bytes;
}

bool is_outside(const Request& request, const Mark* marks) {
    const auto outside = static_cast<std::size_t>(std::find(marks, marks + request.bytes, Mark::outside) - marks);
    if (outside < request.bytes) {
        report(Kind::out_of_bounds, "shared", request.site, [&] {
            return fmt::format("{} at {}", request.what(),
                               Scheduler::instance().shared().place_of(request.address + outside));
        });
    }
    return outside < request.bytes;
}

// Whether there are bytes that lie outside, or that an asynchronous copy is on its way to.
[[gnu::noinline]] Space judge_unusable(const Request& request, Mark* marks) {
    if (!is_outside(request, marks)) {
        const Mark* const first = std::find(marks, marks + request.bytes, Mark::on_its_way);
        judge_use_of_copy(request.address + static_cast<std::size_t>(first - marks), request.access, request.site,
                          [&] { return request.what(); });
        std::replace_if(
            marks, marks + request.bytes, [](Mark mark) { return mark != Mark::on_its_way; }, Mark::written);
    }
    return Space::none;
}

// Whether somebody has written all bytes of an access, which is nearly always so; only for sizes that one instruction
// has.
bool all_written(const Mark* marks, std::size_t bytes) {
    static_assert(static_cast<int>(Mark::written) == 0);
    std::uint64_t words[2] = {};
    switch (bytes) {
        case 4:
            std::memcpy(words, marks, 4);
            break;
        case 8:
            std::memcpy(words, marks, 8);
            break;
        case 16:
            std::memcpy(words, marks, 16);
            break;
        default:
            return false;
    }
    return (words[0] | words[1]) == 0;
}

Space judge_shared(const Request& request, Mark* marks) {
    if (all_written(marks, request.bytes)) [[likely]] {
        return Space::shared;
    }
    if (std::any_of(marks, marks + request.bytes, [](Mark mark) { return mark >= Mark::outside; })) [[unlikely]] {
        return judge_unusable(request, marks);
    }
    if (request.reads()) {
        const std::size_t missing = first_unwritten(request, [&](std::size_t i) { return marks[i] == Mark::written; });
        if (missing < request.bytes) {
            report(Kind::uninitialised, "shared", request.site, [&] {
                const bool copied = marks[missing] == Mark::copied_unwritten;
                const Block& block = *hot.lane->block;
                return fmt::format("{} that {}: {}{}", request.what(),
                                   copied ? "an asynchronous copy brought from memory that nobody has written"
                                          : "no thread of the block has written",
                                   Scheduler::instance().shared().place_of(request.address + missing),
                                   block.ended == 0 || copied
                                       ? std::string()
                                       : fmt::format("; {} of its {} threads had ended before the last barrier",
                                                     block.ended, block.lanes.size()));
            });
        }
    }
    // What has been reported once is not reported again.
    std::fill_n(marks, request.bytes, Mark::written);
    return Space::shared;
}

// Returns true if a kernel is not meant to make this kind of access to the buffer.
bool is_unlikely(const Request& request, const Allocation& allocation) {
    return request.writes() ? allocation.use.is_input : request.reads() && allocation.use.is_output;
}

// Returns true if the address lies less than a row beyond the buffer.
bool is_next_to(const Allocation& allocation, std::uintptr_t address) {
    const std::size_t row = allocation.shape.empty()
                                ? 0
                                : static_cast<std::size_t>(allocation.shape.back().size) * allocation.element_bytes;
    return address + row >= allocation.begin && address < allocation.begin + allocation.bytes + row;
}

// Returns the buffer that a pointer beyond `nearest`, the nearest buffer of all or null, came from: if the kernel's
// parameters do not point to it, the nearest of those that they point to. If their uses are known and the address is not
// next to `nearest`, it is the one whose size the index passed least: a stride that is too large goes as far beyond a buffer
// as it is large. Then a buffer that is only written is none of a read's, and one that is only read none of a write's.
const Allocation* buffer_meant_by(const Request& request, const Allocation* nearest) {
    const std::uintptr_t address = request.address;
    const bool by_use =
        nearest != nullptr && (nearest->use.is_input || nearest->use.is_output) && !is_next_to(*nearest, address);
    const Launch& launch = Scheduler::instance().launch();
    const Allocation* meant = nullptr;
    double least = 0;
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= launch.parameter_bytes; at += sizeof(std::uintptr_t)) {
        std::uintptr_t pointer = 0;
        std::memcpy(&pointer, launch.parameter_block + at, sizeof pointer);
        const Allocation* const its = Memory::instance().holds(pointer, 1) ? Memory::instance().find(pointer) : nullptr;
        if (its == nullptr || (by_use && (is_unlikely(request, *its) || address < its->begin))) {
            continue;
        }
        if (its == nearest && !by_use) {
            return nearest;
        }
        const auto distance =
            static_cast<double>(address < its->begin ? its->begin - address : address - (its->begin + its->bytes - 1));
        const double passed = by_use ? distance / static_cast<double>(its->bytes) : distance;
        if (meant == nullptr || passed < least) {
            least = passed;
            meant = its;
        }
    }
    return meant == nullptr ? nearest : meant;
}

// Reports an access that is not within a living buffer. The launch ends if a GPU has no memory there.
void refuse_beyond(const Request& request, const Allocation* nearest) {
    report(Kind::out_of_bounds, "global", request.site, [&] {
        const Allocation* const meant = buffer_meant_by(request, nearest);
        const std::uintptr_t end = meant == nullptr ? 0 : meant->begin + meant->bytes;
        return meant == nullptr
                   ? request.what() + " far from every buffer of the device"
                   : fmt::format("{}: {}", request.what(),
                                 place_in(*meant, request.address < meant->begin ? request.address
                                                                                 : std::max(request.address, end)));
    });
    if (nearest == nullptr || !Memory::instance().lend(*nearest, request.address, request.bytes)) {
        end_launch(cudaErrorIllegalAddress);
    }
}

// Reports the first write to a column that is not to be written.
void judge_columns(const Request& request, const Allocation& allocation) {
    const long columns = allocation.use.columns, row = allocation.shape.empty() ? 0 : allocation.shape.back().size;
    for (std::size_t i = 0; i < request.bytes && columns >= 0 && columns < row; i += allocation.element_bytes) {
        const std::uintptr_t address = request.address + i;
        const auto element = static_cast<long>((address - allocation.begin) / allocation.element_bytes);
        if (element % row >= columns) {
            report(Kind::padding, "", request.site, [&] {
                return fmt::format("writes to {}[{}]: columns {} and beyond are padding, to be left alone",
                                   allocation.name, index_text(allocation.shape, element), columns);
            });
            return;
        }
    }
}

Space judge_device(const Request& request) {
    Memory& memory = Memory::instance();
    hot.counts.other_bytes += request.bytes;
    const Allocation* allocation = memory.find(request.address);
    if (allocation == nullptr) {
        refuse_beyond(request, nullptr);
        return Space::none;
    }
    const std::uintptr_t end = allocation->begin + allocation->bytes;
    const bool begins_inside = request.address >= allocation->begin && request.address < end;
    if (allocation->freed_at != nullptr && !begins_inside && buffer_meant_by(request, allocation) != allocation) {
        refuse_beyond(request, allocation);
        return Space::none;
    }
    if (allocation->freed_at != nullptr) {
        report(Kind::use_after_free, "global", request.site, [&] {
            return fmt::format("{} at {}, which was freed{}", request.what(), place_in(*allocation, request.address),
                               text_of_free(*allocation));
        });
        return Space::none;
    }
    if (!begins_inside || request.bytes > end - request.address) {
        refuse_beyond(request, allocation);
        return Space::none;
    }
    const std::uint8_t* shadow = hot.shadow + (request.address - hot.device_begin);
    if (request.reads()) {
        const std::size_t missing = first_unwritten(request, [&](std::size_t i) { return shadow[i] != 0; });
        if (missing < request.bytes) {
            report(Kind::uninitialised, "global", request.site, [&] {
                return fmt::format("{} that nobody has written: {}", request.what(),
                                   place_in(*allocation, request.address + missing));
            });
        }
    }
    if (request.writes()) {
        judge_columns(request, *allocation);
        memory.mark_written(request.address, request.bytes);
    }
    return Space::global;
}

// Whether a thread copies parameters that are too large for the compiler to copy them word by word.
bool is_the_launchs_parameter(const Request& request) {
    const Launch& launch = Scheduler::instance().launch();
    const std::uintptr_t offset = request.address - reinterpret_cast<std::uintptr_t>(launch.parameter_block);
    return !request.writes() && offset < launch.parameter_bytes && request.bytes <= launch.parameter_bytes - offset;
}

// Whether one of the kernel's parameters, if it is a pointer, points to less than 4 GB before the address.
bool is_beyond_a_parameter(std::uintptr_t address) {
    const Launch& launch = Scheduler::instance().launch();
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= launch.parameter_bytes; at += sizeof(std::uintptr_t)) {
        std::uintptr_t pointer = 0;
        std::memcpy(&pointer, launch.parameter_block + at, sizeof pointer);
        if (!Memory::instance().contains(pointer) && address - pointer < std::uintptr_t{1} << 32) {
            return true;
        }
    }
    return false;
}

// A device variable, a constant, or memory of the host.
Space judge_elsewhere(const Request& request) {
    const Module* module = module_of(reinterpret_cast<const void*>(request.address));
    const Section section = module == nullptr ? Section::none : module->section_of(request.address);
    const Symbol* variable = section == Section::none ? nullptr : module->variable_at(request.address);
    const bool inside = variable != nullptr && !variable->is_guard() &&
                        request.address + request.bytes <= variable->begin + variable->bytes;
    const Symbol* before = module == nullptr || inside ? nullptr : module->device_variable_before(request.address);
    if (!inside && (section != Section::none || before != nullptr)) {
        report(Kind::out_of_bounds, section == Section::constant ? "constant" : "global", request.site, [&] {
            return before == nullptr ? request.what() + " outside every device variable"
                                     : fmt::format("{} past the end of the device variable {} ({} bytes)",
                                                   request.what(), before->name(), before->bytes);
        });
        return Space::none;
    }
    if (inside) {
        const std::vector<const Symbol*>& shadows = Scheduler::instance().launch().shadows;
        if (std::find(shadows.begin(), shadows.end(), variable) != shadows.end()) {
            report(Kind::host_pointer, "", request.site, [&] {
                return fmt::format(
                    "{} of the device variable {}, whose address a parameter has from host code: on a GPU that is none "
                    "of the device's; cudaGetSymbolAddress gives it",
                    request.what(), variable->name());
            });
            end_launch(cudaErrorIllegalAddress);
        }
        if (section == Section::constant && request.writes()) {
            report(Kind::read_only, "constant", request.site,
                   [&] { return fmt::format("{} of the __constant__ variable {}", request.what(), variable->name()); });
        }
        return section == Section::constant ? Space::none : Space::global;
    }
    if (is_registered(reinterpret_cast<const void*>(request.address), request.bytes)) {
        return Space::none;
    }
    if (is_the_launchs_parameter(request)) {
        return Space::none;
    }
    if (module != nullptr && !request.writes()) {
        for (const auto& [begin, end] : module->read_only) {
            if (request.address >= begin && request.address < end) {
                return Space::none;
            }
        }
    }
    if (const std::string place = Scheduler::instance().shared().place_of_wild(request.address);
        !place.empty() && !is_beyond_a_parameter(request.address)) {
        report(Kind::out_of_bounds, "shared", request.site,
               [&] { return fmt::format("{} at {}", request.what(), place); });
        end_launch(cudaErrorIllegalAddress);
    }
    if (request.address < 4096) {
        report(Kind::null_pointer, "", request.site, [&] {
            return fmt::format("{} through a null pointer (address {:#x})", request.what(), request.address);
        });
    } else {
        report(Kind::host_pointer, "", request.site, [&] {
            const Symbol* host = module == nullptr ? nullptr : module->variable_at(request.address);
            return request.what() +
                   (host != nullptr              ? " of the host's variable " + host->name()
                    : is_mapped(request.address) ? " of the host's memory"
                                                 : fmt::format(" at address {:#x}, where nothing is mapped: neither "
                                                               "the device's memory nor the host's,",
                                                               request.address)) +
                   " in a kernel";
        });
    }
    end_launch(cudaErrorIllegalAddress);
}

Section section_of(std::uintptr_t address) {
    const Module* const module = module_of(reinterpret_cast<const void*>(address));
    return module == nullptr ? Section::none : module->section_of(address);
}

// " at out[n=1, c=0] of out (N=2, C=63)", or nothing if the device has no such memory.
std::string text_of_place(const Request& request) {
    const Allocation* allocation =
        Memory::instance().contains(request.address) ? Memory::instance().find(request.address) : nullptr;
    SharedMemory& shared = Scheduler::instance().shared();
    return allocation != nullptr                          ? " at " + place_in(*allocation, request.address)
           : shared.marks(request.address, 1) != nullptr  ? " at " + shared.place_of(request.address)
           : section_of(request.address) != Section::none ? " at " + place_of_global(request.address)
                                                          : std::string();
}

constexpr std::size_t kWidest = 16;  // bytes of one access

// Two halves of 8 bytes are accepted: a pair of doubles is read so.
void judge_alignment(const Request& request, std::size_t alignment, const char* space) {
    if ((request.address & (alignment - 1)) != 0 && request.address >= 4096) {
        report(Kind::misaligned, space, request.site, [&] {
            return fmt::format(
                "{}{}: the address is a multiple of {} only, and {}", request.what(), text_of_place(request),
                request.address & -request.address,
                request.bytes == kWidest ? "a float4 needs one of 16" : fmt::format("must be one of {}", alignment));
        });
        end_launch(cudaErrorMisalignedAddress);
    }
}

// Notes that 16 bytes of a shared array lie at a multiple of 16 only because nvcc and this device put it there.
void note_accidental_alignment(const Request& request) {
    if (const std::string place = Scheduler::instance().shared().accidentally_aligned_place(request.address);
        !place.empty()) {
        note(request.site,
             request.what() + " at " + place +
                 ": nvcc puts arrays of 16 bytes and more at multiples of 16, but only __align__(16) in the "
                 "declaration promises it");
    }
}

bool is_on_its_own_stack(std::uintptr_t address) {
    return address - reinterpret_cast<std::uintptr_t>(hot.lane->stack.begin) < Stack::kBytes;
}

// "global memory, in[4] of in[64]"
std::string text_of_memory(std::uintptr_t address) {
    Memory& memory = Memory::instance();
    SharedMemory& shared = Scheduler::instance().shared();
    const Allocation* allocation = memory.contains(address) ? memory.find(address) : nullptr;
    return is_on_its_own_stack(address)          ? "a local variable of the thread"
           : allocation != nullptr               ? "global memory, " + place_in(*allocation, address)
           : shared.marks(address, 1) != nullptr ? "shared memory, " + shared.place_of(address)
                                                 : fmt::format("address {:#x}", address);
}

// Reports an end of an asynchronous copy that lies where such a copy cannot go.
[[noreturn]] void refuse_copy(const Request& request, const char* goes) {
    report(Kind::bad_copy, "", request.site, [&] {
        return fmt::format("an asynchronous copy goes from global to shared memory; this one {} {}", goes,
                           text_of_memory(request.address));
    });
    end_launch(cudaErrorIllegalAddress);
}

void judge_host(const Request& request) {
    Memory& memory = Memory::instance();
    if (memory.contains(request.address) && memory.is_device_only(request.address)) {
        report(Kind::device_memory, "", request.site, [&] {
            const Allocation* allocation = memory.find(request.address);
            return fmt::format(
                "host code {}{}", request.what(),
                allocation == nullptr ? " of the device's memory" : ": " + place_in(*allocation, request.address));
        });
    } else if (request.address >= hot.variables_begin && request.address < hot.variables_end) {
        const Module* module = module_of(reinterpret_cast<const void*>(request.address));
        const Section section = module == nullptr ? Section::none : module->section_of(request.address);
        const Symbol* variable =
            section == Section::device || section == Section::constant ? module->variable_at(request.address) : nullptr;
        if (variable != nullptr) {
            report(Kind::device_memory, "", request.site, [&] {
                return fmt::format(
                    "host code {} of the device variable {}; cudaMemcpyFromSymbol and cudaMemcpyToSymbol copy it",
                    request.what(), variable->name());
            });
        }
    }
}

}  // namespace

Space judge_access(std::uintptr_t address, std::size_t bytes, Access access, std::size_t alignment, const void* site,
                   bool strong) {
    // The runtime's own work: a weak function of the C++ library may be the kernel's copy, which has hooks.
    if (busy_depth != 0) {
        return Space::none;
    }
    hot.site = site;
    const Request request{address, bytes, access, site};
    const Lane* lane = running_lane();
    Memory& memory = Memory::instance();
    if (lane == nullptr) {
        judge_host(request);
        if (Streams& streams = Streams::instance(); streams.watches_host()) {
            const bool reads = access == Access::read;
            streams.host_access(
                address, bytes,
                strong ? (reads ? Use::strong_read : Use::strong_write) : (reads ? Use::read : Use::write), site);
        }
        return Space::none;
    }
    if (is_on_its_own_stack(address)) {
        return Space::none;
    }
    if (hot.judge_expected != nullptr && is_expected(address, bytes, access != Access::read)) [[unlikely]] {
        return Space::none;
    }
    if (tracing) [[unlikely]] {
        trace_access(address, bytes, access, site);
    }
    const bool device = memory.contains(address);
    Mark* marks = device ? nullptr : Scheduler::instance().shared().marks(address, bytes);
    judge_alignment(request, alignment, device ? "global" : marks != nullptr ? "shared" : "");
    if (bytes == kWidest && marks != nullptr) {
        note_accidental_alignment(request);
    }
    hot.counts.other_accesses++;
    hot.counts.other_changes += access == Access::write ? 1 : 0;  // an atomic counts what it changes itself
    if (device) {
        return judge_device(request);
    }
    return marks != nullptr ? judge_shared(request, marks) : judge_elsewhere(request);
}

bool take_unwritten(std::uintptr_t address, std::size_t bytes) {
    if (!hot.checking || running_lane() == nullptr) {
        return false;
    }
    Memory& memory = Memory::instance();
    if (memory.contains(address)) {
        const std::uint8_t* const written = memory.marks(address);
        if (!memory.holds(address, bytes) || std::find(written, written + bytes, 0) == written + bytes) {
            return false;
        }
        memory.mark_written(address, bytes);
        return true;
    }
    Mark* const marks = is_on_its_own_stack(address) ? nullptr : Scheduler::instance().shared().marks(address, bytes);
    if (marks == nullptr || std::any_of(marks, marks + bytes, [](Mark mark) { return mark >= Mark::outside; }) ||
        std::find(marks, marks + bytes, Mark::unwritten) == marks + bytes) {
        return false;
    }
    std::fill_n(marks, bytes, Mark::written);
    return true;
}

void report_unwritten(std::uintptr_t address, std::size_t bytes, const void* site) {
    const Request request{address, bytes, Access::atomic, site};
    const char* const space = Memory::instance().contains(address) ? "global" : "shared";
    report(Kind::uninitialised, space, site, [&] {
        return fmt::format("{} that nobody has written, and uses what was there{}", request.what(),
                           text_of_place(request));
    });
}

void note_padding(const unsigned char* layout, std::size_t bytes) {
    if (std::find(layout, layout + bytes, 0) == layout + bytes) {
        return;
    }
    std::vector<Layout>& types = padded_types()[bytes];
    const Layout type(layout, layout + bytes);
    if (std::find(types.begin(), types.end(), type) == types.end()) {
        types.push_back(type);
    }
}

Space judge_copy_source(std::uintptr_t address, std::size_t bytes, std::size_t alignment, const void* site) {
    hot.site = site;
    const Request request{address, bytes, Access::copy, site};
    if (tracing) [[unlikely]] {
        trace_access(address, bytes, Access::copy, site);
    }
    if (is_on_its_own_stack(address) || Scheduler::instance().shared().marks(address, 1) != nullptr) {
        refuse_copy(request, "comes from");
    }
    judge_alignment(request, alignment, "global");
    return Memory::instance().contains(address) ? judge_device(request) : judge_elsewhere(request);
}

bool judge_copy_destination(std::uintptr_t address, std::size_t bytes, const void* site) {
    hot.site = site;
    const Request request{address, bytes, Access::copy, site};
    const Mark* const marks =
        is_on_its_own_stack(address) ? nullptr : Scheduler::instance().shared().marks(address, bytes);
    if (marks == nullptr) {
        refuse_copy(request, "goes to");
    }
    judge_alignment(request, bytes, "shared");
    return !is_outside(request, marks);
}

bool judge_matrix_row(std::uintptr_t address, const void* site) {
    constexpr std::size_t kBytes = 16;
    hot.site = site;
    const Request request{address, kBytes, Access::read, site};
    if (tracing) [[unlikely]] {
        trace_access(address, kBytes, Access::read, site);
    }
    SharedMemory& shared = Scheduler::instance().shared();
    Mark* const marks = is_on_its_own_stack(address) ? nullptr : shared.marks(address, kBytes);
    if (marks == nullptr) {
        report(Kind::out_of_bounds, "shared", site, [&] {
            const std::string place = shared.place_of_wild(address);
            return "ldmatrix loads rows from shared memory; this one is " +
                   (place.empty() ? text_of_memory(address) : place);
        });
        end_launch(cudaErrorIllegalAddress);
    }
    if (address % kBytes != 0) {
        report(Kind::misaligned, "shared", site, [&] {
            return fmt::format("a row of ldmatrix{}: the address is a multiple of {} only, and must be one of 16",
                               text_of_place(request), address & -address);
        });
        end_launch(cudaErrorMisalignedAddress);
    }
    note_accidental_alignment(request);
    hot.counts.other_accesses++;
    if (judge_shared(request, marks) == Space::none) {
        return false;
    }
    if (hot.races.on) {
        Races::instance().touch({.address = address,
                                 .bytes = kBytes,
                                 .touch = Touch::read,
                                 .strength = Strength::plain,
                                 .site = site,
                                 .shared = true});
    } else if (hot.trace.next != nullptr) {
        note_in_trace(packed(address, TraceKind::matrix_row, kBytes), static_cast<const char*>(site) - 1);
    }
    return true;
}

bool goes_from_global_to_shared(std::uintptr_t to, std::uintptr_t from) {
    const Module* module = module_of(reinterpret_cast<const void*>(from));
    return !is_on_its_own_stack(to) && Scheduler::instance().shared().marks(to, 1) != nullptr &&
           (Memory::instance().contains(from) || (module != nullptr && module->section_of(from) != Section::none));
}

std::size_t alignment_there(std::uintptr_t address, std::size_t bytes) {
    const std::size_t natural = std::min(bytes, std::size_t{8});
    if (address % natural == 0 || bytes > kWidest || (bytes & (bytes - 1)) != 0 || running_lane() == nullptr ||
        is_on_its_own_stack(address) || Memory::instance().contains(address)) {
        return 1;
    }
    const InRuntime in_runtime;
    const SharedMemory& shared = Scheduler::instance().shared();
    const Extents* extents = nullptr;
    if (Scheduler::instance().shared().marks(address, 1) != nullptr) {
        extents = shared.extents_at(address);
    } else {
        const Module* const module = module_of(reinterpret_cast<const void*>(address));
        const Symbol* const variable =
            module == nullptr || module->section_of(address) == Section::none ? nullptr : module->variable_at(address);
        if (variable == nullptr) {
            return 1;
        }
        extents = module->extents_of(*variable);
    }
    // Bytes may hold anything, structs of halves too: at an odd address only those of single bytes.
    const bool unknown = extents == nullptr || extents->is_bytes;
    return unknown ? (address % 2 == 0 ? 1 : natural) : std::min(natural, extents->element_alignment);
}

void judge_span(const void* address, std::size_t bytes, Access access, const void* site, std::size_t alignment) {
    if (!hot.checking || bytes == 0) {
        return;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const Space space = judge_access(begin, bytes, access, alignment, site);
    if (space == Space::none) {
        return;
    }
    if (hot.races.on) {
        Races::instance().touch({.address = begin,
                                 .bytes = bytes,
                                 .touch = access == Access::read ? Touch::read : Touch::write,
                                 .strength = Strength::plain,
                                 .site = site,
                                 .shared = space == Space::shared});
    } else if (hot.trace.next != nullptr) {
        note_span_in_trace(begin, bytes, trace_kind(access, space), site);
    }
}

}  // namespace simt
