// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/requests/traffic_requests.h"

#include <algorithm>
#include <bit>

#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/requests/traffic_runs.h"
#include "checker/simt/runtime/tensor/fragments.h"

namespace simt {
namespace {

constexpr unsigned kBanks = 32;
constexpr unsigned kBankBytes = 4;
constexpr unsigned kSectorShift = 5;
constexpr unsigned kSectorsALine = kLineBytes / kSectorBytes;
constexpr unsigned kMostLanes = 32;

// A set of numbers, each with bits that are added up. It takes at most half as many numbers as it has slots.
template <std::size_t kSlots>
class SmallSet {
  public:
    // Whether it is new.
    bool add(std::uint64_t number, std::uint32_t bits) {
        std::size_t slot = number * 0x9e3779b97f4a7c15U >> (64 - std::countr_zero(kSlots));
        while (used_[slot] && numbers_[slot] != number) { slot = (slot + 1) % kSlots; }
        const bool is_new = !used_[slot];
        if (is_new) {
            used_[slot] = true;
            numbers_[slot] = number;
            bits_[slot] = 0;
            order_[count_++] = static_cast<std::uint16_t>(slot);
        }
        bits_[slot] += bits;
        last_ = slot;
        return is_new;
    }
    // The same as `add`, for bits that overlap.
    bool merge(std::uint64_t number, std::uint32_t bits) {
        const bool is_new = add(number, 0);
        bits_[last_] |= bits;
        return is_new;
    }
    std::size_t size() const { return count_; }
    std::uint64_t number(std::size_t i) const { return numbers_[order_[i]]; }
    std::uint32_t bits(std::size_t i) const { return bits_[order_[i]]; }

  private:
    std::array<bool, kSlots> used_{};
    std::array<std::uint64_t, kSlots> numbers_;
    std::array<std::uint32_t, kSlots> bits_;
    std::array<std::uint16_t, kSlots> order_;
    std::size_t count_ = 0;
    std::size_t last_ = 0;
};

constexpr std::uint32_t low_bits(unsigned count) {
    return count >= 32 ? ~0U : (1U << count) - 1;
}

// Where it is noted what a request touches.
struct Places {
    ByteSet& bytes;
    SectorSet *loads, *stores;  // of the block; null: it is none

