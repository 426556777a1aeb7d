// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checker/estimate/band.h"
#include "checker/estimate/cards.h"
#include "checker/estimate/counts.h"
#include "checker/estimate/executions.h"
#include "checker/estimate/model.h"
#include "checker/estimate/report.h"
#include "checker/estimate/sass.h"

using namespace checker;
using namespace checker::estimate;

namespace {

std::string said_by(auto&& action) {
    try {
        action();
    } catch (const std::exception& error) { return error.what(); }
    return "";
}

// Ten multiprocessors at 1 GHz, rates of which a hand can work out times.
GpuSpec a_card() {
    return {.key = "A-CARD",
            .name = "A card",
            .sass = "sm_80",
            .clock = 1e9,
            .multiprocessors = 10,
            .schedulers = 4,
            .fp32_lanes = 64,
            .int_lanes = 64,
            .special_lanes = 16,
            .lsu_lanes = 32,
            .l1_bytes = 128,
            .fp32 = 1.28e12,
            .memory = 1e11,
            .l2 = 1e13,
            .l2_size = 1e6,
            .l1_cycles = 30,
            .l2_cycles = 200,
            .memory_cycles = 500,
            .limits = {.warps = 64, .blocks = 32, .shared = 100 * 1024, .shared_unit = 128, .shared_reserved = 1024},
            .assumed = {}};
}

// A launch of blocks of 256 threads.
LaunchCounts a_launch(double blocks) {
    LaunchCounts launch;
    launch.kernel = "kernel";
    launch.grid = {static_cast<int>(blocks), 1, 1};
    launch.block = {256, 1, 1};
    launch.blocks = launch.blocks_counted = blocks;
    return launch;
}

// Loads of floats by whole warps, side by side, at a line.
void add_loads(LaunchCounts& launch, int line, double requests, Kind kind = Kind::global_load) {
    LineCounts counts{.file = "a/kernel.cu", .line = line, .counts = {}};
    Access& access = counts.counts.of(kind);
    access = {.requests = requests, .threads = 32 * requests, .bytes = 128 * requests, .wavefronts = requests};
    if (is_global(kind)) {
        access.sectors = 4 * requests;
        access.lines = requests;
    }
    counts.counts.quarters_32 = 4 * requests;
    counts.counts.quarters_16 = 8 * requests;
    Access& total = launch.total.of(kind);
    total.requests += access.requests;
    total.threads += access.threads;
    total.bytes += access.bytes;
    total.wavefronts += access.wavefronts;
    total.sectors += access.sectors;
    total.lines += access.lines;
    launch.total.quarters_32 += counts.counts.quarters_32;
    launch.total.quarters_16 += counts.counts.quarters_16;
    launch.lines.push_back(counts);
}

void add_barriers(LaunchCounts& launch, int line, double barriers) {
    LineCounts counts{.file = "a/kernel.cu", .line = line, .counts = {}};
    counts.counts.barriers = barriers;
    launch.total.barriers += barriers;
    launch.lines.push_back(counts);
}

LaunchCounts launch_of(const char* kernel, const char* file = "") {
    LaunchCounts launch = a_launch(1);
    launch.kernel = kernel;
    launch.file = file;
    return launch;
}

SassFile file_with(const char* source, const char* kernel) {
    return {
        .arch = "sm_86", .nvcc = "", .source = source, .kernels = {{.kernel = kernel, .source = "", .regions = {}}}};
}

// Outside of loops nothing is accessed; then loops, one within the other.
KernelSass a_kernel(std::vector<Region> loops) {
    KernelSass sass{.kernel = "kernel", .source = "kernel.cu", .registers = 32, .regions = {Region{}}};
    for (Region& loop : loops) {
        loop.parent = static_cast<int>(sass.regions.size()) - 1;
        sass.regions.push_back(std::move(loop));
    }
    return sass;
}

Region a_loop(std::vector<EmittedAccess> accesses) {
    Region region;
    region.accesses = std::move(accesses);
    return region;
}

EmittedAccess emitted(int line, double bytes, double count, Kind kind = Kind::global_load) {
    return {.file = "", .line = line, .kind = kind, .bytes = bytes, .count = count};
}

}  // namespace

// ---- cards ---------------------------------------------------------------------------------------------------------

TEST(Cards, EveryCardOfTheFileHasWhatAnEstimateNeeds) {
    EXPECT_GE(cards().size(), 20U);
    for (const GpuSpec& card : cards()) {
        EXPECT_NEAR(2.0 * card.fp32_lanes * card.multiprocessors * card.clock / card.fp32, 1, 0.01) << card.key;
    }
}

