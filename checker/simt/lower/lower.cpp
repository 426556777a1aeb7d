// SPDX-License-Identifier: MIT
#include "checker/simt/lower/lower.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "checker/simt/lower/navigation.h"
#include "checker/simt/lower/ptx.h"

namespace simt {
namespace {

struct Edit {
    std::size_t begin;  // replaces [begin, end) of the source; if they are equal, it is an insertion
    std::size_t end;
    std::string text;
};

// Of the runtime's own interface, what the device lacks.
const std::array kRefusedAlways = {
    Refused{"cudaTexture", "textures"},
    Refused{"cudaResourceDesc", "textures"},
    Refused{"cudaResourceType", "textures"},
    Refused{"cudaResourceView", "textures"},
    Refused{"cudaMipmappedArray", "textures"},
    Refused{"cudaChannelFormat", "textures"},
    Refused{"cudaArray", "textures"},
    Refused{"cudaSurface", "surfaces"},
    Refused{"tex1D", "textures"},
    Refused{"tex1Dfetch", "textures"},
    Refused{"tex2D", "textures"},
    Refused{"tex3D", "textures"},
    Refused{"texCubemap", "textures"},
    Refused{"surf1D", "surfaces"},
    Refused{"surf2D", "surfaces"},
    Refused{"surf3D", "surfaces"},
    Refused{"cudaIpc", "memory of other processes (IPC)"},
    Refused{"cudaMemFabricHandle", "memory of other processes (IPC)"},
    Refused{"cudaMemPoolPtrExportData", "memory of other processes (IPC)"},
    Refused{"cudaExternalMemory", "external memory"},
    Refused{"cudaGraphicsCubeFace", "graphics"},
    Refused{"cudaGraphicsMapFlags", "graphics"},
    Refused{"cudaGraphicsRegisterFlags", "graphics"},
    Refused{"cudaGraphicsResource", "graphics"},
    Refused{"cudaLibrary_t", "kernels that are loaded at run time"},
    Refused{"cudaLibraryOption", "kernels that are loaded at run time"},
    Refused{"cudaKernel_t", "kernels that are loaded at run time"},
    Refused{"cudaFunction_t", "kernels that are loaded at run time"},
    Refused{"cudaJit", "kernels that are loaded at run time"},
    Refused{"cudaMemcpyAttributes", "copies in batches"},
    Refused{"cudaMemcpyFlags", "copies in batches"},
    Refused{"cudaMemcpySrcAccessOrder", "copies in batches"},
    Refused{"cudaMemcpy3DBatch", "copies in batches"},
    Refused{"cudaMemcpy3DOperand", "copies in batches"},
    Refused{"cudaOffset3D", "copies in batches"},
    Refused{"cudaMemcpy3DPeer", "copies between devices"},
    Refused{"cudaClusterSchedulingPolicy", "clusters"},
    Refused{"cudaDriverEntryPoint", "driver API"},
    Refused{"cudaGetDriverEntryPointFlags", "driver API"},
    Refused{"cudaChildGraphNodeParams", "child graphs"},
    Refused{"cudaGraphAddChildGraphNode", "child graphs"},
    Refused{"cudaGraphChildGraphNode", "child graphs"},
    Refused{"cudaGraphExecChildGraphNode", "child graphs"},
    Refused{"cudaConditionalNodeParams", "conditional nodes of graphs"},
    Refused{"cudaGraphCond", "conditional nodes of graphs"},
    Refused{"cudaGraphConditional", "conditional nodes of graphs"},
    Refused{"cudaGraphSetConditional", "conditional nodes of graphs"},
    Refused{"cudaMemAllocNodeParams", "memory nodes of graphs"},
    Refused{"cudaMemFreeNodeParams", "memory nodes of graphs"},
    Refused{"cudaGraphAddMem", "memory nodes of graphs"},
    Refused{"cudaGraphMem", "memory nodes of graphs"},
    Refused{"cudaEventRecordNodeParams", "event nodes of graphs"},
    Refused{"cudaEventWaitNodeParams", "event nodes of graphs"},
    Refused{"cudaGraphAddEvent", "event nodes of graphs"},
    Refused{"cudaGraphEvent", "event nodes of graphs"},
    Refused{"cudaGraphExecEvent", "event nodes of graphs"},
    Refused{"cudaExternalSemaphore", "external semaphores"},
    Refused{"cudaGraphAddExternalSemaphores", "external semaphores"},
    Refused{"cudaUserObject", "user objects of graphs"},
    Refused{"cudaGetCurrentGraphExec", "launches of graphs from kernels"},
    Refused{"cudaStreamGraph", "launches of graphs from kernels"},
    Refused{"cudaGraphDeviceNode", "updates of graphs from kernels"},
    Refused{"cudaGraphKernelNodeField", "updates of graphs from kernels"},
    Refused{"cudaGraphKernelNodeUpdate", "updates of graphs from kernels"},
    Refused{"cudaGreenCtx", "green contexts"},
    Refused{"cuGreenCtx", "green contexts"},
    Refused{"cudaAsyncCallback", "such type of the runtime"},
    Refused{"cudaAsyncNotification", "such type of the runtime"},
    Refused{"cudaAtomicOperation", "such type of the runtime"},
    Refused{"cudaCGScope", "such type of the runtime"},
    Refused{"cudaDeviceNumaConfig", "such type of the runtime"},
    Refused{"cudaFlushGPUDirectRDMAWrites", "such type of the runtime"},
    Refused{"cudaGPUDirectRDMAWritesOrdering", "such type of the runtime"},
    Refused{"cudaLaunchMemSyncDomain", "such type of the runtime"},
    Refused{"cudaLogIterator", "such type of the runtime"},
    Refused{"cudaLogLevel", "such type of the runtime"},
    Refused{"cudaLogsCallback", "such type of the runtime"},
    Refused{"cudaMemRangeAttribute", "such type of the runtime"},
    Refused{"cudaRoundMode", "such type of the runtime"},
    Refused{"cudaSharedCarveout", "such type of the runtime"},
    Refused{"cudaSharedMemConfig", "such type of the runtime"},
    Refused{"cudaStreamUpdateCaptureDependenciesFlags", "such type of the runtime"},
    Refused{"cudaUUID_t", "such type of the runtime"},
};

// Refuses the first use of a library that the device lacks; a macro that nobody uses is none.
void refuse(const Source& source, const TokenRun& run) {
    if (run.is_macro) {
        return;
    }
    const auto text = [&](std::size_t i) {
        return i < run.tokens.size() ? source.spelling(run.tokens[i]) : std::string_view();
    };
    const auto is_use = [&](std::size_t i, const Refused& refused) {
        const std::string_view word = text(i), begin = refused.begin;
        if (begin.ends_with("::")) {
            return word == begin.substr(0, begin.size() - 2) && (text(i + 1) == "::" || text(i - 1) == "namespace");
        }
        if (!word.starts_with(begin)) {
            return false;
        }
        if (refused.whole) {
            const std::string_view rest = word.substr(begin.size());
            return rest.empty() || rest == "_v2" || rest == "_64" || rest == "_v2_64";
        }
        if (word.size() > begin.size() && word[begin.size()] >= 'a' && word[begin.size()] <= 'z') {
            return false;
        }
        // A function that reads or writes textures; a variable may have such a name.
        const bool accessor = begin.starts_with("tex") || begin.starts_with("surf");
        return !accessor || ((text(i + 1) == "(" || text(i + 1) == "<") && text(i - 1) != "." && text(i - 1) != "->");
    };
    for (std::size_t i = 0; i < run.tokens.size(); i++) {
        if (run.tokens[i].kind != TokenKind::identifier) {
            continue;
        }
        const auto refuse_from = [&](const auto& list) {
            for (const Refused& refused : list) {
                if (is_use(i, refused)) {
                    throw source.error(run.tokens[i].begin,
                                       fmt::format("{} is not on the CPU device: it has no {}", text(i), refused.what));
                }
            }
        };
        refuse_from(kRefusedAlways);
        refuse_from(source.refused());
    }
}

class Lowering : private Navigation {
  public:
    Lowering(const Source& source, const TokenRun& run, Purpose purpose, Linkage linkage, std::vector<Edit>& edits)
        : Navigation(source, run), is_macro_(run.is_macro), purpose_(purpose), linkage_(linkage), edits_(edits) {}