    void add(std::uint64_t sector, std::uint32_t of_it) {
        bytes.add(sector, of_it);
        if (loads != nullptr) {
            loads->add(sector);
        }
        if (stores != nullptr) {
            stores->add(sector);
        }
    }
};

// The bits of a sector's mask of bytes. Most are whole, and std::popcount is a call.
unsigned bytes_of(std::uint32_t touched) {
    return touched == low_bits(kSectorBytes) ? kSectorBytes : static_cast<unsigned>(std::popcount(touched));
}

struct Touched {
    std::uint64_t sectors = 0, lines = 0, bytes = 0;
};

// For any order of addresses, and for accesses that lie in two sectors.
Touched scattered_sectors(Places& set, const TrafficRequest& request, unsigned bytes) {
    SmallSet<4 * kMostLanes> sectors;
    for (unsigned i = 0; i < request.count; i++) {
        const std::uintptr_t address = address_of(request.what[i]);
        const auto offset = static_cast<unsigned>(address % kSectorBytes);
        const unsigned here = std::min<unsigned>(bytes, kSectorBytes - offset);
        sectors.merge(address >> kSectorShift, low_bits(here) << offset);
        if (here < bytes) {
            sectors.merge((address >> kSectorShift) + 1, low_bits(bytes - here));
        }
    }
    SmallSet<4 * kMostLanes> lines;
    unsigned touched = 0;
    for (std::size_t i = 0; i < sectors.size(); i++) {
        set.add(sectors.number(i), sectors.bits(i));
        lines.add(sectors.number(i) / kSectorsALine, 0);
        touched += bytes_of(sectors.bits(i));
    }
    return {sectors.size(), lines.size(), touched};
}

// Counts the different sectors, lines and bytes, and adds the sectors' bytes to the set. The addresses of most requests go up,
// or those of each row of a block do, and the rows are the same: such requests need no search.
Touched count_sectors(Places& set, const TrafficRequest& request, unsigned bytes) {
    unsigned count = request.count;
    while (count % 2 == 0 && std::equal(request.what, request.what + count / 2, request.what + count / 2)) {
        count /= 2;
    }
    const std::uint64_t ones = low_bits(bytes);
    std::uint64_t sector = address_of(request.what[0]) >> kSectorShift;
    Touched sum{1, 1, 0};
    std::uint64_t touched = 0;
    for (unsigned i = 0; i < count; i++) {
        const std::uintptr_t address = address_of(request.what[i]);
        if (const std::uint64_t here = address >> kSectorShift; here != sector) {
            set.add(sector, static_cast<std::uint32_t>(touched));
            if (here < sector || touched >> kSectorBytes != 0) {
                return scattered_sectors(set, request, bytes);
            }
            sum.bytes += bytes_of(static_cast<std::uint32_t>(touched));
            sum.sectors++;
            sum.lines += here / kSectorsALine != sector / kSectorsALine ? 1 : 0;
            sector = here;
            touched = 0;
        }
        touched |= ones << (address % kSectorBytes);
    }
    set.add(sector, static_cast<std::uint32_t>(touched));
    sum.bytes += bytes_of(static_cast<std::uint32_t>(touched));
    return touched >> kSectorBytes != 0 ? scattered_sectors(set, request, bytes) : sum;
}

// The largest number of lanes that share an address.
std::uint64_t most_on_one_address(const TrafficRequest& request) {
    SmallSet<2 * kMostLanes> addresses;
    for (unsigned i = 0; i < request.count; i++) { addresses.add(request.what[i], 1); }
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < addresses.size(); i++) { most = std::max(most, addresses.bits(i)); }
    return most;
}

// For the lanes that one pass serves: how often the busiest bank is read, where one read of a word serves all lanes
// that want it. 8-byte accesses are served by half-warps, 16-byte ones by quarter-warps.
class Banks {
  public:
    void add(std::uintptr_t address, unsigned bytes) {
        for (std::uintptr_t word = address / kBankBytes; word <= (address + bytes - 1) / kBankBytes; word++) {
            const auto bank = static_cast<unsigned>(word % kBanks);
            const unsigned first = static_cast<unsigned>(address > word * kBankBytes ? address % kBankBytes : 0);
            const auto last =
                static_cast<unsigned>(std::min<std::uintptr_t>(address + bytes - word * kBankBytes, kBankBytes));
            const std::uint32_t touched = low_bits(last) & ~low_bits(first);
            unsigned i = 0;
            while (i < count_[bank] && words_[bank][i] != word) { i++; }
            if (i == count_[bank]) {
                words_[bank][i] = word;
                bytes_[bank][i] = 0;
                count_[bank]++;
                most_ = std::max<unsigned>(most_, count_[bank]);
            }
            const std::uint32_t added = touched & ~bytes_[bank][i];
            bytes_[bank][i] = static_cast<std::uint8_t>(bytes_[bank][i] | added);
            distinct_ += kOnes[added];
        }
    }
    unsigned wavefronts() const { return most_; }
    unsigned distinct_bytes() const { return distinct_; }

  private:
    // For each mask of the bytes of a word: how many they are. (Without an instruction for it, std::popcount is a
    // call.)
    static constexpr std::array<std::uint8_t, 1 << kBankBytes> kOnes = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

