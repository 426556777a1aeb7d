// SPDX-License-Identifier: MIT
#include "checker/worker/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "checker/worker/call_buffers.h"
#include "checker/worker/device_backend.h"
#include "checker/worker/left_threads.h"
#include "checker/worker/messages.h"
#include "checker/worker/time_op.h"

namespace checker {
namespace {

// What the signal handler needs to name an address. A handler takes no argument of ours, hence the one static.
struct FaultMap {
    struct Range {
        std::uintptr_t begin = 0;  // guards included
        std::uintptr_t end = 0;
        std::uintptr_t data = 0;
        std::size_t bytes = 0;
        std::int32_t buffer = -1;
        bool earlier_call = false;
    };
    std::array<Range, 1024> ranges{};
    std::size_t count = 0;
    Range workspace;               // the newest
    std::uintptr_t stack_low = 0;  // the lowest address that the main thread's stack may reach
    pthread_t main_thread{};
    volatile bool returned = false;  // the call has: who faults now was to have ended before
};
FaultMap fault_map;

FaultMap::Range range_of(const GuardedMapping& mapping, std::size_t bytes, std::int32_t buffer) {
    const auto reserved = reinterpret_cast<std::uintptr_t>(mapping.reserved().data());
    return {.begin = reserved,
            .end = reserved + mapping.reserved().size(),
            .data = reinterpret_cast<std::uintptr_t>(mapping.data()),
            .bytes = bytes,
            .buffer = buffer};
}

FaultAccess access_of([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
    constexpr long long kWriteBit = 2;  // of the page fault's error code
    return (context.uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? FaultAccess::write : FaultAccess::read;
#else
    return FaultAccess::unknown;
#endif
}

std::uintptr_t stack_pointer(const ucontext_t& context) {
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return static_cast<std::uintptr_t>(context.uc_mcontext.sp);
#else
    return 0;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context_pointer) {
    const ucontext_t& context = *static_cast<ucontext_t*>(context_pointer);
    Reply reply;
    const bool in_main_thread = pthread_equal(pthread_self(), fault_map.main_thread) != 0;
    reply.answer = fault_map.returned && !in_main_thread ? Answer::threads : Answer::fault;
    reply.threads = 1;
    reply.signal = signal;
    if (signal == SIGSEGV || signal == SIGBUS) {
        const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
        reply.address = address;
        reply.access = access_of(context);
        const auto note_if_in = [&](const FaultMap::Range& range) {
            if (address >= range.begin && address < range.end) {
                reply.buffer = range.buffer;
                reply.earlier_call = range.earlier_call;
                reply.offset = static_cast<std::int64_t>(address) - static_cast<std::int64_t>(range.data);
                reply.buffer_bytes = range.bytes;
            }
        };
        for (std::size_t i = 0; i < fault_map.count; i++) { note_if_in(fault_map.ranges[i]); }
        note_if_in(fault_map.workspace);
        // A frame that does not fit is noticed at its first store below the stack, which may be far below. Only the main
        // thread has another stack for this handler: where a further one overruns its own, the kernel ends the process.
        constexpr std::uintptr_t kPage = 4096;
        const std::uintptr_t sp = stack_pointer(context);
        reply.stack_overflow =
            in_main_thread && reply.buffer < 0 &&
            (sp < fault_map.stack_low + kPage || (address < fault_map.stack_low + kPage && address + kPage >= sp));
    }
    [[maybe_unused]] const ssize_t sent = send(kWorkerSocket, &reply, sizeof reply, MSG_NOSIGNAL);
    _exit(128 + signal);
}

void catch_faults() {
    // A stack of its own, so that a stack overflow can be reported.
    constexpr std::size_t kBytes = std::size_t{256} << 10;
    stack_t stack{};
    stack.ss_sp = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_size = kBytes;
    sigaltstack(&stack, nullptr);

    fault_map.main_thread = pthread_self();
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void* low = nullptr;
        std::size_t bytes = 0;
        pthread_attr_getstack(&attributes, &low, &bytes);
        fault_map.stack_low = reinterpret_cast<std::uintptr_t>(low);
        pthread_attr_destroy(&attributes);
    }
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) { sigaction(signal, &action, nullptr); }
}

// Locals that are read before they are set hold what the stack holds: let that be garbage, another one each run.
[[gnu::noinline]] void poison_stack(Schedule schedule) {
    std::array<std::uint64_t, 8192> garbage;
    garbage.fill(poison(schedule, Element::byte));
    asm volatile("" : : "r"(garbage.data()) : "memory");
}

// The same for memory from malloc. glibc fills fresh chunks with the complement of the byte that M_PERTURB is given, but
// not the small ones that it keeps in its thread cache: those are filled here.
void poison_heap(Schedule schedule) {
    const int byte = schedule == Schedule::end_aligned ? 0x7F : 0x6B;  // floats of 3.4e38 and 2.8e26
    constexpr std::size_t kCachedBytes = 1032;
    constexpr std::size_t kCachedChunks = 7;  // of each size
    mallopt(M_PERTURB, 0);
    std::vector<void*> chunks;
    chunks.reserve(kCachedBytes / 16 * kCachedChunks);
    for (std::size_t bytes = 24; bytes <= kCachedBytes; bytes += 16) {
        for (std::size_t i = 0; i < kCachedChunks; i++) {
            chunks.push_back(std::memset(std::malloc(bytes), byte, bytes));
            asm volatile("" : : "r"(chunks.back()) : "memory");
        }
    }
    for (void* chunk : chunks) { std::free(chunk); }
    mallopt(M_PERTURB, ~byte & 0xFF);
}

void flush_output() {
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr);
}

class Libraries {
  public:
    explicit Libraries(std::filesystem::path dir) : dir_(std::move(dir)) {}
    const Library& at(const std::string& op) {
        const auto found = open_.find(op);
        return found != open_.end() ? found->second : open_.emplace(op, Library(dir_ / (op + ".so"))).first->second;
    }

