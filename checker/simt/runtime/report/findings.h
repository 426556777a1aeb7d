// SPDX-License-Identifier: MIT
//
// What the device has seen go wrong. Findings of one kind at one place are one finding with a count.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checker/simt/runtime/base/source.h"

namespace simt {

struct Lane;

// The names, as reports and tests write them, are in findings.cpp.
enum class Kind {
    out_of_bounds,
    misaligned,
    uninitialised,
    use_after_free,
    double_free,
    invalid_free,
    leak,
    null_pointer,
    host_pointer,   // a kernel uses the host's memory
    device_memory,  // the host uses the device's memory
    read_only,      // a kernel writes what it may only read
    padding,        // a kernel writes columns of a buffer that are not to be written
    barrier,        // a barrier that not all threads come to
    collective,     // a warp collective that breaks its rules
    spin,           // a loop that cannot end
    time_limit,     // a kernel that works for too long
    bad_launch,
    unchecked_error,
    stack_overflow,
    assertion,
    trap,
    crash,
    bad_copy,
    bad_capture,  // a call that a stream's capture does not allow
    race,
};

const char* name_of(Kind kind);

// A place in the program: a code address, or a file and line known already.
struct Location {
    const void* return_address = nullptr;
    SourceLine line;
    Location(const void* address) : return_address(address) {}
    Location(SourceLine known) : line(std::move(known)) {}
};

struct DeviceFinding {
    Kind kind;
    std::string space;  // global, shared, local, constant; array: a named array in any of them; or empty
    SourceLine line;
    std::string text;    // one line
    std::string kernel;  // empty: host code
    std::string thread;  // "block (0, 0, 0), thread (3, 0, 0)"; empty: host code
    long count = 1;
    SourceLine other_line;             // of a race: the second of the two lines in the file
    std::vector<std::string> details;  // of a race: what each of the two does and where, by their lines; then why
};

// Notes a finding about the running CUDA thread, or the host. `text` is called only if the finding is new.
void report(Kind kind, const char* space, const Location& place, const std::function<std::string()>& text);

// Prints a remark that is no finding on stderr, the first time that this place gives rise to it.
void note(const void* site, const std::string& text);
bool wants_notes();  // VERBOSE=1

// That threads had ended before the others of their block met at a barrier, which CUDA allows: "31 of 64 threads of block
// (0, 0, 0) had ended before the others met at scan.cu:14 in scan". The first time only; forgotten with the findings.
void note_who_left(const std::function<std::string()>& text);
const std::string& early_exits();  // empty: it has not happened

// One of the two accesses of a race.
struct RaceSide {
    const void* site;    // return address
    std::string what;    // "writes"
    std::string thread;  // "block (0, 0, 0), thread (3, 0, 0)", "the host"
};
struct RaceText {
    std::string what;    // which bytes
    std::string why;     // why nothing orders the two, in one sentence
    std::string kernel;  // empty: it is not within one launch
};
// How plainly two threads show what does not order them: of the pairs of two lines the clearest is told.
enum class Specificity : std::uint8_t { two_lanes, another_warp, two_threads };
// Returns the finding's number, for count_again.
std::size_t report_race(const char* space, RaceSide first, RaceSide second, Specificity specificity,
                        const std::function<RaceText()>& text);
void count_again(std::size_t finding);

// Say where the program is, for new findings. The scheduler and the streams set them before anything runs; null: nothing
// has run yet.
struct RunningNow {
    std::string (*kernel)() = nullptr;                  // "scale"
    std::string (*thread)(const Lane& lane) = nullptr;  // "block (0, 0, 0), thread (3, 0, 0)"
    std::string (*node)() = nullptr;                    // ", by scale (made at main.cu:20) in the graph …", or empty
};
extern constinit RunningNow running_now;

// For a race: "scale, 3 times; SIMT_SEED=1 runs it in this order again".
std::string again_text(const DeviceFinding& finding);

// All findings so far, oldest first; those of one kind, space and line are folded. A race comes before what was read too
// early because of it.
std::vector<DeviceFinding> findings();
// At how many places something has been found so far.
std::size_t places_found();
void forget_findings();

// Prints them on stderr (20 at most, then a count) and writes SIMT_REPORT. Returns how many there are.
std::size_t print_findings();

// Called when the process ends; works once: prints the findings, and returns whether there are any. `find_the_last`, if it
// is not null, may report more before that.
bool print_findings_once(void (*find_the_last)() = nullptr);

// Whether the end of the process prints the findings, and sets its status to 1 if there are any. A worker that hands
// them on itself wants neither.
void report_at_exit(bool wanted);

// Sets what is called with the findings if the process must end at once: a worker hands them on. Null: nothing is
// called.
void hand_on_at_fatal_finding(void (*hand_on)());
[[noreturn]] void end_with_findings();

}  // namespace simt