    std::array<std::uint8_t, kBanks> count_{};
    unsigned most_ = 0;
    unsigned distinct_ = 0;
    std::array<std::array<std::uintptr_t, kMostLanes * 2>, kBanks> words_;
    std::array<std::array<std::uint8_t, kMostLanes * 2>, kBanks> bytes_;
};

// If all lanes want the same, or each lane what lies after that of the lane before it, no bank has two words of a pass:
// how many different bytes they ask for. 0: neither is so.
unsigned bytes_in_turn(const TrafficRequest& request, unsigned bytes) {
    const std::uintptr_t first = address_of(request.what[0]);
    if (first % bytes != 0) {
        return 0;
    }
    bool same = true, in_turn = true;
    for (unsigned i = 1; i < request.count; i++) {
        const std::uintptr_t behind = address_of(request.what[i]) - first;
        same = same && behind == 0;
        in_turn = in_turn && behind == std::uintptr_t{i} * bytes;
    }
    return same ? bytes : in_turn ? request.count * bytes : 0;
}

// One pass, most often: lanes want the same or words of their own that go up or down, and so may the lanes of each row
// of a block. False: they do not.
bool count_plain_pass(BankPasses& sum, const std::uint64_t* what, unsigned count, unsigned bytes) {
    while (count % 2 == 0 && std::equal(what, what + count / 2, what + count / 2)) { count /= 2; }
    const unsigned apart = std::max(bytes, kBankBytes);
    const bool up = address_of(what[count - 1]) >= address_of(what[0]);
    std::array<std::uint8_t, kBanks> words{};
    std::uint8_t most = 0;
    unsigned distinct = 0;
    for (unsigned i = 0; i < count; i++) {
        const std::uintptr_t here = address_of(what[i]);
        if (i > 0) {
            const std::uintptr_t before = address_of(what[i - 1]);
            if (here == before) {
                continue;
            }
            if ((here > before) != up) {
                return false;
            }
        }
        if (here % apart != 0) {
            return false;
        }
        for (unsigned word = 0; word * kBankBytes < bytes; word++) {
            most = std::max(most, ++words[(here / kBankBytes + word) % kBanks]);
        }
        distinct += bytes;
    }
    sum.wavefronts += most;
    sum.distinct_bytes += distinct;
    return true;
}

void count_passes(BankPasses& sum, const TrafficRequest& request, unsigned bytes) {
    const unsigned lanes_a_pass = bytes <= 4 ? kMostLanes : bytes == 8 ? kMostLanes / 2 : kMostLanes / 4;
    sum.wavefronts = sum.passes = sum.distinct_bytes = 0;
    for (unsigned begin = 0, end = 0; begin < request.count; begin = end) {
        const unsigned pass = request.lanes[begin] / lanes_a_pass;
        while (end < request.count && request.lanes[end] / lanes_a_pass == pass) { end++; }
        sum.passes++;
        if (!count_plain_pass(sum, request.what + begin, end - begin, bytes)) {
            Banks banks;
            for (unsigned i = begin; i < end; i++) { banks.add(address_of(request.what[i]), bytes); }
            sum.wavefronts += banks.wavefronts();
            sum.distinct_bytes += banks.distinct_bytes();
        }
    }
}

// The same where bytes_in_turn() has found that no bank has two words of a pass.
unsigned passes_in_turn(const TrafficRequest& request, unsigned bytes) {
    if (bytes <= kBankBytes) {
        return 1;
    }
    const unsigned lanes_a_pass = kMostLanes * kBankBytes / bytes;
    unsigned passes = 0;
    for (unsigned i = 0, last = kMostLanes; i < request.count; i++) {
        const unsigned pass = request.lanes[i] / lanes_a_pass;
        passes += pass != last ? 1 : 0;
        last = pass;
    }
    return passes;
}

unsigned distinct_bytes(const TrafficRequest& request, unsigned bytes) {
    SmallSet<16 * kMostLanes> all;
    for (unsigned i = 0; i < request.count; i++) {
        const std::uintptr_t address = address_of(request.what[i]);
        for (std::uintptr_t byte = address; byte < address + bytes;) {
            const std::uintptr_t next = std::min((byte / kBankBytes + 1) * kBankBytes, address + bytes);
            const auto from = static_cast<unsigned>(byte % kBankBytes);
            all.merge(byte / kBankBytes, low_bits(static_cast<unsigned>(next - byte)) << from);
            byte = next;
        }
    }
    unsigned sum = 0;
    for (std::size_t i = 0; i < all.size(); i++) { sum += static_cast<unsigned>(std::popcount(all.bits(i))); }
    return sum;
}

// The wavefronts of a request for the aligned `width` bytes around each lane's access: 8 or 16.
unsigned wavefronts_if(const TrafficRequest& request, unsigned width) {
    const unsigned lanes_a_pass = kMostLanes * kBankBytes / width;  // and so many places for them side by side
    unsigned sum = 0;
    for (unsigned i = 0; i < request.count;) {
        const unsigned pass = request.lanes[i] / lanes_a_pass;
        std::array<std::array<std::uintptr_t, kMostLanes / 2>, kMostLanes / 2> seen;
        std::array<std::uint8_t, kMostLanes / 2> count{};
        std::uint8_t most = 0;
        for (; i < request.count && request.lanes[i] / lanes_a_pass == pass; i++) {
            const std::uintptr_t piece = address_of(request.what[i]) / width;
            const std::size_t place = piece % lanes_a_pass;
            const auto end = seen[place].begin() + count[place];
            if (std::find(seen[place].begin(), end, piece) == end) {
                *end = piece;
                most = std::max(most, ++count[place]);
            }
        }
        sum += most;
    }
    return sum;
}

// The same as for the site's request before, if all lanes' addresses have moved by as many words.
const BankPasses& passes_at(TrafficSite& site, const TrafficRequest& request, unsigned bytes) {
    BankPasses& before = site.passes;
    const std::uint64_t moved = request.what[0] - before.what[0];
    std::uint64_t differs = (before.count ^ request.count) | moved % packed(kBankBytes, TraceKind{}, 0);
    if (differs == 0) {
        for (unsigned i = 0; i < request.count; i++) { differs |= (request.what[i] - moved) ^ before.what[i]; }
        differs |= std::equal(request.lanes, request.lanes + request.count, before.lanes.begin()) ? 0 : 1;
    }
    if (differs == 0) {
        return before;
    }
    if (const unsigned different = bytes_in_turn(request, bytes); different != 0) {
        before.wavefronts = before.passes = passes_in_turn(request, bytes);
        before.distinct_bytes = different;
    } else {
        count_passes(before, request, bytes);
        if (before.passes > 1 && !is_global(site.kind)) {
            before.distinct_bytes = distinct_bytes(request, bytes);
        }
    }
    if (!is_global(site.kind)) {
        before.wavefronts_of_8 = bytes < 8 ? wavefronts_if(request, 8) : 0;
        before.wavefronts_of_16 = bytes < 16 ? wavefronts_if(request, 16) : 0;
    }
    before.count = request.count;
    std::copy_n(request.what, request.count, before.what.begin());
    std::copy_n(request.lanes, request.count, before.lanes.begin());
    return before;
}

// Adds what L1 and shared memory need for a request: its wavefronts, or its lines at four a cycle and two more.
void add_quarter_cycles(Traffic& sum, std::uint64_t wavefronts, std::uint64_t lines) {
    constexpr std::uint64_t kQuarters = 4;
    constexpr std::uint64_t kFirstLines = 2;
    const std::uint64_t least = std::max(kQuarters * wavefronts, lines == 0 ? 0 : lines + kFirstLines);
    sum.quarter_cycles_32 += least;
    sum.quarter_cycles_16 += std::max(2 * kQuarters, least);
}

void count_shared(TrafficSite& site, SharedTraffic& sum, const TrafficRequest& request, unsigned bytes) {
    sum.requests++;
    sum.threads += request.count;
    sum.bytes_asked += std::uint64_t{request.count} * bytes;
    const BankPasses& passes = passes_at(site, request, bytes);
    sum.bytes_distinct += passes.distinct_bytes;
    sum.wavefronts += passes.wavefronts;
    sum.ideal_wavefronts += passes.passes;
    sum.wavefronts_of_8 += passes.wavefronts_of_8;
    sum.wavefronts_of_16 += passes.wavefronts_of_16;
    add_quarter_cycles(site.traffic, passes.wavefronts, 0);
}

void note_buffer(TrafficSite& site, std::uintptr_t address) {
    const Allocation* allocation = Memory::instance().contains(address) ? Memory::instance().find(address) : nullptr;
    if (allocation == nullptr) {
        site.buffer_begin = address;
        site.buffer_bytes = 1;
        return;
    }
    site.buffer_begin = allocation->begin;
    site.buffer_bytes = allocation->bytes;
    const auto end = site.buffers.begin() + static_cast<std::ptrdiff_t>(site.buffer_count);
    if (site.buffer_count < site.buffers.size() && std::find(site.buffers.begin(), end, allocation->begin) == end) {
        site.buffers[site.buffer_count++] = allocation->begin;
    }
}

void count_global(TrafficSite& site, GlobalTraffic& sum, const TrafficRequest& request, unsigned bytes,
                  TouchedSectors& block) {
    const std::uintptr_t first = address_of(request.what[0]);
    if (first - site.buffer_begin >= site.buffer_bytes) [[unlikely]] {
        note_buffer(site, first);
    }
    sum.requests++;
    sum.threads += request.count;
    const std::uint64_t asked = std::uint64_t{request.count} * bytes;
    sum.bytes_asked += asked;
    sum.ideal_sectors += (asked + kSectorBytes - 1) / kSectorBytes;
    Places places{site.bytes, site.kind == TraceKind::store ? nullptr : &block.loads,
                  site.kind == TraceKind::load ? nullptr : &block.stores};
    const Touched touched = count_sectors(places, request, bytes);
    const unsigned wavefronts = passes_at(site, request, bytes).wavefronts;
    sum.sectors += touched.sectors;
    sum.lines += touched.lines;
    sum.bytes_distinct += touched.bytes;
    sum.wavefronts += wavefronts;
    add_quarter_cycles(site.traffic, wavefronts, touched.lines);
}

}  // namespace