  private:
    std::filesystem::path dir_;
    std::map<std::string, Library> open_;
};

// Private memory between inaccessible pages, full of poison.
struct ScratchArea {
    ScratchArea(std::size_t bytes, Schedule schedule)
        : slot(slot_of(bytes, Element::byte, schedule, 0)), mapping(-1, slot, false) {
        fill_with_poison(mapping.region(), slot.element, schedule);
    }
    BufferSlot slot;
    GuardedMapping mapping;
};

// The workspaces of a call's Context.
class GuardedWorkspaces final : public Allocator {
  public:
    explicit GuardedWorkspaces(Schedule schedule) : schedule_(schedule) {}
    std::byte* allocate(std::size_t bytes) override {
        // Aligned as promised, and so with at most 255 bytes between the end and what cannot be touched.
        const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
        areas_.emplace_back(rounded, schedule_);
        fault_map.workspace = range_of(areas_.back().mapping, bytes, kWorkspace);
        return areas_.back().mapping.data();
    }
    void release(std::byte* memory) override {
        fault_map.workspace = {};
        areas_.remove_if([&](const ScratchArea& area) { return area.mapping.data() == memory; });
    }

  private:
    Schedule schedule_;
    std::list<ScratchArea> areas_;
};

// What lives as long as a case's calls share buffers.
struct HostCase {
    explicit HostCase(Schedule schedule) : workspaces(schedule) {}
    GuardedWorkspaces workspaces;
    Buffers buffers{&workspaces};
};

// The buffers of one call, mapped and known to the fault handler.
class MappedCall {
  public:
    MappedCall(const CallRun& run, Buffers& buffers) : schedule_(run.schedule), buffers_(buffers) {
        const std::vector<BufferSpec> specs = shared_specs(run.call());
        const std::vector<BufferSlot> slots = run.slots();
        for (std::size_t i = 0; i < specs.size(); i++) {
            mappings_.emplace_back(kWorkerMemory, slots[i], specs[i].role == Role::input);
            add(specs[i].name, specs[i].element, mappings_.back(), slots[i].bytes);
        }
        for (const Scratch& scratch : run.call().scratch) {
            const std::size_t bytes = scratch_bytes(scratch, run.library);
            scratch_.emplace_back(bytes, schedule_);
            add(scratch.name, Element::byte, scratch_.back().mapping, bytes);
        }
        for (const std::string& name : run.call().null) { buffers_.add_null(name); }
    }
    MappedCall(const MappedCall&) = delete;
    MappedCall& operator=(const MappedCall&) = delete;
    ~MappedCall() { forget_in_faults(); }