TEST(Cards, AnH100IsTheSxmUnlessMoreIsSaid) {
    EXPECT_EQ(card_named("H100").key, "H100-SXM");
    EXPECT_EQ(card_named("h100-pcie").key, "H100-PCIe");
}

TEST(Cards, AGeForceIsKnownByItsNumber) {
    EXPECT_EQ(card_named("4090").key, "RTX-4090");
    EXPECT_EQ(card_named("RTX4090").key, "RTX-4090");
}

TEST(Cards, AnUnknownOneListsTheKnown) {
    const std::string said = said_by([] { card_named("H300"); });
    EXPECT_NE(said.find("the card H300 is not known; there is H100-SXM, "), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
}

TEST(Cards, AKeyThatIsMissingIsNamedWithItsTable) {
    const std::string text = "[sm.80]\nwarps = 64\n[card.X]\nsm = 80\nname = \"X\"\nsass = \"sm_80\"\nclock = 1000\n";
    EXPECT_EQ(said_by([&] { parse_cards(text, "cards.toml"); }),
              "cards.toml: [card.X] needs multiprocessors as a number");
}

TEST(Cards, ARateOf0IsRefused) {
    EXPECT_EQ(said_by([] { parse_cards("[sm.80]\n[card.X]\nsm = 80\nname = \"X\"\nsass = \"\"\nclock = 0\n", "c"); }),
              "c: [card.X]: clock is not above 0");
}

TEST(Cards, WhatIsNoTomlIsRefusedWithItsLine) {
    EXPECT_NE(said_by([] { parse_cards("[sm.80\n", "cards.toml"); }).find("cards.toml:1: "), std::string::npos);
}

TEST(Cards, AtAnotherClockMemoryStaysAsFastAsItIs) {
    const GpuSpec slow = a_card().at(5e8);
    EXPECT_EQ(slow.memory, a_card().memory);
    EXPECT_DOUBLE_EQ(slow.l2, a_card().l2 / 2);
    EXPECT_DOUBLE_EQ(slow.memory_cycles, 200 + 300 * 0.5);  // DRAM's part takes as long as before
}

TEST(Cards, TensorCoresPeaksAreOfTheirOwnClock) {
    const GpuSpec& h100 = card_named("H100");
    EXPECT_DOUBLE_EQ(h100.at(h100.tensor_clock).tf32, h100.tf32);
    EXPECT_NEAR(h100.at(h100.clock).tf32, 2.0 * 1024 * 132 * 1.98e9, 1e11);
    EXPECT_EQ(h100.mma_sync, 0.65);
    EXPECT_EQ(card_named("A100-80GB").mma_sync, 1);
    EXPECT_EQ(card_named("4090").fp16, card_named("4090").bf16);
}

// ---- counts and SASS -------------------------------------------------------------------------------------------------

TEST(Counts, WhatIsWrittenIsReadAgain) {
    LaunchCounts launch = a_launch(40);
    add_loads(launch, 7, 100);
    launch.distinct = {{.blocks = 1, .runs = 40, .load_sectors = 400, .store_sectors = 0}};
    const std::vector<LaunchCounts> read = parse_counts(counts_as_json({launch}).dump(), "x");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].kernel, "kernel");
    EXPECT_EQ(read[0].lines.at(0).counts.of(Kind::global_load).sectors, 400);
    EXPECT_EQ(read[0].distinct.at(0).runs, 40);
}

TEST(Counts, WhetherArithmeticWasCountedIsSaid) {
    LaunchCounts launch = a_launch(10);
    const auto note = [&] { return checker::estimate::estimate(a_card(), launch, nullptr).notes.at(0); };
    EXPECT_EQ(note(), "of the source's own accesses, without arithmetic and what nvcc emits: looser");
    launch.arithmetic_counted = true;
    EXPECT_TRUE(parse_counts(counts_as_json({launch}).dump(), "counts.json").at(0).arithmetic_counted);
    EXPECT_EQ(note(), "of the source's own accesses and arithmetic, without what nvcc emits: looser");
}

TEST(Counts, LoadsOfOneLineStayApart) {
    LaunchCounts launch = a_launch(20);
    add_loads(launch, 7, 160, Kind::shared_load);
    launch.lines.back().shared_loads = {launch.lines.back().counts, launch.lines.back().counts};
    launch.blocks_counted = 10;
    const std::vector<LaunchCounts> read = parse_counts(counts_as_json({launch}).dump(), "counts.json");
    const LaunchCounts all = read.at(0).of_one_launch();
    ASSERT_EQ(all.lines.at(0).shared_loads.size(), 2U);
    EXPECT_EQ(all.lines.at(0).shared_loads[1].of(Kind::shared_load).requests, 2 * 160) << "and are scaled";
}