ByteSet::~ByteSet() {
    pool_->taken -= chunks_.size();
    for (auto& [number, chunk] : chunks_) { pool_->free.push_back(std::move(chunk)); }
}

ByteSet::Chunk* ByteSet::chunk(std::uint64_t number) {
    std::unique_ptr<Chunk>& chunk = chunks_[number];
    if (chunk == nullptr) {
        if (pool_->taken == Pool::kMost) {
            chunks_.erase(number);
            incomplete_ = true;
            return nullptr;
        }
        if (pool_->free.empty()) {
            chunk = std::make_unique<Chunk>();
        } else {
            chunk = std::move(pool_->free.back());
            pool_->free.pop_back();
            chunk->fill(0);
        }
        pool_->taken++;
    }
    return chunk.get();
}

void ByteSet::add(const ByteSet& other) {
    for (const auto& [number, from] : other.chunks_) {
        if (Chunk* to = chunk(number)) {
            for (std::size_t i = 0; i < kWords; i++) { (*to)[i] |= (*from)[i]; }
        }
    }
    incomplete_ = incomplete_ || other.incomplete_;
}

std::uint64_t ByteSet::count() const {
    std::uint64_t bytes = 0;
    for (const auto& [number, chunk] : chunks_) {
        for (std::size_t i = 0; i < kWords; i += 2) {
            bytes += static_cast<unsigned>(std::popcount(std::uint64_t{(*chunk)[i]} << 32 | (*chunk)[i + 1]));
        }
    }
    return bytes;
}