    // Adds the names of this run's functions, or its macro, that use one of these names. Returns whether there were any.
    bool add_users(Names& names) const {
        const std::size_t before = names.size();
        if (is_macro_ && mentions(1, tokens_.size(), names)) {
            names.insert(text(0));
        }
        for (std::size_t i = 0; i < tokens_.size() && !is_macro_; i++) {
            if (const std::size_t name = is(i, "{") ? function_name(i) : i;
                name != i && !names.contains(text(name)) && mentions(i, match_if_any(i), names)) {
                names.insert(text(name));
            }
        }
        return names.size() > before;
    }

    void run(const Names& barriers) {
        const bool guards = purpose_ == Purpose::checks && !is_macro_ && mentions(0, tokens_.size(), barriers);
        for (std::size_t i = 0; i < tokens_.size(); i++) {
            const std::string_view word = text(i);
            if (word == "<") {
                if ((angles(i, "<") || parted_angles(i, "<")) && !is(i - 1, "operator") && i > 0) {
                    launch(i);
                    i += 2;
                } else if (is_shift(i, "<")) {
                    shift(i, "Left");
                    i += 1;
                }
            } else if (word == ">") {
                if (is_shift(i, ">") && !closes_templates(i)) {
                    shift(i, "Right");
                    i += 1;
                }
            } else if (word == "{" && guards) {
                helper(i, barriers);
            } else if (tokens_[i].kind != TokenKind::identifier) {
                continue;
            } else if (guards &&
                       (word == "if" || word == "switch" || word == "for" || word == "while" || word == "do")) {
                statement(i, barriers);
            } else if (word == "__global__") {
                kernel(i);
            } else if (word == "__shared__") {
                shared(i);
            } else if (word == "static" && !is_macro_ && i < std::max(kernel_end_, device_function_end_)) {
                static_variable(i);
            } else if (word == "__device__" || word == "__constant__" || word == "__managed__") {
                device_variable(i);
            } else if (word == "__noinline__" && !is(i - 1, "(")) {
                // libstdc++ writes __attribute__((__noinline__)): the word cannot be a macro.
                replace(i, "SIMT_NOINLINE");
            } else if (word == "asm" || word == "__asm__" || word == "__asm") {
                for (const PtxEdit& edit : lower_ptx(source_, tokens_, i)) {
                    edits_.push_back({edit.begin, edit.end, edit.text});
                }
            }
        }
    }