TEST(Counts, LdmatrixIsALoadOfSharedMemory) {
    const Json metrics{{"smsp__inst_executed_op_ldsm.sum", 10},
                       {"smsp__sass_data_bytes_mem_shared_op_ldsm.sum", 5120},
                       {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", 40}};
    const Json counted = counts_as_json({a_launch(10)});
    Json launch = counted.at("launches").elements().front();
    launch["metrics"] = metrics;
    const LaunchCounts read = launches_of({{"launches", Json::array({launch})}}).front();
    const Access& loads = read.total.of(Kind::shared_load);
    EXPECT_EQ(loads.requests, 10);
    EXPECT_EQ(loads.size(), 16);
    EXPECT_EQ(loads.wavefronts, 40);
    EXPECT_EQ(work_of(read, nullptr).wavefronts, 40);
}

TEST(Counts, WhatIsCutOffIsRefusedWithTheFilesName) {
    const std::string text = counts_as_json({a_launch(1)}).dump();
    const std::string said = said_by([&] { parse_counts(text.substr(0, text.size() / 2), "c.json"); });
    EXPECT_TRUE(said.starts_with("c.json: ")) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
}

TEST(Counts, AKeyThatIsMissingIsNamed) {
    const std::string said = said_by([] { parse_counts(R"({"launches": [{"grid": [1, 1, 1]}]})", "c.json"); });
    EXPECT_NE(said.find("kernel"), std::string::npos) << said;
}

TEST(Counts, ASampledLaunchIsScaledByItsBlocks) {
    LaunchCounts launch = a_launch(100);
    launch.blocks_counted = 10;
    add_loads(launch, 7, 50);
    EXPECT_DOUBLE_EQ(launch.of_one_launch().total.of(Kind::global_load).requests, 500);
    EXPECT_DOUBLE_EQ(launch.of_one_launch().lines[0].counts.of(Kind::global_load).requests, 500);
}

TEST(Counts, OfAKernelWithMoreLaunchesThanWereKeptTheSumIsTaken) {
    Json launch = counts_as_json({a_launch(1)}).at("launches").elements()[0];
    Json kernel = launch;
    kernel["launches"] = 5;
    const Json whole{{"launches", Json::array({launch, launch})}, {"kernels", Json::array({kernel})}};
    const std::vector<LaunchCounts> read = launches_of(whole);
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].launches, 5);
}

TEST(Counts, AKernelWithoutArithmeticHasAtLeastTheOps) {
    std::vector<LaunchCounts> launches{a_launch(100)};
    launches[0].blocks_counted = 10;
    add_least_arithmetic(launches, 6.4e6);
    EXPECT_DOUBLE_EQ(launches[0].total.fma, 3.2e5);
    EXPECT_DOUBLE_EQ(launches[0].total.fma_requests, 1e4);
}

TEST(Counts, ProductsOfTensorCoresAreNotTheFmaPipesToo) {
    std::vector<LaunchCounts> launches{a_launch(100)};
    launches[0].total.tensor.tf32 = 6.4e6;
    add_least_arithmetic(launches, 6.4e6);
    EXPECT_EQ(launches[0].total.fma, 0);
    const Estimate priced = estimate::estimate(card_named("H100"), launches[0], nullptr);
    EXPECT_EQ(priced.at(Resource::fma), 0);
    EXPECT_DOUBLE_EQ(priced.flop, 6.4e6);
}

TEST(Sass, AKernelIsFoundByItsNameAndTheArchitecture) {
    const std::string text = R"({"arch": "sm_86", "kernels": {"k": {"registers": 40, "regions": [
        {"parent": -1, "instructions": {"issued": 9}, "accesses": []}]}}})";
    const std::vector<SassFile> files = parse_sass(text, "s.json");
    ASSERT_NE(find_kernel(files, launch_of("k"), "sm_86"), nullptr);
    EXPECT_EQ(find_kernel(files, launch_of("k"), "sm_86")->registers, 40);
    EXPECT_EQ(find_kernel(files, launch_of("k"), "sm_80"), nullptr);
}

TEST(Sass, OfAnUnnamedNamespaceTheNameIsTheSame) {
    EXPECT_NE(find_kernel({file_with("x.cu", "k [A a = n::A::b]")}, launch_of("k [A a = n::<unnamed>::A::b]"), "sm_86"),
              nullptr);
}

TEST(Sass, OfKernelsOfOneNameItIsTheFilesThatLaunchesIt) {
    const std::vector<SassFile> files{file_with("a/x.cu", "k"), file_with("b/x.cu", "k")};
    EXPECT_EQ(find_kernel(files, launch_of("k", "b/x.cu"), "sm_86"), files[1].kernels.data());
    EXPECT_EQ(find_kernel(files, launch_of("k", "c/x.cu"), "sm_86"), nullptr);
}

