# SPDX-License-Identifier: MIT
"""What a warp issues in each loop, on nvdisasm's own listing of small kernels. data/loops.sm_86.sass is made of
loops.cu by `nvcc -std=c++20 -O3 -lineinfo -arch=sm_86 -cubin` and `nvdisasm -c --print-line-info-inline`, nvcc 13.0;
its folders have been renamed and what is no instruction, label or place has been left out."""

from pathlib import Path

import pytest

from reference.gpu import sass_flow

DATA = Path(__file__).parent / "data"
FILES = {"/course/loops.cu": "loops.cu"}


@pytest.fixture(scope="module")
def kernels():
    found = sass_flow.instructions_of((DATA / "loops.sm_86.sass").read_text())
    return {next(word for word in NAMES if word in mangled): code for mangled, code in found.items()}


HERE = '//## File "/course/loops.cu", line 9'
NAMES = ("sum_unrolled", "nested", "merged", "divided", "copied", "shuffled")


def regions(code: list) -> list[dict]:
    return [sass_flow.as_json(region, FILES, "loops.cu") for region in sass_flow.regions_of(code)]


def accesses(region: dict) -> list[tuple]:
    return [(row["line"], row["kind"], row["bytes"], row["count"]) for row in region["accesses"]]


def listed(lines: str) -> list:
    text = "\t.section\t.text.k\n" + "\n".join(
        line if line.endswith(":") or "##" in line else f"        /*{16 * i:04x}*/  {line} ;"
        for i, line in enumerate(map(str.strip, lines.strip().splitlines()))
    )
    return sass_flow.instructions_of(text)["k"]


def test_an_unrolled_loop_and_what_it_leaves_over_are_two_regions(kernels):
    outside, unrolled, remainder = regions(kernels["sum_unrolled"])
    assert (outside["parent"], unrolled["parent"], remainder["parent"]) == (-1, 0, 0)
    assert accesses(outside) == [(14, "global_st", 4, 1)]
    assert accesses(unrolled) == [(13, "global_ld", 4, 4)]
    assert accesses(remainder) == [(13, "global_ld", 4, 1)]
    assert unrolled["instructions"]["fp"] == 4


def test_a_loop_is_counted_without_the_loop_in_it(kernels):
    _, outer, inner = regions(kernels["nested"])
    assert (outer["parent"], inner["parent"]) == (0, 1)
    assert accesses(outer) == [(22, "global_ld", 4, 1), (22, "shared_st", 4, 1)]
    assert [(row["line"], row["count"]) for row in outer["barriers"]] == [(23, 1), (26, 1)]
    assert accesses(inner) == [(25, "shared_ld", 4, 1)]
    assert inner["barriers"] == []
    assert inner["instructions"]["fma"] == 1


def test_loads_that_nvcc_merges_are_one_of_16_bytes(kernels):
    assert accesses(regions(kernels["merged"])[0]) == [(33, "global_ld", 16, 1), (37, "global_st", 4, 1)]


def test_a_divisions_slow_path_is_not_counted(kernels):
    code = kernels["divided"]
    assert any(instruction.name == "CALL" for instruction in code)
    counted = [instruction for region in sass_flow.regions_of(code) for instruction in region.instructions]
    assert not any(instruction.name == "CALL" for instruction in counted)
    assert len(counted) < len(code) / 2
    loop = regions(code)[1]
    assert loop["instructions"]["fma"] == 5
    assert loop["special"] == [{"line": 42, "count": 1}]


def test_a_copy_into_shared_memory_is_one_access_and_what_idles_before_it_is_none(kernels):
    loop = regions(kernels["copied"])[1]
    assert accesses(loop) == [(49, "async_copy", 16, 1), (53, "global_st", 4, 1), (53, "shared_ld", 4, 1)]
    assert loop["instructions"]["lsu"] == 3


def test_shuffles_atomics_and_special_functions_are_told_by_line(kernels):
    loop = regions(kernels["shuffled"])[1]
    assert accesses(loop) == [(60, "global_ld", 4, 1), (61, "shuffle", 4, 5), (62, "global_atom", 4, 1)]
    assert loop["special"] == [{"line": 60, "count": 1}]


def test_kinds_add_up_to_what_is_issued(kernels):
    for code in kernels.values():
        for region in sass_flow.regions_of(code):
            kinds = region.kinds()
            assert kinds.pop("issued") == sum(kinds.values()) == len(region.instructions)


def test_loads_are_on_their_way_together_until_one_result_is_used(kernels):
    assert regions(kernels["sum_unrolled"])[1]["loads_in_flight"] == 4
    assert regions(kernels["sum_unrolled"])[1]["waits"] == 1


def test_a_load_whose_address_was_loaded_waits_for_it():
    code = listed("LDG.E R2, [R4.64]\nLDG.E.64 R6, [R2.64]\nFADD R1, R7, R1\nEXIT")
    assert sass_flow.waits_of((one, 0) for one in code) == {0: (1, 2)}


def test_a_store_of_four_registers_waits_for_each_of_them():
    code = listed("LDG.E R3, [R8.64]\nSTS.128 [R9], R0\nEXIT")
    assert sass_flow.waits_of((one, 0) for one in code) == {0: (1, 1)}
    assert sass_flow.used(listed("STS.128 [R9], R0")[0]) == {9, 0, 1, 2, 3}