    // The first scratch area that was overrun.
    std::optional<Reply> overrun_scratch() const {
        for (std::size_t i = 0; i < scratch_.size(); i++) {
            const GuardViolation guard_violation =
                find_guard_violation(scratch_[i].mapping.region(), scratch_[i].slot, schedule_);
            if (guard_violation.found) {
                Reply reply;
                reply.answer = Answer::guard_violation;
                reply.buffer = static_cast<std::int32_t>(mappings_.size() + i);
                reply.offset = guard_violation.offset;
                reply.buffer_bytes = scratch_[i].slot.bytes;
                return reply;
            }
        }
        return std::nullopt;
    }

  private:
    void add(const std::string& name, Element element, const GuardedMapping& mapping, std::size_t bytes) {
        buffers_.add(name, element, mapping.data());
        name_in_faults(mapping, bytes, fault_map.count);
    }

    Schedule schedule_;
    Buffers& buffers_;
    std::vector<GuardedMapping> mappings_;
    std::vector<ScratchArea> scratch_;
};

class HostSide final : public DeviceBackend {
  public:
    std::string name() const override { return "CPU"; }
    bool is_host() const override { return true; }
    bool has_times() const override { return true; }
    std::unique_ptr<Bench> bench() override { return host_bench(); }

    Reply run(const CallRun& run) override {
        if (run.begins()) {
            running_.reset();
            running_ = std::make_unique<HostCase>(run.schedule);
        }
        poison_heap(run.schedule);
        poison_stack(run.schedule);
        const MappedCall mapped(run, running_->buffers);
        poison_stack(run.schedule);
        const ThreadsBefore before;
        run.function()(run.library, running_->buffers);
        fault_map.returned = true;
        const int left = before.running_now();
        fault_map.returned = false;
        if (left > 0) {
            Reply reply;
            reply.answer = Answer::threads;
            reply.threads = left;
            // They would fault where the call's memory goes, or write into the next one's.
            [[maybe_unused]] const ssize_t sent = send(kWorkerSocket, &reply, sizeof reply, MSG_NOSIGNAL);
            _exit(1);
        }
        if (run.ends()) {
            running_.reset();
        }
        return mapped.overrun_scratch().value_or(Reply{});
    }
    void end_case() override { running_.reset(); }

  private:
    std::unique_ptr<HostCase> running_;  // what earlier calls of a sequence have left
};

}  // namespace

void name_in_faults(const GuardedMapping& mapping, std::size_t bytes, std::size_t buffer, bool earlier_call) {
    if (fault_map.count < fault_map.ranges.size()) {
        FaultMap::Range& range = fault_map.ranges[fault_map.count++];
        range = range_of(mapping, bytes, static_cast<std::int32_t>(buffer));
        range.earlier_call = earlier_call;
    }
}

void forget_in_faults() {
    fault_map.count = 0;
}

std::unique_ptr<DeviceBackend> host_side() {
    return std::make_unique<HostSide>();
}

int run_to_focus(const Lesson& lesson, const std::filesystem::path& impl_dir,
                 const std::function<bool(const Op&, const Case&)>& wants) {
    DeviceBackend& device = device_backend();
    Libraries subject(impl_dir);
    MemoryFile memory;
    dup2(memory.fd(), kWorkerMemory);
    for (const Op& op : lesson.ops()) {
        for (const Case& c : op.cases) {
            if (!wants(op, c)) {
                continue;
            }
            for (std::size_t i = 0; i < c.calls.size(); i++) {
                const CallRun run{.of = c, .index = i, .library = subject.at(op.name)};
                initialise(memory, run.call(), run.slots(), run.schedule);
                const Reply reply = device.run(run);
                if (!device.focus_launch_is_over()) {
                    continue;
                }
                device.end_case();
                device.start();  // only now: what ended this process before would have said so itself
                flush_output();
                if (reply.findings[0] != '\0') {
                    for (const Finding& finding : findings_from_json(reply.findings)) {
                        std::cerr << "finding: " << finding.text << '\n';
                        for (const std::string& detail : finding.details) {
                            std::cerr << "  " << detail.substr(0, detail.find('\t')) << ' '
                                      << detail.substr(detail.find('\t') + 1) << '\n';
                        }
                    }
                }
                return 0;
            }
        }
    }
    return 2;  // the runtime says why as the process ends
}