  private:
    void insert(std::size_t offset, std::string what) { edits_.push_back({offset, offset, std::move(what)}); }
    void replace(std::size_t i, std::string what) {
        edits_.push_back({tokens_[i].begin, tokens_[i].end, std::move(what)});
    }

    // The first token of the expression that ends before the <<< at i: a name with its qualifiers and template
    // arguments, a parenthesised expression, a member.
    std::size_t callee(std::size_t i) const {
        std::size_t j = i - 1;
        while (j > 0) {
            if (is(j, ">")) {
                j = match_angle_back(j) - 1;
            } else if (closes(text(j))) {
                j = match_back(j);
                if (is_control(j - 1) || (closes(text(j - 1)) && is_control(match_back(j - 1) - 1))) {
                    return j;  // if (…) (kernel)<<<…>>>
                }
                if (is_name(j - 1) || closes(text(j - 1)) || is(j - 1, ">")) {  // a call or an element
                    j--;
                    continue;
                }
            }
            const std::string_view before = text(j - 1);
            if (before == "template") {
                j--;
            } else if (before == "::" && !is_name(j - 2) && !is(j - 2, ">")) {
                return j - 1;  // ::name
            } else if (before == "::" || before == "." || before == "->") {
                j -= 2;
            } else {
                return j;
            }
        }
        return j;
    }

    // Returns true if a shift of device code begins with the < or > at i, by an amount that is not written as a number: the
    // compiler warns of those.
    bool is_shift(std::size_t i, std::string_view angle) const {
        if (is_macro_ || i >= std::max(kernel_end_, device_code_end_) || !is(i + 1, angle) || is(i + 2, angle) ||
            tokens_[i].end != tokens_[i + 1].begin || is(i - 1, angle) || is(i - 1, "operator")) {
            return false;
        }
        const bool assigns = is(i + 2, "=") && tokens_[i + 2].begin == tokens_[i + 1].end;
        const std::size_t amount = assigns ? i + 3 : i + 2;
        if (assigns && is_bit_field(text(i - 1))) {
            return false;
        }
        const bool operand = is_name(i - 1) || tokens_[i - 1].kind == TokenKind::number || closes(text(i - 1));
        static const Names kBindTighter = {"+", "-", "*", "/", "%"};
        const bool computed = tokens_[amount].kind == TokenKind::number &&
                              (kBindTighter.contains(text(amount + 1)) || (assigns && !is(amount + 1, ";")));
        const bool behind = computed || is_name(amount) || is(amount, "(") || is(amount, "-") || is(amount, "~") ||
                            is(amount, "+") || is(amount, "*");
        return operand && behind;
    }

    // Returns true if a bit-field may have the name: no reference binds to it. A conditional `? name : 3;` looks the same.
    bool is_bit_field(std::string_view name) const {
        for (std::size_t j = 0; j + 3 < tokens_.size(); j++) {
            if (is(j, name) && is(j + 1, ":") && (is(j + 3, ";") || is(j + 3, ","))) {
                return true;
            }
        }
        return false;
    }

    // Returns true if the >> at i may close the arguments of two templates: a < in its statement has one of them for its end.
    bool closes_templates(std::size_t i) const {
        for (std::size_t j = i; j-- > 0;) {
            if (closes(text(j)) && !is(j, "}")) {
                j = match_back(j);
            } else if (is(j, ";") || is(j, "{") || is(j, "}") || opens(text(j))) {
                return false;
            } else if (is(j, "<") && is_name(j - 1)) {
                const std::size_t close = match_angle_if_any(j);
                if (close == i || close == i + 1) {
                    return true;
                }
            }
        }
        return false;
    }

    void shift(std::size_t i, const char* direction) {
        const bool assigns = is(i + 2, "=") && tokens_[i + 2].begin == tokens_[i + 1].end;
        insert(tokens_[i + (assigns ? 2 : 1)].end,
               assigns ? std::string(" ::simt::Amount() = ")
                       : fmt::format(" ::simt::{}() {} ", direction, is(i, "<") ? "<<" : ">>"));
    }

