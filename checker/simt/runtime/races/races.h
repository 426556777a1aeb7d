// SPDX-License-Identifier: MIT
//
// Races: two accesses to the same bytes, at least one of which writes, that nothing orders (clocks.h), unless both are
// atomic or volatile and each other's scope holds both threads.
//
// Each unit of memory (4 bytes; 2 or 1 in a page in which such were touched) has its last plain write, the plain reads
// since then, and, if there are any, the strong (atomic, volatile) reads and writes. A set of accesses is a cell of 8
// bytes. The cell holds the last member exactly, and says whether it stands for itself, for several lanes of its warp,
// or for several warps of its block since the block's last barrier. A chain of earlier blocks' accesses hangs from it;
// all cells with the same history share one chain.
//
// Two plain writes of one value are no race: whatever their order, every thread sees that value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/races/clocks.h"

namespace simt {

enum class Specificity : std::uint8_t;
class Footprint;
struct Block;
struct Launch;
struct LaunchObserver;
struct Warp;

extern const LaunchObserver race_observer;

// ---- cells: time (30 bits), kind (2), thread (10), narrow (1), linked (1), site or link (20) --------------------------

using Cell = std::uint64_t;  // 0: nobody

enum class Who : std::uint8_t { nobody, thread, warp, block };

namespace cell {

inline constexpr std::uint32_t kMostSites = 1U << 20;
inline constexpr std::uint32_t kFarSites = 256;  // the first numbers: sites that are far from the kernel's own
inline constexpr Time kLastTime = (1U << 30) - 2;

inline constexpr Cell make(Time time, Who who, std::uint32_t thread, bool narrow, bool linked, std::uint32_t payload) {
    return Cell{time} << 34 | Cell{static_cast<std::uint8_t>(who)} << 32 | Cell{thread} << 22 |
           Cell{narrow ? 1U : 0U} << 21 | Cell{linked ? 1U : 0U} << 20 | payload;
}
inline constexpr Cell kLinked = Cell{1} << 20;
inline constexpr Time time(Cell c) {
    return static_cast<Time>(c >> 34);
}
inline constexpr Who who(Cell c) {
    return static_cast<Who>(c >> 32 & 3U);
}
inline constexpr std::uint32_t thread(Cell c) {
    return static_cast<std::uint32_t>(c >> 22 & 1023U);
}
inline constexpr bool narrow(Cell c) {  // one of them is an atomic of the block's scope
    return (c >> 21 & 1U) != 0;
}
inline constexpr bool linked(Cell c) {
    return (c >> 20 & 1U) != 0;
}
inline constexpr std::uint32_t payload(Cell c) {
    return static_cast<std::uint32_t>(c & (kMostSites - 1));
}

}  // namespace cell

// Cells as neighbouring threads leave them: from `begin` on they are first, first + step, …, each of them `times`
// times.
struct CellRun {
    Cell first, step;
    std::uint16_t begin, times;
};

// The cells of a page that consists of few runs.
struct PackedCells {
    std::vector<CellRun> reads, writes;  // without writes, nobody wrote
    Time newest = 0;
};

// Where an address lies, in its buffer's own terms; the address is not in shared memory, and several threads can touch
// it.
std::string place_of_global(std::uintptr_t address);

// The cells of 4096 bytes.
struct RacePage {
    static constexpr std::size_t kBytes = HotRaces::kPageBytes;
    static constexpr std::uint16_t kStrong = 0x100;
    static constexpr std::uint16_t kPacked = 0x200;
    explicit RacePage(std::uint16_t unit_shift) : form(unit_shift) {}
    unsigned shift() const { return form & 0xffU; }           // a unit has 1 << shift() bytes
    bool strong() const { return (form & kStrong) != 0; }     // the last two are there
    bool is_packed() const { return (form & kPacked) != 0; }  // and has no cells
    std::size_t units() const { return kBytes >> shift(); }
    std::size_t bytes() const;