void serve(const Lesson& lesson, const std::filesystem::path& impl_dir, const std::filesystem::path& reference_dir) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    catch_faults();
    // What the code under test forks ends with it, also where it has left the worker's process group.
    pthread_atfork(nullptr, nullptr, [] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
    DeviceBackend& device = device_backend();
    std::string no_device;
    try {
        device.start();
    } catch (const std::exception& error) { no_device = error.what(); }
    Libraries subject(impl_dir);
    Libraries solution(reference_dir);
    // What is kept goes before the libraries that it comes from.
    const std::unique_ptr<DeviceBackend, void (*)(DeviceBackend*)> at_end(
        &device, [](DeviceBackend* side) { side->end_case(); });

    const auto start = [&] {
        Gpu card;
        try {
            card = no_device.empty() ? device.card() : card;
        } catch (const std::exception& error) { no_device = error.what(); }
        Reply reply =
            no_device.empty() ? make_reply(Answer::done, card.name) : make_reply(Answer::no_device, no_device);
        reply.capability = card.capability;
        return reply;
    };
    const auto run = [&](const Request& request, const Op& op, const Library& library) -> Reply {
        if (!op.defined(library)) {
            return make_reply(Answer::not_defined, "");
        }
        if (request.kind == RequestKind::time) {
            const std::unique_ptr<Bench> bench = device.bench();
            return time_op(op.timed.at(request.timed), library, solution.at(op.name),
                           older_implementation(reference_dir, op.name), request, *bench);
        }
        return device.run({op.cases.at(request.case_index), request.call, library, request.schedule,
                           request.kind == RequestKind::count, request.on_one_thread});
    };

    // The code under test may have closed what it had not opened: then no answer arrives.
    const auto end_if_cut_off = [] {
        if (fcntl(kWorkerSocket, F_GETFD) < 0 || fcntl(kWorkerMemory, F_GETFD) < 0) {
            _exit(kCutOffStatus);
        }
    };
    Request request;
    while (recv(kWorkerSocket, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request)) {
        Reply reply;
        if (request.kind == RequestKind::start || !no_device.empty()) {
            reply = start();
        } else {
            const Op& op = lesson.op_at(request.op);
            const Library* library = nullptr;
            const auto of_exception = [&](const std::exception& e) {
                const std::string no_fault = device.environment_hint(e);
                return !no_fault.empty()    ? make_reply(Answer::no_device, no_fault)
                       : library == nullptr ? make_reply(Answer::cannot_load, e.what())
                                            : reply_of(e);
            };
            try {
                library = &subject.at(op.name);
                reply = run(request, op, *library);
            } catch (const OutOfMemory& e) {
                reply = make_reply(Answer::out_of_memory, e.what());
            } catch (const std::exception& e) { reply = of_exception(e); } catch (...) {
                reply = make_reply(Answer::exception, "something that is no std::exception");
            }
            if (library != nullptr && request.kind == RequestKind::time) {
                try {
                    if (const std::optional<Finding> broken = device.broken()) {
                        reply = make_reply(Answer::broken, "");
                        put_findings(reply, {*broken});
                        reply.last = true;
                    }
                } catch (const std::exception& e) { reply = of_exception(e); }
            }
            flush_output();
            end_if_cut_off();
        }
        if (send(kWorkerSocket, &reply, sizeof reply, MSG_NOSIGNAL) < 0 || reply.last) {
            return;
        }
    }
}

}  // namespace checker
