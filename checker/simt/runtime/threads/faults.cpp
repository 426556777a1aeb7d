// SPDX-License-Identifier: MIT
#include "checker/simt/runtime/threads/faults.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "checker/simt/runtime/base/errors.h"
#include "checker/simt/runtime/base/hot.h"
#include "checker/simt/runtime/base/libbacktrace.h"
#include "checker/simt/runtime/base/source.h"
#include "checker/simt/runtime/base/thread_request.h"
#include "checker/simt/runtime/memory/memory.h"
#include "checker/simt/runtime/memory/modules.h"
#include "checker/simt/runtime/report/findings.h"
#include "checker/simt/runtime/threads/scheduler.h"

namespace simt {
namespace {

constexpr std::size_t kSignalStack = std::size_t{1} << 20;
constexpr double kTick = 0.125;  // seconds
constexpr int kMostWaits = 12;   // for so many ticks we try to catch the thread in its own code, not in a hook

// What a signal handler leaves for the code with which the thread goes on. A handler has no other way to hand anything
// over.
struct Interrupted {
    std::uintptr_t pc = 0;
    std::uintptr_t address = 0;
    int signal = 0;
    bool in_runtime = false;  // the runtime's own code was interrupted
    bool refused = false;     // the processor refused the instruction, not the address
    bool endless = false;     // the instruction jumps to itself
    char* stack = nullptr;    // a stack for that code: the thread's may be full
} interrupted;

struct Clock {
    timer_t timer = nullptr;
    bool made = false;
    pid_t thread = 0;                     // the host's, which its signals go to
    int ticks = 0;                        // since a host function went to sleep, or the launch became overdue
    const void* host_function = nullptr;  // where one sleeps: return address
    double seconds = 0;                   // processor time at the last tick
    double launched = 0, ended = 0;       // when the launch began, and when its last block ended
    std::uint64_t blocks = 0;             // ended by then
    std::uint64_t accesses = 0;           // before the launch
} alarm_clock;

double processor_time() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct sigaction previous_fault[2];
struct sigaction previous_abort;
constexpr int kFaults[] = {SIGSEGV, SIGBUS};
const int kClockSignal = SIGRTMIN + 5;

std::uintptr_t pc_of(const ucontext_t& context) {
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return context.uc_mcontext.pc;
#else
#error "the CPU device knows x86-64 and aarch64"
#endif
}

// Makes the interrupted thread go on in `function`, on a stack that ends at `end`.
void set_frame(ucontext_t& context, void (*function)(), char* end) {
    const std::uintptr_t top = reinterpret_cast<std::uintptr_t>(end) & ~std::uintptr_t{15};
#if defined(__x86_64__)
    context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(top - 8);  // as after a call
    context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(function);
#elif defined(__aarch64__)
    context.uc_mcontext.sp = top;
    context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(function);
#endif
}

// Whether the address lies in the running kernel's code, and not in the runtime's.
bool is_kernels_code(std::uintptr_t pc) {
    const Module* module = Scheduler::instance().launch().module;
    const Symbol* function = module == nullptr ? nullptr : module->function_at(pc);
    return function != nullptr && !function->linkage_name.starts_with("__tsan_") &&
           !function->linkage_name.starts_with("_ZN4simt");
}

// Returns true for an empty loop, which for (;;) {} becomes, and a loop whose condition the compiler has moved before it.
bool jumps_to_itself(std::uintptr_t pc) {
#if defined(__x86_64__)
    constexpr std::array<unsigned char, 2> kJump = {0xeb, 0xfe};
#elif defined(__aarch64__)
    constexpr std::array<unsigned char, 4> kJump = {0x00, 0x00, 0x00, 0x14};
#endif
    return std::memcmp(reinterpret_cast<const void*>(pc), kJump.data(), kJump.size()) == 0;
}

// The thread goes on here instead, outside the handler: this function reports, and never returns.
[[noreturn]] void resume_here() {
    const void* site = !interrupted.in_runtime && is_kernels_code(interrupted.pc)
                           ? reinterpret_cast<const void*>(interrupted.pc + 1)  // resolved as a return address
                           : hot.site;
    Scheduler& scheduler = Scheduler::instance();
    if (hot.judge_expected != nullptr) {
        hot.judge_expected();
    }
    {
        const InRuntime
            in_runtime;  // the first look-up may take longer than a tick of the clock, and would be taken for a loop
        if (source_of(site).file.empty()) {
            site = scheduler.launch().entry;  // a thread's frame is made there, before the kernel's first line
        }
    }
    const Lane& lane = *hot.lane;
    if (interrupted.signal == kClockSignal) {
        if (interrupted.endless) {
            report(Kind::spin, "", site, [] { return "an endless loop: nothing in it can end it"; });
        } else {
            report_overdue(site);
        }
        scheduler.abandon(cudaErrorLaunchTimeout);
    }
    if (interrupted.refused) {
        report(Kind::misaligned, "", site,
               [] { return std::string("an access of 16 bytes at an address that is no multiple of 16"); });
        scheduler.abandon(cudaErrorMisalignedAddress);
    }
    const auto stack = reinterpret_cast<std::uintptr_t>(lane.stack.begin);
    const auto guard = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    if (interrupted.address - stack < guard) {
        report(Kind::stack_overflow, "local", site,
               [] { return fmt::format("the thread's arrays and calls need more than {} bytes", Stack::kBytes); });
    } else if (interrupted.address < 4096) {
        report(Kind::null_pointer, "", site,
               [] { return fmt::format("an access at address {:#x}", interrupted.address); });
    } else {
        report(Kind::crash, "", site,
               [] { return fmt::format("an access at address {:#x}, where no memory is", interrupted.address); });
    }
    scheduler.abandon(cudaErrorIllegalAddress);
}

void redirect(ucontext_t& context, int signal, std::uintptr_t address) {
    interrupted.pc = pc_of(context);
    interrupted.address = address;
    interrupted.signal = signal;
    set_frame(context, resume_here, interrupted.stack + kSignalStack);
}

// The return address in the user's code that led here, past the C library's frames.
const void* users_site() {
    const void* site = nullptr;
    backtrace_state* state = backtrace_create_state(
        nullptr, 0, [](void*, const char*, int) {}, nullptr);
    backtrace_simple(
        state, 0,
        [](void* data, std::uintptr_t pc) {
            const void* address = reinterpret_cast<const void*>(pc + 1);
            const SourceLine& line = source_of(address);
            if (line.file.empty() || line.file.find("checker/simt/runtime/") != std::string::npos ||
                line.file.find("sysdeps") != std::string::npos || line.file.find("../") == 0) {
                return 0;
            }
            *static_cast<const void**>(data) = address;
            return 1;
        },
        [](void*, const char*, int) {}, &site);
    return site;
}

void on_fault(int signal, siginfo_t* info, void* data) {
    auto& context = *static_cast<ucontext_t*>(data);
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const Lane* lane = running_lane();
    // If a thread has filled its stack, the access that faults may be one of the runtime's own.
    const bool stack_is_full = lane != nullptr && address - reinterpret_cast<std::uintptr_t>(lane->stack.begin) <
                                                      static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    if (lane != nullptr && (busy_depth == 0 || stack_is_full)) {
        interrupted.in_runtime = busy_depth != 0;
        busy_depth = 0;
        interrupted.refused = info->si_code == SI_KERNEL;
        redirect(context, signal, address);
        return;
    }
    const Memory& memory = Memory::instance();
    if (running_lane() == nullptr && memory.contains(address) && hot.checking) {
        // The process is at its end. What follows is not allowed in handlers in general, but nothing else runs any
        // more.
        const void* site = users_site();
        report(Kind::device_memory, "", site == nullptr ? Location(SourceLine{}) : Location(site), [&] {
            const Allocation* allocation = Memory::instance().find(address);
            return "host code touches the device's memory" +
                   (allocation == nullptr ? std::string() : ": " + place_in(*allocation, address));
        });
        end_with_findings();
    }
    const struct sigaction& previous = previous_fault[signal == SIGSEGV ? 0 : 1];
    if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
        previous.sa_sigaction(signal, info, data);
    } else {
        sigaction(signal, &previous, nullptr);  // and the access faults again
    }
}

// abort(), which often comes from an exception that nobody catches, after an error that the findings explain.
void on_abort(int) {
    sigaction(SIGABRT, &previous_abort, nullptr);  // abort() raises it again
    print_findings_once();
    std::fflush(stderr);
}

// As on_fault, at the end of the process.
void name_sleeping_host_function() {
    const void* site = source_of(alarm_clock.host_function).file.empty() ? users_site() : alarm_clock.host_function;
    report(Kind::spin, "", site == nullptr ? Location(SourceLine{}) : Location(site), [] {
        return fmt::format(
            "a host function of a stream has slept for {:g} seconds: what it waits for cannot be the host's, since on "
            "the CPU device it runs in the host's thread",
            patience());
    });
    end_with_findings();
}

void on_tick(int, siginfo_t*, void* data) {
    if (alarm_clock.host_function != nullptr) {
        if (++alarm_clock.ticks * kTick >= patience()) {
            name_sleeping_host_function();
        }
        return;
    }
    alarm_clock.seconds = processor_time();
    if (const std::uint64_t blocks = Scheduler::instance().blocks_ended(); alarm_clock.blocks != blocks) {
        alarm_clock.blocks = blocks;
        alarm_clock.ended = alarm_clock.seconds;
        alarm_clock.ticks = 0;
    }
    auto& context = *static_cast<ucontext_t*>(data);
    if (running_lane() == nullptr || busy_depth != 0) {
        return;
    }
    const bool in_kernel = is_kernels_code(pc_of(context));
    interrupted.endless = in_kernel && jumps_to_itself(pc_of(context));
    // The scheduler stops a launch whose threads give way. One that does not is interrupted.
    if (interrupted.endless || (is_overdue() && (in_kernel || ++alarm_clock.ticks > kMostWaits))) {
        interrupted.in_runtime = false;
        redirect(context, kClockSignal, 0);
    }
}

char* map_stack() {
    void* memory = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("simt: no memory for a signal's stack");
        std::_Exit(1);
    }
    return static_cast<char*>(memory);
}