    std::uint16_t form;
    bool doubted = false;  // a reader found unwritten bytes, or they were freed after it
    std::unique_ptr<Cell[]> reads, writes, strong_reads, strong_writes;
    std::unique_ptr<PackedCells> packed;
    // For shared memory that several lanes of a warp have read: which lanes, and when the first of them read.
    std::unique_ptr<std::uint32_t[]> lanes, since;
};

enum class Touch : std::uint8_t { read, write };
enum class Strength : std::uint8_t { plain, block, device };

// An access, for the search.
struct Touched {
    std::uintptr_t address;
    std::size_t bytes;
    Touch touch;
    Strength strength;
    const void* site;
    bool shared;
    bool atomic = false;                      // what is strong and not atomic is volatile
    bool also_reads = false;                  // an atomic that reads and writes: it keeps the releases that it saw
    bool publishes = true;                    // not a compare-and-swap that finds another value
    bool acquires = false, releases = false;  // by itself, without a fence
};

class Races {
  public:
    static Races& instance();
    Races();

    // Whether launches are watched from now on; SIMT_CHECK decides it at first.
    void want(bool wanted) { wanted_ = wanted; }
    bool wanted() const { return wanted_ && hot.checking; }
    bool will_watch() const;  // the next launch

    // Whether the last launch had accesses by which threads wait for each other or exclude each other: volatile ones,
    // swaps, fences with an atomic, C++'s acquires and releases.
    bool synchronises() const { return synchronises_; }
    // Whether it did so in memory that the host may have changed meanwhile.
    bool synchronises_with_the_host() const { return with_the_host_; }
    void note_synchronisation() { synchronises_ = true; }

    // From now on launches leave here what they have touched: all of it, or only what the host can touch too. Null:
    // they leave it nowhere.
    void collect(Footprint* into, bool all) {
        collect_ = into;
        collect_all_ = all;
    }

    void begin_launch(const Launch& launch);
    void end_launch();
    void begin_block(Block& block);
    void switch_to(Block& block);  // the next slice of the device's time is the block's
    void end_block(Block& block);
    void begin_lane(std::uint32_t thread);
    void end_lane(std::uint32_t thread);

    void pass_barrier(const void* site);
    void pass_grid_barrier(const void* site);  // of all blocks of the launch
    void sync_lanes(const Warp& warp, unsigned mask, const void* site);
    void fence(bool beyond_block);

    void touch(const Touched& touched);
    // Of a plain access to shared memory that plainly follows all others. False: it is to be looked at more closely.
    bool touch_shared(std::uintptr_t address, std::size_t bytes, Touch touch, const void* site);
    // Orders memory as that access would, and is none: its address only tells it from others.
    void order_by(const Touched& touched);
    // The thread is about to compare and swap: a plain read of the variable just before was a guess, and no race.
    void about_to_swap(std::uintptr_t address);

    // An asynchronous copy (async_copies.h). begin_copy: the copy reads, and what others did to its destination
    // earlier must be ordered before it; returns the time, and everything that follows comes later. end_copy: a write
    // to its source since begin_copy is reported, and the copy counts as having read and written now. A source of 0
    // bytes is not looked at.
    Time begin_copy(const Touched& source, const Touched& destination);
    void end_copy(const Touched& source, const Touched& destination, Time issued);
    // Whether what a thread of the block did at that time happened before the running thread's next step.
    bool happened_before(std::uint32_t thread, Time time) const;
    // The running thread, itself or by another copy, uses memory that a thread's copy is on its way to.
    void report_copy_race(const Touched& touched, const void* copy_site, std::uint32_t copy_thread, Time issued,
                          std::uintptr_t address);

    static constexpr std::size_t kMostOpen = 1U << 12;
    // Sets how many pages may have their cells before the oldest one is packed. To be called between launches; it
    // forgets what is known.
    void keep_at_most_open(std::size_t pages);
    std::size_t shadow_bytes() const { return shadow_bytes_; }

    // From now on a reader of these bytes of the device's memory does not pass for one that may read them.
    static void doubt(std::uintptr_t begin, std::size_t bytes);

  private:
    static constexpr std::size_t kMostShadow = std::size_t{1} << 30;  // bytes that cells may take
    static constexpr std::size_t kExactLinks = 1U << 10;  // beyond so many, links name blocks and not threads