def test_a_wait_is_that_of_the_arm_with_the_first_of_the_loads():
    first, second, use = listed("LDG.E R2, [R8.64]\nLDG.E R3, [R8.64]\nFADD R1, R2, R3")
    assert sass_flow.waits_of([(first, 1), (second, 2), (use, 0)]) == {1: (2, 1)}


def test_what_a_turn_may_pass_by_is_a_region_of_its_own():
    _, loop, arm = sass_flow.regions_of(
        listed(
            f"""FADD R1, R1, R2
            .L_x_1:
            @P0 BRA `(.L_x_2)
            {HERE}
            LDG.E R2, [R8.64]
            .L_x_2:
            FADD R1, R1, R2
            @P1 BRA `(.L_x_1)
            EXIT"""
        )
    )
    assert (loop.is_arm, arm.is_arm, arm.parent) == (False, True, 1)
    assert [one.name for one in loop.instructions] == ["BRA", "FADD", "BRA"]
    assert [one.name for one in arm.instructions] == ["LDG"]
    assert (loop.waits, arm.waits) == (0, 1)


def test_both_ways_of_a_branch_are_regions_that_are_told_apart_by_what_they_access():
    code = listed(
        f"""@P0 BRA `(.L_x_1)
        {HERE}
        STG.E.128 [R8.64], R4
        BRA `(.L_x_2)
        .L_x_1:
        {HERE.replace("9", "8")}
        STG.E [R8.64], R4
        @P1 BRA `(.L_x_2)
        STG.E [R8.64+0x4], R5
        .L_x_2:
        EXIT"""
    )
    names = [[one.code for one in region.instructions] for region in sass_flow.regions_of(code)]
    assert names == [["BRA", "EXIT"], ["STG.E", "BRA", "STG.E"], ["STG.E.128", "BRA"]]


def test_a_warp_that_ends_early_leaves_the_others_what_they_always_run():
    code = listed(f"@P0 EXIT\n{HERE}\nLDG.E R2, [R8.64]\nEXIT")
    assert len(sass_flow.regions_of(code)) == 1


def test_a_block_that_accesses_nothing_belongs_to_where_it_branches_off():
    code = listed("@P0 BRA `(.L_x_1)\nFADD R1, R1, R2\n.L_x_1:\nEXIT")
    assert len(sass_flow.regions_of(code)) == 1


def test_a_call_of_a_label_of_the_kernel_is_a_branch():
    code = listed(
        """.L_x_1:
        FADD R1, R1, R2
        @P0 CALL.REL.NOINC `(.L_x_2)
        BRA `(.L_x_1)
        .L_x_2:
        EXIT"""
    )
    assert [len(region.instructions) for region in sass_flow.regions_of(code)] == [1, 3]


def test_what_only_lanes_take_that_have_parted_is_not_counted():
    code = listed(
        """BRA.DIV ~URZ, `(.L_x_2)
        SHFL.BFLY PT, R1, R2, 0x10, 0x1f
        .L_x_1:
        STG.E [R4.64], R1
        EXIT
        .L_x_2:
        WARPSYNC.COLLECTIVE R3, `(.L_x_3)
        .L_x_3:
        SHFL.BFLY PT, R1, R2, 0x10, 0x1f
        BRA `(.L_x_1)"""
    )
    assert [instruction.name for instruction in sass_flow.regions_of(code)[0].instructions] == [
        *("BRA", "SHFL", "STG", "EXIT")
    ]


@pytest.mark.parametrize("branch", ["@P0 BRA `(.L_x_1)", "BRA.U UP0, `(.L_x_1)", "BRA P0, `(.L_x_1)"])
def test_a_branch_with_a_condition_has_two_ways(branch):
    assert len(sass_flow.regions_of(listed(f".L_x_1:\nFADD R1, R1, R2\n{branch}\nEXIT"))) == 2


def test_a_kernel_that_ends_in_a_loop_of_its_own_has_no_region_for_it():
    assert len(sass_flow.regions_of(listed("EXIT\n.L_x_1:\nBRA `(.L_x_1)"))) == 1


@pytest.mark.parametrize(
    ("code", "size"),
    [
        ("LDG.E", 4),
        ("LDG.E.U8.CONSTANT", 1),
        ("LDG.E.LTC128B.128", 16),
        ("LDS.U.64", 8),
        ("LDSM.16.M88.4", 16),
        ("LDSM.16.M88", 4),
        ("LDGSTS.E.BYPASS.128", 16),
        ("STG.E.U16", 2),
    ],
)
def test_an_access_has_its_instructions_width(code, size):
    assert sass_flow.bytes_of(sass_flow.Instruction(code, "")) == size


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("FFMA", "fma"),
        ("FADD.FTZ", "fp"),
        ("IMAD.MOV.U32", "imad"),
        ("IADD3.X", "int"),
        ("FMNMX", "int"),
        ("MUFU.EX2", "sfu"),
        ("SHFL.BFLY", "lsu"),
        ("HMMA.16816.F32.BF16", "tensor"),
        ("HGMMA.64x256x16.F32", "tensor"),
        ("UIADD3", "other"),
        ("BAR.SYNC", "other"),
    ],
)
def test_an_instruction_is_counted_by_its_pipe(code, kind):
    assert sass_flow.kind_of(sass_flow.Instruction(code, "")) == kind