// For signals of this thread: its own may be full.
struct SignalStack {
    char* memory = map_stack();
    SignalStack() { set(0); }
    ~SignalStack() {
        set(SS_DISABLE);
        munmap(memory, kSignalStack);
    }
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;
    void set(int flags) const {
        const stack_t stack = {.ss_sp = memory, .ss_flags = flags, .ss_size = kSignalStack};
        sigaltstack(&stack, nullptr);
    }
};

// From now on for the calling thread.
void start_clock() {
    watch_host_faults();
    alarm_clock.ticks = 0;
    const pid_t thread = gettid();
    if (alarm_clock.thread == thread) {
        return;
    }
    if (alarm_clock.made) {
        timer_delete(alarm_clock.timer);
    }
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kClockSignal;
    event._sigev_un._tid = thread;
    alarm_clock.made = timer_create(CLOCK_MONOTONIC, &event, &alarm_clock.timer) == 0;
    alarm_clock.thread = thread;
}

void arm(double seconds) {
    if (!alarm_clock.made) {
        return;
    }
    itimerspec when = {};
    when.it_interval.tv_nsec = static_cast<long>(seconds * 1e9);
    when.it_value = when.it_interval;
    timer_settime(alarm_clock.timer, 0, &when, nullptr);
}

}  // namespace