    void launch(std::size_t open) {
        if (open < std::max(kernel_end_, device_function_end_)) {
            throw source_.error(tokens_[open].begin,
                                "a launch from a kernel (dynamic parallelism) is not on the CPU device");
        }
        std::size_t close = open + 3;
        const bool parted = !angles(open, "<");
        const auto ends = [&](std::size_t at) { return angles(at, ">") || (parted && parted_angles(at, ">")); };
        while (close < tokens_.size() && !(ends(close) && is(close + 3, "("))) {
            close = opens(text(close)) ? match(close) + 1 : close + 1;
            if (is(close, ";") || closes(text(close))) {
                break;
            }
        }
        if (!ends(close)) {
            throw source_.error(tokens_[open].begin, "a launch '<<<' without its '>>>('");
        }
        const std::size_t begin = callee(open);
        // kernel<<<cfg>>>(args) becomes (::simt::configure(cfg),kernel(args)): the name moves to a place after its
        // configuration, and its line ends stay.
        std::string name;
        for (std::size_t j = begin; j < open; j++) {
            const bool apart = j == begin || tokens_[j - 1].end != tokens_[j].begin;
            name += (apart ? " " : "") + std::string(text(j));
        }
        const auto first = source_.text().begin() + static_cast<std::ptrdiff_t>(tokens_[begin].begin);
        const auto last = source_.text().begin() + static_cast<std::ptrdiff_t>(tokens_[open].begin);
        const std::string lines(static_cast<std::size_t>(std::count(first, last, '\n')), '\n');
        edits_.push_back({tokens_[begin].begin, tokens_[open + 2].end, "(::simt::configure(" + lines});
        edits_.push_back({tokens_[close].begin, tokens_[close + 2].end, ")," + name});
        insert(tokens_[match(close + 3)].end, ", ::simt::launched())");
    }

    // The names of the parameters between the brackets open and close. One that has none gets one: an array of
    // arguments counts it too.
    std::vector<std::string> parameter_names(std::size_t open, std::size_t close) {
        std::vector<std::string> names;
        std::size_t begin = open + 1;
        int angle = 0;
        for (std::size_t j = open + 1; j <= close; j++) {
            if (j < close && opens(text(j))) {
                j = match(j);
                continue;
            }
            angle += is(j, "<") ? 1 : is(j, ">") ? -1 : 0;
            if (j == close || (is(j, ",") && angle == 0)) {
                if (const std::optional<std::string> name = parameter_name(begin, j)) {
                    names.push_back(*name);
                } else if (begin < j && !(j == begin + 1 && is(begin, "void"))) {
                    std::size_t type_end = begin;
                    while (type_end < j && !is(type_end, "=") && !is(type_end, "[")) {
                        type_end = is(type_end, "<") ? match_angle(type_end) + 1 : type_end + 1;
                    }
                    names.push_back(fmt::format("simt_unnamed_{}", names.size()));
                    insert(tokens_[type_end - 1].end, ' ' + names.back());
                }
                begin = j + 1;
            }
        }
        return names;
    }

    // The name that the declaration in [begin, end) gives, with "..." if it is a pack; nothing if it gives none.
    std::optional<std::string> parameter_name(std::size_t begin, std::size_t end) const {
        std::optional<std::string> name;
        bool pack = false;
        int words = 0;
        for (std::size_t j = begin; j < end && !is(j, "="); j++) {
            pack = pack || (is(j, ".") && is(j + 1, "."));
            if (is(j, "(") && is(j + 1, "*") && is_name(j + 2)) {  // void (*function)(int)
                return std::string(text(j + 2));
            }
            if (is(j, "<")) {
                j = match_angle(j);
            } else if (is(j, "[") || is(j, "(")) {
                j = match(j);
            } else if (tokens_[j].kind == TokenKind::identifier) {
                const bool qualified = is(j + 1, "::");
                name = qualified ? name : std::optional(std::string(text(j)));
                words++;
            }
        }
        static constexpr std::array kTypeWords = {"int",   "float", "double", "unsigned", "signed",
                                                  "long",  "short", "char",   "bool",     "void",
                                                  "const", "auto",  "size_t", "volatile", "__restrict__"};
        if (!name || words == 1 || std::find(kTypeWords.begin(), kTypeWords.end(), *name) != kTypeWords.end()) {
            return std::nullopt;
        }
        // The name is the declarator's last word, and stands behind a whole type.
        std::size_t last = begin;
        while (last + 1 < end && !is(last + 1, "=") && !is(last + 1, "[")) {
            last = is(last + 1, "<") ? match_angle(last + 1) : last + 1;
        }
        static constexpr std::array kBeforeATypesName = {"const", "volatile", "struct", "class", "typename", "enum"};
        bool whole = false;
        for (std::size_t j = begin; j < last; j++) {
            whole = whole ||
                    std::find(kBeforeATypesName.begin(), kBeforeATypesName.end(), text(j)) == kBeforeATypesName.end();
        }
        if (!is(last, *name) || is(last - 1, "::") || !whole) {
            return std::nullopt;
        }
        return pack ? *name + "..." : *name;
    }