TEST(Sass, ARegionThatIsItsOwnParentIsRefused) {
    const std::string text = R"({"arch": "sm_86", "kernels": {"k": {"registers": 40, "regions": [
        {"parent": -1, "instructions": {"issued": 9}, "accesses": []},
        {"parent": 1, "instructions": {"issued": 9}, "accesses": []}]}}})";
    EXPECT_EQ(said_by([&] { parse_sass(text, "s.json"); }), "s.json: k: region 1 has the parent 1");
}

TEST(Sass, WhatIsCutOffIsRefusedWithTheFilesName) {
    EXPECT_TRUE(said_by([] { parse_sass(R"({"arch": "sm_8)", "s.json"); }).starts_with("s.json: "));
}

// ---- the join --------------------------------------------------------------------------------------------------------

TEST(Executions, ALoopRunsAsOftenAsItsAccessesSay) {
    LaunchCounts launch = a_launch(10);  // 80 warps
    add_loads(launch, 7, 80 * 5);
    EXPECT_EQ(executions(launch, a_kernel({a_loop({emitted(7, 4, 1)})})), (std::vector<double>{80, 400}));
}

TEST(Executions, AccessesThatNvccMergedSayTheSame) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 8);  // 4 bytes each; nvcc makes two of 16 of each eight
    EXPECT_EQ(executions(launch, a_kernel({a_loop({emitted(7, 16, 2)})}))[1], 80);
}

TEST(Executions, OfAnUnrolledLoopTheTurnsThatAreLeftOverAreNone) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 8);
    KernelSass sass = a_kernel({a_loop({emitted(7, 4, 4)}), a_loop({emitted(7, 4, 1)})});
    sass.regions[2].parent = 0;
    EXPECT_EQ(executions(launch, sass), (std::vector<double>{80, 160, 0}));
}

TEST(Executions, WhatStandsOutsideOfLoopsIsNotTheLoops) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 9);  // the first tile before the loop, eight in it
    KernelSass sass = a_kernel({a_loop({emitted(7, 4, 1)})});
    sass.regions[0].accesses = {emitted(7, 4, 1)};
    EXPECT_EQ(executions(launch, sass)[1], 80 * 8);
}

TEST(Executions, OfTwoWaysTheOneWithTheSourcesWidthIsTaken) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 2);
    launch.lines[0].counts.of(Kind::global_load).bytes *= 4;  // 16 of a thread
    KernelSass sass = a_kernel({a_loop({emitted(7, 16, 2)}), a_loop({emitted(7, 4, 128)})});
    sass.regions[2].parent = 0;
    EXPECT_EQ(executions(launch, sass), (std::vector<double>{80, 80, 0}));
}

TEST(Executions, BarriersAreExactWhereAccessesAreNot) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 5);
    add_barriers(launch, 9, 80 * 6);
    Region loop = a_loop({emitted(7, 4, 1)});
    loop.barriers = {{.file = "", .line = 9, .count = 1}};
    EXPECT_EQ(executions(launch, a_kernel({loop}))[1], 80 * 6);
}

TEST(Executions, ALoopWithoutAccessesTakesTheMultiplyAddsThatAreLeft) {
    LaunchCounts launch = a_launch(10);
    launch.total.fma_requests = 80 * 100;
    Region loop;
    loop.instructions = {.issued = 12, .fma = 10};
    EXPECT_EQ(executions(launch, a_kernel({loop}))[1], 80 * 10);
}

TEST(Executions, ALoopOfWhichNothingIsKnownRunsAsOftenAsTheOneAroundIt) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 5);
    EXPECT_EQ(executions(launch, a_kernel({a_loop({emitted(7, 4, 1)}), Region{}}))[2], 400);
}

TEST(Executions, ALoopWhoseAccessesTheDeviceHasMetNowhereDidNotRun) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 5);
    KernelSass sass = a_kernel({a_loop({emitted(7, 4, 1)}), a_loop({emitted(30, 4, 8)})});
    EXPECT_EQ(executions(launch, sass), (std::vector<double>{80, 400, 0}));
    add_loads(launch, 50, 80);  // nvcc names no such line: 30 may be it
    EXPECT_EQ(executions(launch, sass)[2], 400);
}

TEST(Executions, OfTwoLoopsOfALineTheOneWithoutWhatTheDeviceHasMetNowhereRan) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 5);
    const KernelSass sass = a_kernel({a_loop({emitted(7, 4, 4), emitted(30, 4, 4)}), a_loop({emitted(7, 4, 1)})});
    EXPECT_EQ(executions(launch, sass), (std::vector<double>{80, 0, 400}));
}