    struct Link {  // an access of an earlier block, and what was before it
        Cell access;
        std::uint32_t site;      // of it
        std::uint32_t next;      // 0: no more
        std::uint32_t top_site;  // of the cell that points here
        bool operator==(const Link&) const = default;
    };
    struct Slice {
        Time after;
        std::uint64_t block;
    };
    struct Conflict {
        Cell other;
        std::uint32_t site;
        bool other_writes, other_strong;
        std::uint32_t lanes;  // of its warp, where they are known
    };
    // What the thread's next step shows to be a race or none: two plain writes, until the second one's value is known,
    // or a plain read of what others change atomically.
    struct Suspicion {
        static constexpr std::size_t kMostBytes = 16;
        Touched touched;
        Conflict conflict;
        std::uintptr_t at;
        std::uint32_t bytes = 0;  // bit i: byte i is another thread's too
        std::array<unsigned char, kMostBytes> before{};
    };
    // A thread's volatile read of shared memory.
    struct Look {
        std::uintptr_t address = 0;
        const void* site = nullptr;
        Time at = 0;
        std::uint32_t thread = 0;
    };
    struct BlockState {
        BlockClock clock;
        // Shared memory by area: the kernel's arrays, and dynamic shared memory. `cells` shows the hooks what `pages` has.
        std::array<std::vector<std::unique_ptr<RacePage>>, 2> pages;
        std::array<std::vector<HotCells>, 2> cells;
        std::unordered_map<std::uintptr_t, ReleaseLog*> released;  // through shared variables
        const void* barrier = nullptr;                             // the last one's line: return address
        std::vector<const void*> syncwarp;  // by warp: that of its last __syncwarp of all lanes since then
        std::vector<Look> last_looks;       // by thread; empty until the first one
        // By word: each thread's last look at it, since which it has not written there.
        std::vector<std::vector<Look>> looks;
    };

    struct SharedPlace {
        std::size_t area, number;  // indices of BlockState::pages
    };
    SharedPlace shared_place(std::uintptr_t address) const;
    std::unique_ptr<RacePage>& shared_page(std::uintptr_t address);
    void note_shared_cells(std::uintptr_t address);
    void expose_shared() const;  // to the hooks
    RacePage* page_if_any(std::uintptr_t address);
    static void note_words(std::size_t number);
    static void note_words_at(const Touched& touched, std::uintptr_t address);
    RacePage* page_of(const Touched& touched, std::uintptr_t address);
    RacePage* new_page(unsigned shift, bool shared);
    void split(RacePage& page, unsigned shift);
    void keep_open(std::size_t number);
    void pack(RacePage& page);
    bool unpack(std::size_t number);
    void release_pages();
    void export_footprint() const;
    void leave_page(const RacePage& page, std::uintptr_t begin) const;
    bool give_memory(std::size_t bytes);