    // Reads the words between __global__ and the brackets at the end, and returns the first token that is none of them.
    // `bounds` becomes what __launch_bounds__ holds.
    std::size_t skip_attributes(std::size_t i, std::string& bounds) const {
        while (takes_brackets(text(i)) && is(i + 1, "(")) {
            const std::size_t end = match(i + 1);
            if (is(i, "__cluster_dims__")) {
                throw source_.error(tokens_[i].begin, "__cluster_dims__ is not on the CPU device yet");
            }
            if (is(i, "__launch_bounds__")) {
                bounds = source_.text().substr(tokens_[i + 1].end, tokens_[end].begin - tokens_[i + 1].end);
            }
            i = end + 1;
        }
        return i;
    }

    // The brackets with the parameters of the kernel whose __global__ is token i; one beyond the end where none are.
    std::size_t kernel_parameters(std::size_t i, std::string& bounds) const {
        std::size_t open = i + 1;
        while (open < tokens_.size() && !is(open, "(") && !is(open, ";") && !is(open, "{")) {
            const std::size_t next = skip_attributes(open, bounds);
            open = next != open    ? next
                   : is(open, "<") ? match_angle(open) + 1
                   : is(open, "[") ? match(open) + 1
                                   : open + 1;
        }
        if (is(open, "(") && is(match(open) + 1, "(")) {
            open = match(open) + 1;  // void (name)(parameters)
        }
        return is(open, "(") ? open : tokens_.size();
    }

    // The { of the kernel's body, whose parameters end at `close`; `close` where it is only declared.
    std::size_t kernel_body(std::size_t close, std::string& bounds) const {
        std::size_t i = close + 1;
        while (i < tokens_.size() && !is(i, "{")) {
            const std::size_t next = skip_attributes(i, bounds);
            if (next != i) {
                i = next;
            } else if (is(i, ";") || is(i, "=") || is(i, ",")) {
                return close;
            } else {
                // noexcept, [[…]], a type behind ->, what `requires` asks for
                i = is(i, "<") ? match_angle(i) + 1 : opens(text(i)) ? match(i) + 1 : i + 1;
            }
        }
        return i < tokens_.size() ? i : close;
    }

    void kernel(std::size_t i) {
        std::string bounds;
        const std::size_t open = kernel_parameters(i, bounds);
        if (open == tokens_.size()) {
            if (!is_macro_) {
                throw source_.error(tokens_[i].begin, "__global__ without a kernel's name and (parameters) behind it");
            }
            return;
        }
        const std::size_t close = match(open);
        const std::size_t body = kernel_body(close, bounds);
        if (body == close) {
            return;
        }
        std::string names, parameters;
        for (const std::string& name : parameter_names(open, close)) {
            const std::string plain = name.substr(0, name.find('.'));
            names += ", " + name;
            parameters += fmt::format("{}decltype({}){} {} __attribute__((unused))", parameters.empty() ? "" : ", ",
                                      plain, name.substr(plain.size()), plain);
        }
        std::replace(bounds.begin(), bounds.end(), '\n', ' ');
        kernel_end_ = match(body);
        const bool debugged = purpose_ == Purpose::debugger;
        const std::string_view name = !debugged           ? "simt_body"
                                      : is(open - 1, ">") ? text(match_angle_back(open - 1) - 1)
                                      : is(open - 1, ")") ? text(open - 2)
                                                          : text(open - 1);
        insert(tokens_[body].end, fmt::format(" struct simt_thread {{ SIMT_KERNEL_BODY {}({}) {{{}", name, parameters,
                                              debugged ? " ::simt::thread_begins();" : ""));
        insert(tokens_[match(body)].begin,
               fmt::format("}} }}; ::simt::enter(__PRETTY_FUNCTION__, ::simt::LaunchBounds{{{}}}, simt_thread::{}{});",
                           bounds, name, names));
    }

    // ---- statements and functions with a barrier in them, of which the runtime knows who is within --------------------

    // The last token of the statement that begins at i, without the `while (…);` of a do.
    std::size_t end_of_statement(std::size_t i) const {
        while (i < tokens_.size() && !is(i, ";") && !is(i, "{")) { i = opens(text(i)) ? match_if_any(i) + 1 : i + 1; }
        i = is(i, "{") ? match_if_any(i) : i;
        return is(i + 1, "else") ? end_of_statement(i + 2) : i;
    }