TEST(Executions, AStatementsOtherLineIsTakenForIt) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 8, 80 * 5);
    EXPECT_EQ(executions(launch, a_kernel({a_loop({emitted(7, 4, 1)})}))[1], 400);
}

TEST(Work, AMergedAccessIsPricedAsEmitted) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 800, Kind::shared_load);
    const KernelSass sass = a_kernel({a_loop({emitted(7, 16, 1, Kind::shared_load)})});
    // 200 requests of 16 bytes, each two passes at least, where the source has 800 passes.
    EXPECT_DOUBLE_EQ(work_of(launch, &sass).quarters_32, 4 * 400);
}

// Of two loads in a line, one that all lanes share and one whose neighbours no lane could load at once, nvcc makes the first
// wide.
TEST(Work, OfSeveralLoadsInALineTheWideOnesAreThoseThatTakeLeast) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 1600, Kind::shared_load);
    Counts shared, apart;
    shared.of(Kind::shared_load) = {.requests = 800,
                                    .threads = 32 * 800,
                                    .bytes = 128 * 800,
                                    .wavefronts = 800,
                                    .wavefronts_of_16 = 4 * 800,
                                    .distinct = 4 * 800};
    apart.of(Kind::shared_load) = {.requests = 800,
                                   .threads = 32 * 800,
                                   .bytes = 128 * 800,
                                   .wavefronts = 800,
                                   .wavefronts_of_16 = 16 * 800,
                                   .distinct = 128 * 800};
    launch.lines.back().shared_loads = {apart, shared};
    const KernelSass sass =
        a_kernel({a_loop({emitted(7, 4, 4, Kind::shared_load), emitted(7, 16, 1, Kind::shared_load)})});
    EXPECT_DOUBLE_EQ(work_of(launch, &sass).wavefronts, 800 + 200 * 2);
}

TEST(Work, WhatAllLanesShareTakesTwoPassesAt16Bytes) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 800, Kind::shared_load);
    Access& access = launch.lines.back().counts.of(Kind::shared_load);
    access.wavefronts_of_16 = 4 * 800;
    const KernelSass sass = a_kernel({a_loop({emitted(7, 16, 1, Kind::shared_load)})});
    EXPECT_DOUBLE_EQ(work_of(launch, &sass).wavefronts, 200 * 4);
    access.distinct = 4 * 800;
    EXPECT_DOUBLE_EQ(work_of(launch, &sass).wavefronts, 200 * 2);
}

TEST(Work, ADroppedAccessCostsNothing) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 800);
    add_loads(launch, 20, 80);
    const KernelSass sass = a_kernel({a_loop({emitted(7, 4, 1)})});
    EXPECT_NEAR(work_of(launch, &sass).quarters_32, 4 * 800, 1);
}

TEST(Work, AccessesWhoseLinesNvccDoesNotNameStay) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 800);
    add_loads(launch, 20, 800);
    const KernelSass sass = a_kernel({a_loop({emitted(7, 4, 1)})});
    EXPECT_NEAR(work_of(launch, &sass).quarters_32, 4 * 1600, 1);
}

TEST(Work, InstructionsAreThoseOfARegionTimesItsTurns) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 5);
    Region loop = a_loop({emitted(7, 4, 1)});
    loop.instructions = {.issued = 20, .fma = 8, .lsu = 1};
    KernelSass sass = a_kernel({loop});
    sass.regions[0].instructions = {.issued = 30};
    const Work work = work_of(launch, &sass);
    EXPECT_EQ(work.instructions.issued, 80 * 30 + 400 * 20);
    EXPECT_EQ(work.instructions.fma, 400 * 8);
}

// ---- occupancy -------------------------------------------------------------------------------------------------------

TEST(Occupancy, IsSetByTheScarcestResource) {
    const auto of = [](const char* card, int threads, int registers, int shared) {
        const Occupancy found = occupancy(card_named(card).limits, threads, registers, shared);
        return std::tuple(found.blocks, found.warps, found.limited_by);
    };
    EXPECT_EQ(of("A100", 256, 128, 0), std::tuple(2, 16, "registers"));
    EXPECT_EQ(of("A100", 1024, 32, 8320), std::tuple(2, 64, "threads, registers"));
    EXPECT_EQ(of("H100", 256, 32, 48 * 1024), std::tuple(4, 32, "shared memory"));
    EXPECT_EQ(of("A100", 32, 16, 0), std::tuple(32, 32, "blocks"));
    EXPECT_EQ(of("A6000", 1024, 16, 0), std::tuple(1, 32, "threads"));
    EXPECT_EQ(of("A100", 1024, 128, 0), std::tuple(0, 0, "registers"));
    // The Best Practices Guide's own examples, "Calculating Occupancy": 75% and 63% of 64 warps.
    EXPECT_EQ(of("A100", 128, 37, 0), std::tuple(12, 48, "registers"));
    EXPECT_EQ(of("A100", 320, 37, 0), std::tuple(4, 40, "registers"));
}

