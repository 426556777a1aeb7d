// SPDX-License-Identifier: MIT
//
// lessons/NN_name/lesson.toml: what a lesson is about, what it asks of a card, and how fast its ops must be. This is its one
// reader: a check program describes its lesson (--describe), build/tools/lessons all of them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checker/clock/timing.h"

namespace checker {

struct Target {
    Baseline against = Baseline::solution;  // or copy, library, arithmetic (the fp32 roof), older or busy
    Shares shares;                          // shares of its speed in the same run; bronze is needed to pass
    // On a GPU, of what the solution was measured to reach on such a card: silver and gold are these shares of it, and bronze is
    // at most that; 0: `shares` are the same on every card.
    Shares of_recorded = {};
    // On cards of this compute capability, "8.0", or of all that begin with this number, "8", in place of `shares`.
    std::map<std::string, Shares> by_capability = {};
    Shares older = {};                // times the speed of the step before that it must also reach; 0: not asked
    double threads = 0;               // also this share of twice its speed with two threads; 0: not asked
    std::vector<std::string> shapes;  // "N=8 C=4"; without any, all that are timed are reported only
    // `against` busy: at these of the shapes in its place at most so many seconds for each of the call's nodes in which the
    // device does nothing.
    std::vector<std::string> gap_shapes = {};
    Shares gap = {};
    std::vector<std::string> reported = {};  // timed too where all times are wanted, behind `shapes`; never judged
    bool judges(const std::string& shape) const;
    bool judges_gap(const std::string& shape) const;
};

// A lesson whose matmul is a rung of the ladder.
struct Ladder {
    int random_shapes = 0;  // at which `make test` checks it
    std::map<std::string, int> multiple_of =
        {};  // of "N", "C", "OC", "out_stride": what its matmul takes; else anything
};

struct LessonToml {
    std::filesystem::path file;
    std::string title, idea;
    std::vector<std::string> cards;  // `requires`: what a card must have, "sm_80" or newer, "sm_90a" and no other
    std::vector<std::string> ops;  // those that have a target, in the file's order: the order in which they are checked
    std::string branch_of;  // the lesson whose ops these are compared with, though they serve no step; else empty
    std::vector<std::string> given;  // those of them that the lesson gives, and nobody has to write
    std::map<std::string, Target> targets;
    // On a device, by op: at most so many times what the call needs of the counter.
    std::map<std::string, std::map<std::string, double>> counters;
    std::map<std::string, std::string> precision;  // by op: in which it computes, where that is not fp32
    std::optional<Ladder> ladder;
    std::map<std::string, int> lines;  // of "target.gelu", "counters.gelu", "counters.gelu.requests", "precision.gelu"

    std::string precision_of(const std::string& op) const;

    // "lessons/01_layers/lesson.toml:12: [target.gelu]"
    std::string where(const std::string& table) const;
};

// A GPU. Capability 90 is 9.0; 0 is anything: a rehearsal.
struct Gpu {
    std::string name;
    int capability = 0;
};

// Returns the target with the shares that hold on the card.
Target on_card(Target target, const Gpu& card);

// One line where the card lacks what the lesson requires; empty where it has it.
std::string unmet(const LessonToml& toml, const Gpu& card);

// Throws FileError, in one line, with what is missing or misspelt: file, line and the nearest right name.
LessonToml read_lesson_toml(const std::filesystem::path& file);

}  // namespace checker