    std::uint32_t number_of(const void* site) const;
    const void* site_of(std::uint32_t number) const;
    std::uint64_t block_of(Time time) const;
    bool acquired_covers_it(const Whose& whose, Time time) const;
    bool ordered(Cell other, bool shared, const RacePage* page, std::size_t unit, std::uintptr_t variable = 0) const;
    bool ordered_in_block(Cell other, const RacePage* page, std::size_t unit, std::uintptr_t variable) const;
    std::optional<Conflict> conflict_in(Cell top, const Touched& touched, bool other_writes, bool other_strong,
                                        const RacePage* page, std::size_t unit) const;
    std::optional<Conflict> find(const Touched& touched, const RacePage& page, std::size_t unit) const;
    std::optional<Conflict> conflict_to_yield_at(const Touched& touched);
    void note_look(const Touched& touched);
    Time all_met() const;
    std::vector<Look>& looks_at(std::uintptr_t address);
    void forget_looks(std::vector<Look>& looks) const;
    void judge_lockstep(const Touched& touched);
    bool is_first_volatile_write(const Touched& touched);
    bool looks_again(std::uint32_t thread, std::uintptr_t address) const;
    void report_or_defer(const Touched& touched, const Conflict& conflict, std::uintptr_t address,
                         std::size_t unit_bytes, bool& told);
    void inspect(const Touched& touched);
    void note(const Touched& touched, RacePage& page, std::size_t unit);
    void join(Cell& set, const Touched& touched, RacePage* page, std::size_t unit);
    std::uint32_t link(const Link& wanted);
    void synchronise(const Touched& touched);
    bool should_yield(const Touched& touched, std::uint32_t other_site);
    // Calls each(page, unit, address) for each unit of the bytes that has a page.
    template <class Each>
    void each_unit(const Touched& touched, Each each) {
        const std::uintptr_t end = touched.address + touched.bytes;
        for (std::uintptr_t address = touched.address; address < end;) {
            RacePage* page = page_of(touched, address);
            if (page == nullptr) {
                address = (address / RacePage::kBytes + 1) * RacePage::kBytes;
                continue;
            }
            const unsigned shift = page->shift();
            each(*page, address % RacePage::kBytes >> shift, address);
            address += std::size_t{1} << shift;
        }
    }
    void tell(const Touched& touched, const Conflict& conflict, std::uintptr_t address, bool on_its_way = false);
    bool is_copy(const void* site) const { return copy_sites_.contains(site); }
    void settle();  // the suspicion
    std::string why(const Touched& touched, const Conflict& conflict, std::uint64_t block) const;
    std::string turns(const Touched& touched, const Conflict& conflict) const;
    bool in_one_warp(const Conflict& conflict, std::uint64_t block) const;
    std::string text_of_other(const Conflict& conflict, std::uint64_t block) const;
    void set_now(Time now);
    static void set_mine();
    static void leave_lane();  // no lane runs
    void set_alone();
    void note_fence();
    void give_up();