TEST(Occupancy, WithoutRegistersIsWhatTheOthersAllow) {
    EXPECT_EQ(occupancy(a_card().limits, 256, 0, 0).blocks, 8);
}

// ---- the model -------------------------------------------------------------------------------------------------------

TEST(Model, SchedulersIssueFourInstructionsACycle) {
    LaunchCounts launch = a_launch(10);  // a block a multiprocessor
    KernelSass sass = a_kernel({});
    sass.regions[0].instructions.issued = 1000;  // of each of 80 warps
    EXPECT_DOUBLE_EQ(estimate::estimate(a_card(), launch, &sass).at(Resource::issue), 80 * 1000 / 4 / 10 / 1e9);
}

TEST(Model, TheFmaPipeTakes64LanesACycleAndReaches97Percent) {
    LaunchCounts launch = a_launch(10);
    KernelSass sass = a_kernel({});
    sass.regions[0].instructions.fma = 1000;
    EXPECT_NEAR(estimate::estimate(a_card(), launch, &sass).at(Resource::fma), 80 * 1000 / 2 / 10 / 1e9 / 0.97, 1e-12);
}

TEST(Model, SpecialFunctionsCome16ACycle) {
    LaunchCounts launch = a_launch(10);
    KernelSass sass = a_kernel({});
    sass.regions[0].instructions.special = 100;
    EXPECT_DOUBLE_EQ(estimate::estimate(a_card(), launch, &sass).at(Resource::special), 80 * 100 * 2 / 10 / 1e9);
}

TEST(Model, AQuarterCycleOfL1IsAQuarterOfACycle) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 8000, Kind::shared_load);
    EXPECT_DOUBLE_EQ(estimate::estimate(a_card(), launch, nullptr).at(Resource::l1), 8000.0 / 10 / 1e9);
}

TEST(Model, WhereL1Takes16LanesAWholeWarpsLoadTakesTwoCycles) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 8000, Kind::shared_load);
    GpuSpec card = a_card();
    card.lsu_lanes = 16;
    EXPECT_DOUBLE_EQ(estimate::estimate(card, launch, nullptr).at(Resource::l1), 8000.0 * 2 / 10 / 1e9);
}

TEST(Model, ALoadOfGlobalMemoryTakesHalfACycleMore) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 8000);
    EXPECT_DOUBLE_EQ(estimate::estimate(a_card(), launch, nullptr).at(Resource::l1), 8000.0 * 1.5 / 10 / 1e9);
}

TEST(Model, TheBusiestMultiprocessorSetsTheTime) {
    KernelSass sass = a_kernel({});
    sass.regions[0].instructions.issued = 1000;
    const double ten = estimate::estimate(a_card(), a_launch(10), &sass).at(Resource::issue);
    const Estimate eleven = estimate::estimate(a_card(), a_launch(11), &sass);
    EXPECT_DOUBLE_EQ(eleven.at(Resource::issue), 2 * ten);
    EXPECT_DOUBLE_EQ(eleven.imbalance, 20.0 / 11);
}

TEST(Model, L2GivesEachBlockItsSectorsOnce) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 8000);
    launch.distinct = {{.blocks = 1, .runs = 10, .load_sectors = 5000, .store_sectors = 0}};
    const Estimate found = estimate::estimate(a_card(), launch, nullptr);
    EXPECT_DOUBLE_EQ(found.at(Resource::l2), 5000 * 32 / 1e13);
}

TEST(Model, StoredSectorsTakeL2TwiceAsLong) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 8000, Kind::global_store);
    launch.distinct = {{.blocks = 1, .runs = 10, .load_sectors = 0, .store_sectors = 32000}};
    EXPECT_DOUBLE_EQ(estimate::estimate(a_card(), launch, nullptr).at(Resource::l2), 2 * 32000 * 32 / 1e13);
}

TEST(Model, WhatFitsL2ComesFromMemoryOnce) {
    LaunchCounts launch = a_launch(64);
    add_loads(launch, 7, 8000);
    launch.distinct = {{.blocks = 1, .runs = 64, .load_sectors = 64000, .store_sectors = 0},
                       {.blocks = 64, .runs = 1, .load_sectors = 3000, .store_sectors = 1000}};
    EXPECT_NEAR(estimate::estimate(a_card(), launch, nullptr).memory_bytes, 4000 * 32, 1);
}