    void statement(std::size_t i, const Names& barriers) {
        const std::size_t end = ends_of_do_.contains(i) ? i : end_of_statement(i + 1);
        if (is(i, "do")) {
            ends_of_do_.insert(end + 1);
        }
        if (!mentions(i, end, barriers)) {
            return;
        }
        const std::size_t number = tokens_[i].begin;
        if (!is(i, "if") && !is(i, "switch")) {
            insert(number, fmt::format("SIMT_WITHIN_LOOP({}) ", number));
            return;
        }
        const std::size_t open = is(i + 1, "constexpr") ? i + 2 : i + 1;
        if (is(open, "(") && !statement_has(open, match(open), ";")) {  // otherwise it has an initializer of its own
            insert(tokens_[open].end, fmt::format("SIMT_WITHIN({}); ", number));
        }
    }

    // A function that threads may leave before its barriers. A kernel is none: nothing follows.
    void helper(std::size_t i, const Names& barriers) {
        const std::size_t end = match_if_any(i);
        std::size_t left = i;
        while (left < end && !is(left, "return")) { left++; }
        if (statement_end(left) + 1 < end && mentions(i, end, barriers) && function_name(i) != i && i > kernel_end_) {
            insert(tokens_[i].end, fmt::format(" SIMT_WITHIN({});", tokens_[i].begin));
        }
    }

    void shared(std::size_t i) {
        const std::size_t begin = statement_begin(i);
        const std::size_t end = statement_end(i);
        if (statement_has(begin, end, "extern")) {
            dynamic_shared(begin, end);
            return;
        }
        if (has_initializer(begin, end)) {
            throw source_.error(tokens_[begin].begin,
                                "a __shared__ variable takes no initializer: threads store to it");
        }
        for (std::size_t j = begin; j < end && !is(j, "=") && !is(j, "{"); j++) {
            if (is(j, "static")) {
                replace(j, "");
            }
        }
        const std::string alignment = taken_alignment(begin, end);
        // There is no guard in a macro: if the macro is used twice on one line, the guard's name would be defined
        // twice.
        const bool guarded = !is_macro_ && purpose_ == Purpose::checks;
        insert(tokens_[begin].begin,
               (guarded ? fmt::format("SIMT_SHARED_GUARD({}) ", tokens_[begin].begin) : "") + alignment);
        if (guarded) {
            std::size_t number = tokens_[begin].begin;
            const bool aligned = statement_has(begin, end, "__align__") || statement_has(begin, end, "alignas") ||
                                 statement_has(begin, end, "aligned");
            for (const std::string_view name : declared_names(begin, end)) {
                insert(tokens_[end].end, fmt::format(" SIMT_NOTE_TYPE({}, {}, {})", name, number, aligned));
                if (begin > kernel_end_ && is_in_a_function(begin)) {
                    insert(tokens_[end].end, fmt::format(" SIMT_NOTE_SHARED_USE({}, {})", name, number));
                }
                number++;
            }
        }
    }

    // A static variable of device code is one of the device, as if it stood outside: its scope tells the runtime so.
    // __constinit: nvcc takes no other initial value.
    void static_variable(std::size_t i) {
        const std::size_t begin = statement_begin(i), end = statement_end(i);
        for (const char* word : {"const", "constexpr", "__shared__", "__device__", "__constant__", "__managed__"}) {
            if (statement_has(begin, end, word)) {
                return;
            }
        }
        const std::optional<std::size_t> declarator = variable_end(begin);
        if (!declarator || begin != i) {
            return;
        }
        for (std::size_t j = begin; j < end; j++) {
            if (is(j, ",")) {
                throw source_.error(tokens_[i].begin, "the CPU device takes one static variable a declaration");
            }
            j = opens(text(j)) ? match(j) : is(j, "<") && j < *declarator ? match_angle(j) : j;
        }
        const std::string_view name = text(*declarator - 1);
        const std::string scope = fmt::format("simt_device_variable_{}", tokens_[i].begin);
        replace(i, fmt::format("struct {} {{ static auto& all() {{ static __constinit", scope));
        insert(tokens_[end].end, fmt::format(" return {0}; }} }}; auto& {0} = {1}::all();", name, scope));
    }

    // Takes alignas(…) out of a declaration: it goes first, because g++ takes it only there.
    std::string taken_alignment(std::size_t begin, std::size_t end) {
        std::string alignment;
        for (std::size_t j = begin + 1; j < end && !is(j, "=") && !is(j, "{"); j++) {
            if (is(j, "alignas")) {
                const std::size_t close = match(j + 1);
                const std::size_t from = tokens_[j].begin, to = tokens_[close].end;
                alignment += source_.text().substr(from, to - from) + ' ';
                edits_.push_back({from, to, ""});
                j = close;
            }
        }
        return alignment;
    }

    // Whether a variable of the declaration in [begin, end) has an initializer: `= 0`, or braces that do not belong to
    // a type.
    bool has_initializer(std::size_t begin, std::size_t end) const {
        for (std::size_t j = begin; j < end; j++) {
            if (is(j, "=")) {
                return true;
            }
            if (is(j, "<")) {
                j = match_angle(j);
            } else if (is(j, "(") || is(j, "[")) {
                j = match(j);
            } else if (is(j, "{")) {
                j = match(j);
                if (j + 1 == end || is(j + 1, ",")) {
                    return true;
                }
            }
        }
        return false;
    }