    bool wanted_ = true;
    Footprint* collect_ = nullptr;
    bool collect_all_ = false;
    Time launch_began_ = 0;
    std::uintptr_t static_shared_begin_ = 0;
    BlockState* current_ = nullptr;
    std::vector<std::unique_ptr<BlockState>> idle_;
    std::unordered_map<Block*, std::unique_ptr<BlockState>> states_;
    std::vector<Slice> slices_;
    std::vector<Link> links_;
    std::vector<std::uint32_t> link_table_;
    std::vector<std::size_t> link_slots_;  // the slots of the table that are in use
    mutable std::vector<const void*> far_sites_;
    std::deque<ReleaseLog> logs_;
    std::unordered_map<std::uintptr_t, ReleaseLog*> released_;
    std::unordered_map<std::uintptr_t, std::unique_ptr<RacePage>> variable_pages_;  // __device__ variables
    std::vector<std::size_t> used_pages_;
    std::deque<std::size_t> open_pages_;  // those used pages that may be packed, by age
    std::size_t most_open_ = kMostOpen;   // before the oldest is packed
    std::uint64_t unpacked_ = 0;          // pages, so far
    std::size_t shadow_bytes_ = 0;
    bool fenced_ = false;  // some thread of the launch has fenced
    bool synchronises_ = false, with_the_host_ = false;
    std::optional<Suspicion> suspicion_;
    std::unordered_set<std::uint32_t> guesses_;        // sites of plain reads before a compare-and-swap
    const void* last_volatile_write_ = nullptr;        // the line that has stepped aside last
    std::unordered_set<const void*> polls_;            // sites of volatile reads that look again and again
    std::unordered_set<std::uint64_t> stepped_aside_;  // pairs of sites
    std::unordered_set<const void*> copy_sites_;       // of asynchronous copies
    struct Reported {
        std::size_t finding;
        Specificity specificity;
    };
    std::unordered_map<std::uint64_t, Reported> reported_;  // by pair of sites
};

// Recent links: which one a cell gets when a thread of another block joins it.
struct LinkCache {
    struct Entry {
        Cell key = 0;
        std::uint32_t site = 0, link = 0;
    };
    static Cell key(Cell set, bool coarse) { return coarse ? set & ~(Cell{0xfff} << 22) : set; }
    static std::size_t slot(Cell key) { return (key * 0x9e3779b97f4a7c15U) >> 56; }
    std::array<Entry, 256> entries;
};
extern constinit LinkCache link_cache;

[[gnu::always_inline]] inline bool plainly_after_write(Cell written) {
    const HotRaces& me = hot.races;
    const Time wrote_at = cell::time(written);
    return wrote_at <= me.launch ||
           (wrote_at > me.slice && (wrote_at <= me.barrier || cell::thread(written) == me.thread));
}

[[gnu::always_inline]] inline bool plainly_after_reads(Cell reads) {
    const HotRaces& me = hot.races;
    const Time read_at = cell::time(reads);
    return read_at <= me.launch ||
           (!cell::linked(reads) && read_at > me.slice &&
            (read_at <= me.barrier || (cell::who(reads) == Who::thread && cell::thread(reads) == me.thread)));
}

// Both return false when more is needed to decide.
[[gnu::always_inline]] inline bool plainly_ordered_read(Cell& reads, Cell written, std::uint32_t site) {
    const HotRaces& me = hot.races;
    const Cell set = reads;
    const Cell myself = me.mine[static_cast<unsigned>(Who::thread)];  // without a site
    const Time read_at = cell::time(set);
    if (!plainly_after_write(written)) {
        return false;
    }
    if (read_at <= me.launch) {
        reads = myself | site;
        return true;
    }
    if (read_at <= me.block) {
        const Cell key = LinkCache::key(set, me.coarse);
        const LinkCache::Entry& known = link_cache.entries[LinkCache::slot(key)];
        if (known.key != key || known.site != site || me.acquired) {
            return false;
        }
        reads = myself | cell::kLinked | known.link;
        return true;
    }
    const auto who = static_cast<unsigned>(cell::who(set));
    if ((set & me.bits[who]) == me.mine[who]) {
        return true;  // it is among the readers already: by itself, or as a member of its warp or block
    }
    if (read_at <= me.slice) {
        return false;
    }
    const bool mine = cell::who(set) == Who::thread && cell::thread(set) == me.thread;
    if (!cell::linked(set) && (read_at <= me.barrier || mine)) {
        reads = myself | site;
        return true;
    }
    if (me.acquired || mine || read_at <= me.alone) {
        return false;
    }
    const bool same_warp = (cell::thread(set) ^ me.thread) < 32 && cell::who(set) != Who::block;
    reads = cell::make(me.now, same_warp ? Who::warp : Who::block, cell::thread(set), false, cell::linked(set),
                       cell::payload(set));
    return true;
}

[[gnu::always_inline]] inline bool plainly_ordered_write(Cell& reads, Cell& written, std::uint32_t site) {
    HotRaces& me = hot.races;
    if (!plainly_after_write(written) || !plainly_after_reads(reads)) {
        return false;
    }
    reads = 0;
    written = cell::make(me.now, Who::thread, me.thread, false, false, site);
    me.wrote = me.now;
    return true;
}

// Judges a plain access to a unit of shared memory, and notes it if it plainly follows all others. False: more is needed.
[[gnu::always_inline]] inline bool plainly_ordered_in_shared(Cell& reads, Cell& writes, std::uint32_t& lanes,
                                                             std::uint32_t& since, Touch touch, std::uint32_t site) {
    constexpr auto kBlock = static_cast<unsigned>(Who::block);
    HotRaces& me = hot.races;
    const Cell set = reads;
    const Cell written = writes;
    const Cell alone = me.mine[static_cast<unsigned>(Who::thread)] | site;
    if (cell::time(written) > me.barrier && cell::thread(written) != me.thread) {
        return false;
    }
    const Time time = cell::time(set);
    const std::uint32_t other = cell::thread(set) ^ me.thread;
    const bool replaced = time <= me.barrier || (cell::who(set) == Who::thread && other == 0);
    if (touch == Touch::write) {
        if (!replaced) {
            return false;
        }
        reads = 0;
        writes = alone;
        me.wrote = me.now;
        return true;
    }
    if ((set & me.bits[kBlock]) == me.mine[kBlock]) {
        return true;  // it is among them already
    }
    if (replaced) {
        reads = alone;
        return true;
    }
    if (me.acquired || time <= me.alone) {
        return false;
    }
    const bool in_warp = other < 32 && cell::who(set) != Who::block;
    if (in_warp) {
        if (cell::who(set) == Who::thread) {
            lanes = 1U << cell::thread(set) % 32;
            since = time;
        }
        lanes |= 1U << me.thread % 32;
    }
    reads = cell::make(me.now, in_warp ? Who::warp : Who::block, cell::thread(set), false, false, cell::payload(set));
    return true;
}

// Returns the cells of 4 bytes of shared memory, of which `area` of hot.shared has the address; null: they are looked up.
[[gnu::always_inline]] inline const HotCells* shared_cells(std::size_t area, std::uintptr_t address) {
    const HotPages& pages = hot.races.shared[area];
    const std::size_t number = address / RacePage::kBytes - hot.shared[area].begin / RacePage::kBytes;
    return number < pages.count && pages.begin[number].reads != nullptr ? &pages.begin[number] : nullptr;
}

// Returns true if the thread joins others of its warp or block that read the 4 bytes since the last barrier, at a time
// that is still the present one.
[[gnu::always_inline]] inline bool joins_readers_in_shared(std::size_t area, std::uintptr_t address) {
    constexpr auto kWarp = static_cast<unsigned>(Who::warp), kBlock = static_cast<unsigned>(Who::block);
    const HotRaces& me = hot.races;
    const HotCells* const cells = shared_cells(area, address);
    if (cells == nullptr) {
        return false;
    }
    const std::size_t unit = address % RacePage::kBytes / 4;
    const Cell written = cells->writes[unit];
    if (cell::time(written) > me.barrier && cell::thread(written) != me.thread) {
        return false;
    }
    const Cell set = cells->reads[unit];
    if ((set & me.bits[kBlock]) == me.mine[kBlock]) {
        return true;
    }
    if ((set & (me.bits[kWarp] | cell::kLinked)) != me.mine[kWarp] || me.acquired || me.now <= me.alone) {
        return false;
    }
    cells->lanes[unit] |= 1U << me.thread % 32;
    return true;
}

// As Races::touch_shared(), for whole words. `area`: of hot.shared.
template <std::size_t kBytes, Touch kTouch>
[[gnu::always_inline]] inline bool plainly_ordered_words_in_shared(std::size_t area, std::uintptr_t address,
                                                                   const void* site) {
    const HotCells* const cells = shared_cells(area, address);
    const std::size_t in_page = address % RacePage::kBytes;
    const std::uint64_t code = reinterpret_cast<std::uintptr_t>(site) - hot.races.first_site;
    if (cells == nullptr || in_page + kBytes > RacePage::kBytes ||
        code - cell::kFarSites >= cell::kMostSites - cell::kFarSites) {
        return false;
    }
    bool fine = true;
    for (std::size_t unit = in_page / 4; unit < (in_page + kBytes) / 4; unit++) {
        fine = fine && plainly_ordered_in_shared(cells->reads[unit], cells->writes[unit], cells->lanes[unit],
                                                 cells->since[unit], kTouch, static_cast<std::uint32_t>(code));
    }
    return fine;
}

// A thread's access to the device's memory that is right in all other respects. `offset` counts from the beginning of
// that memory.
template <std::size_t kBytes, bool kWrite>
void look_for_races(std::uintptr_t offset, const void* site);

// Returns true if the thread is among the readers of the device's memory there already, and somebody has written it.
template <std::size_t kBytes, std::size_t kAlignment>
[[gnu::always_inline]] inline bool is_known_reader(std::uintptr_t offset) {
    const std::size_t in_page = offset % RacePage::kBytes;
    const Cell* const page = hot.races.words[offset / RacePage::kBytes];
    if (kBytes >= 4 && kAlignment >= 4 && page != nullptr &&
        (kAlignment >= kBytes || in_page + kBytes <= RacePage::kBytes)) [[likely]] {
        const Cell* reads = page + in_page / 4;
        bool fine = true;
        for (std::size_t i = 0; i < kBytes / 4; i++) {
            const auto who = static_cast<unsigned>(cell::who(reads[i]));
            fine = fine && (reads[i] & hot.races.bits[who]) == hot.races.mine[who];
        }
        return fine;
    }
    return false;
}

}  // namespace simt