TEST(Model, WhatDoesNotFitL2ComesOnceForEachRunOfBlocksAtOnce) {
    LaunchCounts launch = a_launch(1600);  // 80 at once
    add_loads(launch, 7, 8000);
    // All blocks load the same 3.2 MB, which L2's 1 MB do not hold.
    for (const double blocks : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 1600.0}) {
        launch.distinct.push_back(
            {.blocks = blocks, .runs = 1600 / blocks, .load_sectors = 1e5 * 1600 / blocks, .store_sectors = 0});
    }
    EXPECT_NEAR(estimate::estimate(a_card(), launch, nullptr).memory_bytes, 20 * 1e5 * 32, 1e3);
}

TEST(Model, AChainOfLoadsTakesTheirLatencies) {
    LaunchCounts launch = a_launch(10);
    add_loads(launch, 7, 80 * 100);
    launch.distinct = {{.blocks = 1, .runs = 10, .load_sectors = 4 * 8000, .store_sectors = 0},
                       {.blocks = 10, .runs = 1, .load_sectors = 4 * 8000, .store_sectors = 0}};
    Region loop = a_loop({emitted(7, 4, 1)});
    loop.waits = 1;
    const KernelSass sass = a_kernel({loop});
    // No load finds what another one brought: 100 times 2.1 × 500 cycles, and a microsecond for the launch.
    EXPECT_NEAR(estimate::estimate(a_card(), launch, &sass).at(Resource::latency), 1e-6 + 100 * 1050 / 1e9, 1e-10);
}

TEST(Model, TheRunnerUpIsTheSecondLargest) {
    Estimate found;
    found.seconds[static_cast<std::size_t>(Resource::l1)] = 3;
    found.seconds[static_cast<std::size_t>(Resource::fma)] = 2;
    EXPECT_EQ(found.limit(), Resource::l1);
    EXPECT_EQ(found.next(), Resource::fma);
    EXPECT_EQ(found.without_limit(), 2);
}

TEST(Model, ALibrarysCallTakesItsProductsAtThePeak) {
    LaunchCounts calls;
    calls.kernel = "cublasSgemm";
    calls.launches = 0;
    calls.total.library_flop = 1.28e12;
    EXPECT_DOUBLE_EQ(estimate::estimate(a_card(), calls, nullptr).total, 1);
}

TEST(Model, ProductsInTf32TakeTheirOwnPeak) {
    LaunchCounts calls;
    calls.kernel = "cublasSgemm";
    calls.launches = 0;
    calls.total.library_flop = calls.total.library_tf32 = 1e12;
    GpuSpec card = a_card();
    card.tf32 = 1e13;
    EXPECT_DOUBLE_EQ(estimate::estimate(card, calls, nullptr).total, 0.1);
}

TEST(Model, TensorCoresTakeEachTypeAtItsPeak) {
    LaunchCounts launch = a_launch(10);
    launch.total.tensor = {.tf32 = 1e12, .bf16 = 4e12, .fp16 = 6e12, .fp16_fp16 = 8e12};
    GpuSpec card = a_card();
    card.tf32 = 1e13;
    card.bf16 = card.fp16 = 2e13;
    card.fp16_fp16 = 4e13;
    const Estimate whole = estimate::estimate(card, launch, nullptr);
    EXPECT_DOUBLE_EQ(whole.at(Resource::tensor), 0.1 + 0.2 + 0.3 + 0.2);
    EXPECT_DOUBLE_EQ(whole.flop, 1.9e13);
    card.mma_sync = 0.5;
    EXPECT_DOUBLE_EQ(estimate::estimate(card, launch, nullptr).at(Resource::tensor), 1.6);
}

TEST(Model, InstructionsOfTensorCoresAreIssued) {
    LaunchCounts launch = a_launch(10);
    launch.total.tensor.instructions = 1e6;
    EXPECT_DOUBLE_EQ(estimate::estimate(a_card(), launch, nullptr).at(Resource::issue), 1e6 / 10 / 4 / 1e9);
}

TEST(Model, ATypeThatTensorCoresLackIsSaid) {
    LaunchCounts launch = a_launch(10);
    launch.total.tensor.tf32 = 1e12;
    const Estimate on_t4 = estimate::estimate(card_named("T4"), launch, nullptr);
    EXPECT_EQ(on_t4.at(Resource::tensor), 0);
    EXPECT_FALSE(on_t4.launchable);
    EXPECT_NE(std::ranges::find(on_t4.notes, "this card's tensor cores have no TF32: it cannot be launched there"),
              on_t4.notes.end());
}