    // The names of the variables that are declared in [begin, end); none if the declaration does not end.
    std::vector<std::string_view> declared_names(std::size_t begin, std::size_t end) const {
        std::vector<std::string_view> names;
        std::string_view name;
        for (std::size_t j = begin; j <= end && end < tokens_.size(); j++) {
            if (is(j, "<")) {
                j = match_angle(j);
            } else if (opens(text(j))) {
                j = match(j);
            } else if (tokens_[j].kind == TokenKind::identifier) {
                name = text(j);
            } else if ((is(j, ",") || j == end) && !name.empty()) {
                names.push_back(std::exchange(name, {}));
            }
        }
        return names;
    }

    // extern __shared__ __align__(16) volatile float tile[][32];
    // The declaration of an array of that type lets the compiler refuse another type for the name, as nvcc does.
    void dynamic_shared(std::size_t begin, std::size_t end) {
        std::string type;
        std::size_t bracket = begin;
        std::size_t name = end;
        for (std::size_t j = begin; j < end; j++) {
            if (is(j, "[")) {
                bracket = j;
                break;
            }
            if (is(j, "extern") || is(j, "__shared__")) {
                continue;
            }
            if (takes_brackets(text(j)) && is(j + 1, "(") && !is(j, "decltype")) {
                j = match(j + 1);
                continue;
            }
            if (name != end) {
                type += std::string(text(name)) + ' ';
            }
            name = j;
        }
        if (bracket == begin || name == end || !is(bracket + 1, "]") || is(bracket + 1, ",")) {
            throw source_.error(tokens_[begin].begin, "extern __shared__ is read as: extern __shared__ T name[];");
        }
        const std::size_t rest = tokens_[bracket + 1].end;
        const std::string inner = source_.text().substr(rest, tokens_[end].begin - rest);  // [32] of name[][32]
        const bool rows = inner.find('[') != std::string::npos;
        const std::string target = type + (rows ? "(*)" + inner : "*");
        edits_.push_back(
            {tokens_[begin].begin, tokens_[end].begin,
             fmt::format("[[maybe_unused]] extern {0}{5}{1}[]{2}; "
                         "[[maybe_unused]] {0}{3} = reinterpret_cast<{4}>(simt_dynamic_shared)",
                         type, text(name), inner,
                         rows ? fmt::format("(*const {}){}", text(name), inner) : fmt::format("*const {}", text(name)),
                         target, kExternShared)});
    }

    // If the declaration from `begin` on declares a variable that is not a constant, the token that ends its
    // declarator. Constants are read-only data, which kernels may read wherever it lies.
    std::optional<std::size_t> variable_end(std::size_t begin) const {
        bool constant = false;
        for (std::size_t j = begin; j < tokens_.size(); j++) {
            const std::string_view word = text(j);
            if (word == "=" || word == ";" || word == "[" || word == "{") {
                return constant ? std::nullopt : std::optional(j);
            }
            if (takes_brackets(word) && is(j + 1, "(")) {
                j = match(j + 1);
            } else if (word == "<") {
                j = match_angle(j);
            } else if (word == "(" || word == ")" || word == "operator" || word == "__global__" ||
                       word == "__shared__" || word == "using") {
                return std::nullopt;
            }
            constant = word == "const" || word == "constexpr" || (constant && word != "*");
        }
        return std::nullopt;
    }

    // A function of the device that other files cannot see: it is neither a member, nor a template, nor the host's too,
    // nor inline, so that its name is used once in its file.
    bool is_private_function(std::size_t begin, std::size_t i) const {
        std::size_t open = begin;
        for (; open < tokens_.size() && !is(open, "("); open++) {
            if (takes_brackets(text(open)) && is(open + 1, "(")) {
                open = match(open + 1);
            } else if (is(open, "<")) {
                open = match_angle(open);
            } else if (is(open, ";") || is(open, "{") || is(open, "}") || is(open, "=") || is(open, "[") ||
                       is(open, "operator")) {
                return false;
            }
        }
        for (const char* word : {"__host__", "__global__", "__forceinline__", "__inline__", "inline", "static",
                                 "template", "constexpr", "friend", "operator", "virtual", "typedef", "using"}) {
            if (statement_has(begin, open, word)) {
                return false;
            }
        }
        for (std::size_t j = begin; j < open; j++) {
            if (is(j, "extern") && tokens_[j + 1].kind == TokenKind::text) {  // extern "C"
                return false;
            }
        }
        const bool first = !statement_has(begin, i, "__device__");
        return first && open > i + 1 && is_name(open - 1) && !is(open - 2, "::") && open > begin + 1 &&
               !is_in_a_function(begin);
    }