void watch_host_faults() {
    static thread_local const SignalStack stack;
    static bool watching = false;
    if (watching) {
        return;
    }
    watching = true;
    interrupted.stack = map_stack();
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = on_fault;
    for (int i = 0; i < 2; i++) { sigaction(kFaults[i], &action, &previous_fault[i]); }
    struct sigaction aborting = {};
    sigemptyset(&aborting.sa_mask);
    aborting.sa_handler = on_abort;
    sigaction(SIGABRT, &aborting, &previous_abort);
    action.sa_sigaction = on_tick;
    action.sa_flags |= SA_RESTART;
    sigaction(kClockSignal, &action, nullptr);
}

double processor_seconds() {
    return alarm_clock.seconds;
}

bool is_overdue() {
    return alarm_clock.seconds - alarm_clock.ended >= time_limit();
}

void report_overdue(const void* site) {
    report(Kind::time_limit, "", site, [&] {
        const double before = alarm_clock.ended - alarm_clock.launched;
        return fmt::format(
            "still running after {:.{}f} s at {}, {} accesses so far{}; SIMT_TIME_LIMIT={:g} lets it go on",
            before + time_limit(), before > 0 || time_limit() >= 1 ? 0 : 1, text_of(source_of(site)),
            hot.counts.accesses() - alarm_clock.accesses,
            before > 0 ? fmt::format(", and no block ended in the last {:g} s", time_limit()) : std::string(),
            10 * time_limit());
    });
}

FaultWatch::FaultWatch() {
    start_clock();
    alarm_clock.seconds = alarm_clock.launched = alarm_clock.ended = processor_time();
    alarm_clock.blocks = Scheduler::instance().blocks_ended();
    alarm_clock.accesses = hot.counts.accesses();
    if (!stops_in_a_thread()) {  // somebody who looks at a thread takes their time
        arm(kTick);
    }
}

HostFunctionWatch::HostFunctionWatch(const void* site) {
    alarm_clock.host_function = site;
    start_clock();
    arm(kTick);
}

HostFunctionWatch::~HostFunctionWatch() {
    alarm_clock.host_function = nullptr;
    arm(0);
}

FaultWatch::~FaultWatch() {
    arm(0);
}

}  // namespace simt