TEST(Model, LaunchesOfAKernelAddUp) {
    KernelSass sass = a_kernel({});
    sass.regions[0].instructions.issued = 1e6;
    const Estimate one = estimate::estimate(a_card(), a_launch(10), &sass);
    const std::vector<Estimate> sum = by_kernel({one, one, one});
    ASSERT_EQ(sum.size(), 1U);
    EXPECT_EQ(sum[0].launches, 3);
    EXPECT_DOUBLE_EQ(sum[0].total, 3 * one.total);
}

// ---- the report ------------------------------------------------------------------------------------------------------

TEST(Report, NoLineIsWiderThan80Columns) {
    LaunchCounts launch = a_launch(100);
    launch.kernel = "matmul_forward_kernel";
    launch.blocks_counted = 10;
    add_loads(launch, 7, 8000);
    const std::string text = as_text(estimate_all(cards(), {launch}, {}));
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
        end = text.find('\n', begin);
        EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    }
}

TEST(Report, SaysWhatBindsAndWhatComesNext) {
    LaunchCounts launch = a_launch(100);
    add_loads(launch, 7, 8e6);
    const std::string text = as_text({estimate_all(a_card(), {launch}, {})});
    EXPECT_NE(text.find("bound by               load/store and L1"), std::string::npos) << text;
    EXPECT_NE(text.find("if that were lifted"), std::string::npos) << text;
}

TEST(Report, ACardThatCannotLaunchItHasNoTime) {
    LaunchCounts launch = a_launch(100);
    launch.total.tensor.tf32 = 1e12;
    add_loads(launch, 7, 8e6);
    const std::vector<CardEstimate> both = estimate_all({card_named("T4"), card_named("H100")}, {launch, launch}, {});
    const std::string text = as_text(both);
    for (const char* row : {"load/store and L1", "bound by", "if that were lifted"}) {
        const std::size_t begin = text.find(std::string("\n  ") + row);
        ASSERT_NE(begin, std::string::npos) << text;
        EXPECT_EQ(text.substr(begin + 22, 20), std::string(20, ' ')) << text;
    }
    EXPECT_NE(text.find("\n  at best                   not launchable"), std::string::npos) << text;
    EXPECT_EQ(in_one_line(both[0], 0), "on T4 it cannot be launched");
    EXPECT_FALSE(by_kernel(both[0].launches)[0].launchable);
    EXPECT_TRUE(both[1].is_launchable());
}

TEST(Report, RegistersThatAreNotKnownAreSaidToBe) {
    const std::string text = as_text({estimate_all(a_card(), {a_launch(100)}, {})});
    EXPECT_NE(text.find("  registers                      not known"), std::string::npos) << text;
}

TEST(Report, CountsOfSomeBlocksAreSaidToBeOfThisInput) {
    LaunchCounts launch = a_launch(100);
    launch.blocks_counted = 10;
    const std::string text = as_text({estimate_all(a_card(), {launch}, {})});
    EXPECT_NE(text.find("counted on 10 of 100 blocks of this input"), std::string::npos) << text;
}

TEST(Report, ThePhraseHasTheRateAndTheLimit) {
    LaunchCounts launch = a_launch(100);
    add_loads(launch, 7, 1e7, Kind::shared_load);  // a millisecond
    EXPECT_EQ(in_one_line(estimate_all(a_card(), {launch}, {}), 1e9),
              "on A card at best 1 TFLOP/s, bound by load/store and L1");
}

TEST(Report, WhereNothingWasLaunchedItSaysSo) {
    EXPECT_EQ(as_text({estimate_all(a_card(), std::vector<LaunchCounts>(), {})}), "nothing was launched\n");
}

TEST(Report, JsonHasEachResourceInSeconds) {
    LaunchCounts launch = a_launch(100);
    add_loads(launch, 7, 1e7, Kind::shared_load);
    const Json json = Json::parse(estimates_as_json({estimate_all(a_card(), {launch}, {})}).dump());
    const Json& kernel = json.at("cards").elements()[0].at("kernels").elements()[0];
    EXPECT_DOUBLE_EQ(kernel.at("resources").at("load/store and L1").number(), 1e-3);
    EXPECT_EQ(kernel.at("limit").text(), "load/store and L1");
}

TEST(Report, TheBandSaysHowManyTimesLieNear) {
    EXPECT_EQ(
        band_text({.rows = 64, .cards = 5, .within_125 = 0.5, .within_150 = 0.81}),
        "50% of 64 published times on 5 cards differ from such an estimate by at most a factor of 1.25, 81% by at "
        "most 1.5 (checker/simt/ESTIMATES.md)");
    EXPECT_EQ(band_text({}), "");
}