namespace {

void count_mma(TensorTraffic& sum, const MmaInstruction& instruction, std::uint64_t instructions) {
    const std::uint64_t products = instructions * static_cast<unsigned>(kTileRows * kTileColumns * instruction.k);
    sum.instructions += instructions;
    switch (instruction.type) {
        case TensorType::tf32:
            sum.tf32 += products;
            break;
        case TensorType::bf16:
            sum.bf16 += products;
            break;
        case TensorType::f16:
            (instruction.has_f16_accumulators ? sum.f16_to_f16 : sum.f16) += products;
            break;
    }
}

}  // namespace

void count_request(TrafficSite& site, const TrafficRequest& request, TouchedSectors& block) {
    Traffic& sum = site.traffic;
    const unsigned bytes = bytes_of(request.what[0]);
    switch (site.kind) {
        case TraceKind::load:
            return count_global(site, sum.loads, request, bytes, block);
        case TraceKind::store:
            return count_global(site, sum.stores, request, bytes, block);
        case TraceKind::atomic:
            sum.atomic_passes += most_on_one_address(request);
            return count_global(site, sum.atomics, request, bytes, block);
        case TraceKind::shared_load:
            return count_shared(site, sum.shared_loads, request, bytes);
        case TraceKind::shared_store:
        case TraceKind::shared_copy:
            return count_shared(site, sum.shared_stores, request, bytes);
        case TraceKind::shared_atomic:
            sum.atomic_passes += most_on_one_address(request);
            return count_shared(site, sum.shared_atomics, request, bytes);
        case TraceKind::barrier:
            sum.barriers++;
            return;
        case TraceKind::special:
            sum.special_requests++;
            sum.special_functions += std::uint64_t{request.count} * bytes;
            sum.special_in_double += address_of(request.what[0]) == 0 ? 0 : std::uint64_t{request.count} * bytes;
            return;
        case TraceKind::shuffle:
            sum.shuffles += bytes;
            for (unsigned i = 0; i < bytes; i++) { add_quarter_cycles(sum, 1, 0); }
            return;
        case TraceKind::mma:
            return count_mma(sum.tensor, instruction_of(static_cast<MmaShape>(bytes & ~kTwoInstructions)),
                             (bytes & kTwoInstructions) != 0 ? 2 : 1);
        case TraceKind::truncated:
            for (unsigned i = 0; i < request.count; i++) { sum.tensor.truncated += address_of(request.what[i]); }
            return;
        case TraceKind::matrix_row:
            return count_shared(site, sum.matrix_loads, request, bytes);
        case TraceKind::arithmetic:
            site.requests++;
            site.threads += request.count;
            return;
        case TraceKind::collective:
        case TraceKind::landed:
            return;
    }
}

}  // namespace simt
