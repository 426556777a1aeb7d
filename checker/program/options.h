// SPDX-License-Identifier: MIT
//
// The command line of a check program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace checker {

struct Options {
    std::string subject = "lessons";  // whose files: "lessons", "solutions" or a folder of sources
    std::filesystem::path lesson_dir;
    std::filesystem::path impl_dir;       // OP.so of the subject
    std::filesystem::path reference_dir;  // OP.so of the solution
    std::filesystem::path log_dir;        // OP.log: what the compiler said to the subject
    std::filesystem::path cases = "reference";
    std::string only;  // "", "OP", "OP/CASE" or "OP/timing"
    bool no_timing = false;
    bool no_large = false;  // without the cases whose output only the device has room for: tools that watch take hours
    bool timing_only = false;
    bool verbose = false;
    bool worker = false;
    bool describe = false;    // prints what the lesson is, in place of the check
    std::string device;       // what the verdict calls the device; "" for its own word
    bool last = true;         // false: another device's check follows, so that "next" is not said yet
    bool one_thread = false;  // runs --only here until the thread of SIMT_STOP or SIMT_TRACE has run
    bool traffic = false;     // counts what the kernels of --only ask of memory, in place of the check
    bool estimate = false;    // what cards could do at best with the kernels of --only, in place of the check
    bool at_best = false;     // the verdict says that of one card
    bool archs = false;       // what nvcc compiles for these cards, in place of the estimate
    bool quick = false;       // a rougher one, in less than a second
    std::string cards = "T4,RTX-4090,H100-SXM";
    std::filesystem::path counts;  // "" for none: where what was counted for an estimate is written
    std::filesystem::path roof;    // "" for none
    std::filesystem::path json;
    std::filesystem::path results;

    std::string only_op() const { return only.substr(0, only.find('/')); }
    std::string only_case() const;  // "" for all
    bool wants(const std::string& op) const { return only.empty() || only_op() == op; }
    bool wants(const std::string& op, const std::string& case_name) const;

    // What the worker needs to register the same cases and to find the same objects.
    std::vector<std::string> for_worker() const;

    // The source that a verdict is about: the lesson's file of the op, or, where the lesson's solution has none, that of
    // the newest lesson before which has one.
    std::filesystem::path source(const std::string& lesson, const std::string& op) const;
};

// Reads the command line, without GoogleTest's options, and fills in what was left out. Nothing where it asked for --help,
// which is printed. Throws std::invalid_argument with what is wrong.
std::optional<Options> parse_options(int argc, const char* const* argv, const std::string& lesson);

}  // namespace checker