    // In whole-program compilation each file has device variables and functions of its own, as under nvcc. The first of
    // CUDA's words before a variable is replaced by a section and a guard band; before a function it stays.
    void device_variable(std::size_t i) {
        const std::size_t begin = statement_begin(i);
        const std::optional<std::size_t> end = is(i - 1, "]") ? std::nullopt : variable_end(begin);
        if (!end) {
            device_function(begin, i);
        }
        if (!end && linkage_ == Linkage::file && !is_macro_ && is(i, "__device__") && !is(i - 1, "]") &&
            is_private_function(begin, i)) {
            // An extern declaration is of this file's own function too: nvcc looks in no other file.
            for (std::size_t j = begin; !is(j, "("); j++) {
                if (is(j, "extern")) {
                    replace(j, "");
                }
            }
            replace(i, "static __attribute__((unused))");
            return;
        }
        if (!end || statement_has(begin, i, "__device__") || statement_has(begin, i, "__constant__") ||
            statement_has(begin, i, "__managed__")) {
            return;
        }
        const char* kind = statement_has(begin, *end, "__constant__")  ? "CONSTANT"
                           : statement_has(begin, *end, "__managed__") ? "MANAGED"
                                                                       : "DEVICE";
        if (statement_has(begin, *end, "inline") || statement_has(begin, *end, "template")) {
            // The compiler merges the variables of several files and places them as it likes: their scope tells what
            // they are.
            const std::size_t semicolon = statement_end(*end);
            insert(tokens_[begin].begin, fmt::format("SIMT_{}_SCOPE {{ ", kind));
            if (semicolon < tokens_.size()) {
                insert(tokens_[semicolon].end, " }");
            }
            return;
        }
        const bool is_extern = statement_has(begin, *end, "extern");
        const std::string_view name = text(*end - 1);
        if (is_extern) {
            declared_elsewhere_.insert(std::string(name));
        }
        const bool own = linkage_ == Linkage::file && !is_macro_ && !is_extern &&
                         !statement_has(begin, *end, "static") && !is(*end - 2, "::") &&
                         !declared_elsewhere_.contains(std::string(name)) && !is_in_a_function(begin);
        replace(i, fmt::format("{}SIMT_{}_VARIABLE", own ? "static __attribute__((used)) " : "", kind));
        if (!is_macro_ && !is_extern) {
            const std::size_t number = tokens_[begin].begin, last = statement_end(*end);
            insert(number, fmt::format("SIMT_{}_GUARD({}) ", kind, number));
            if (purpose_ == Purpose::checks && !is(*end, "{") && !is(*end - 2, "::") && last < tokens_.size()) {
                insert(tokens_[last].end, fmt::format(" SIMT_NOTE_TYPE({}, {}, false)", name, number));
            }
        }
        if (own) {
            insert(tokens_[begin].begin, taken_alignment(begin, *end));
        }
    }

    // Where the body of a function ends that only kernels call; the declaration starts at `begin`.
    void device_function(std::size_t begin, std::size_t i) {
        for (std::size_t j = i + 1; j < tokens_.size() && !is(j, ";") && !is(j, "="); j++) {
            if (is(j, "{")) {
                device_code_end_ = match(j);
                device_function_end_ = statement_has(begin, j, "__host__") ? device_function_end_ : device_code_end_;
                return;
            }
            j = opens(text(j)) ? match(j) : j;
        }
    }

    const bool is_macro_;
    const Purpose purpose_;
    const Linkage linkage_;
    std::set<std::string> declared_elsewhere_;  // device variables with an extern declaration
    std::size_t kernel_end_ = 0;                // of the last kernel's body so far
    std::set<std::size_t> ends_of_do_;
    std::size_t device_function_end_ = 0;  // of the last __device__ function's
    std::size_t device_code_end_ = 0;      // the last function's that is for the device, and perhaps the host's too
    std::vector<Edit>& edits_;
};

}  // namespace

void refuse(const Source& source) {
    for (const TokenRun& run : source.runs()) { refuse(source, run); }
}

std::string lower(const Source& source, Purpose purpose, Linkage linkage, const std::vector<std::size_t>& marks) {
    refuse(source);
    std::vector<Edit> edits;
    for (const std::size_t offset : marks) {
        edits.push_back({offset, offset, "__attribute__((deprecated(\"simt: host\"))) "});
    }
    // The names by which a barrier of a block is called.
    Names barriers = {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or", "sync"};
    for (bool more = true; more;) {
        more = false;
        for (const TokenRun& run : source.runs()) {
            more = Lowering(source, run, purpose, linkage, edits).add_users(barriers) || more;
        }
    }
    for (const TokenRun& run : source.runs()) { Lowering(source, run, purpose, linkage, edits).run(barriers); }
    std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::string lowered;
    std::size_t at = 0;
    for (const Edit& edit : edits) {
        if (edit.begin < at) {
            throw source.error(edit.begin, "a CUDA construct inside another one, which the CPU device does not read");
        }
        lowered.append(source.text(), at, edit.begin - at);
        lowered += edit.text;
        at = edit.end;
    }
    lowered.append(source.text(), at);
    return lowered;
}

}  // namespace simt
