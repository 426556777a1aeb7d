# SPDX-License-Identifier: MIT
"""The count of public programs, on made-up suites: each kind of verdict, what is put aside, what is not run again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reference.gpu.tools import ToolError
from reference.public_programs import __main__ as count
from reference.public_programs import judge, needs, suites

ROOT = Path(__file__).parents[3]

SQUARE = """
#include <cstdio>
#include <cstdlib>
__global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }
int main(int argc, char** argv) {
  int h[4] = {1, 2, 3, 4}, *d;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  square<<<1, 4>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  FREE
  printf(h[3] == EXPECTED ? "Test passed" : "Test failed");
  return h[3] == EXPECTED ? 0 : 1;
}
"""
SLOW = """
#include <cstdlib>
#include <cstring>
int main(int argc, char** argv) {
  volatile int i = 0;
  while (argc < 2) i = i + 1;
}
"""
TABLE = """
seconds = 0.5
[suite.samples]
from = "nowhere"
commit = "0123456"
cmake = "Samples"
[suite.others]
from = "nowhere"
commit = "89abcde"
folders = "cuda"
no_programs = ["util"]
[[program]]
suite = "samples"
name = "leaking"
says = ["Test passed"]
true = [{ kind = "leak", at = ["leaking.cu:7"], why = "d is never freed" }]
[[program]]
suite = "samples"
name = "quiet"
true = [{ kind = "leak", at = ["quiet.cu:7"], why = "d is never freed" }]
[[program]]
suite = "samples"
name = "slow_but_small"
smaller = { arguments = ["once"] }
[[program]]
suite = "others"
name = "in_c"
folder = "cuda/in_c"
inside = "src"
small = true
sources = ["main.c", "../kernel.cu"]
"""


def program(samples: Path, name: str, text: str, sources: str = "") -> None:
    folder = samples / name
    folder.mkdir(parents=True)
    (folder / f"{name}.cu").write_text(text)
    lists = f"# add_executable(other other.cu)\nproject({name})\nadd_executable({name} {sources or name + '.cu'})\n"
    (folder / "CMakeLists.txt").write_text(lists)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("public")
    samples = root / "samples/Samples"
    square = SQUARE.replace("EXPECTED", "16")
    program(samples, "right", square.replace("FREE", "cudaFree(d);"))
    program(samples, "leaking", square.replace("FREE", ""))
    program(samples, "quiet", square.replace("FREE", "").replace("Test passed", ""))
    program(samples, "leaking_unknown", square.replace("FREE", ""))
    program(samples, "wrong", SQUARE.replace("EXPECTED", "17").replace("FREE", "cudaFree(d);"))
    program(samples, "slow", SLOW)
    program(samples, "slow_but_small", SLOW)
    program(samples, "with_thrust", "#include <thrust/sort.h>\nint main() { int a[2] = {}; thrust::sort(a, a + 2); }\n")
    program(samples, "misspelt", "int main() { return cudaFre(nullptr); }\n")
    (samples / "CMakeLists.txt").write_text("add_subdirectory(right)\n")
    in_c = root / "others/cuda/in_c"
    (in_c / "src").mkdir(parents=True)
    (in_c / "src/main.c").write_text("void launch(void);\nint main(void) { launch(); return 0; }\n")
    (in_c / "kernel.cu").write_text(
        '__global__ void nothing() {}\nextern "C" void launch() { nothing<<<1, 1>>>(); cudaDeviceSynchronize(); }\n'
    )
    (root / "others/cuda/util").mkdir()
    (root / "programs.toml").write_text(TABLE)
    return root


def counted(root: Path, said: list[str] | None = None) -> dict[str, count.Row]:
    seconds, found = suites.read(root, root / "programs.toml")
    with pytest.MonkeyPatch.context() as patch:
        if said is not None:
            patch.setattr(count, "say", said.append)
        patch.chdir(root)
        rows = count.counted(found, judge.the_device(ROOT), Path("kept"), seconds, [])
    (root / "block.md").write_text(count.generated(rows, found, seconds))
    return {row.program.name: row for row in rows}


def test_each_program_gets_its_verdict_and_nothing_is_done_twice(world: Path) -> None:
    said: list[str] = []
    rows = counted(world, said)
    right = {name: row.verdict.size for name, row in rows.items() if row.verdict.right}
    assert right == {"right": "full", "leaking": "full", "slow_but_small": "smaller", "in_c": "smaller"}
    reasons = {name: row.verdict.reason for name, row in rows.items() if not row.verdict.right}
    assert reasons == {
        "leaking_unknown": "`leak` at leaking_unknown.cu:7, which is not known to be true",
        "misspelt": reasons["misspelt"],
        "quiet": "has findings, and prints nothing that shows its success",
        "slow": "more than 0.5 s",
        "with_thrust": reasons["with_thrust"],
        "wrong": "exit status 1",
    }
    assert reasons["misspelt"].startswith("does not build: ")
    assert "cudaFre" in reasons["misspelt"]
    assert {name for name, row in rows.items() if row.needs} == {"with_thrust"}
    block = (world / "block.md").read_text()
    assert "| samples | 3 of 9 (33%) | 3 of 8 (38%) | 2 | 1 |" in block
    assert "| all | 4 of 10 (40%) | 4 of 9 (44%) | 2 | 2 |" in block
    assert "Right at a smaller size: in_c, slow_but_small." in block
    assert "| slow | more than 0.5 s |" in block
    assert "| Thrust | 1 | with_thrust |" in block
    assert "builds wrong" in " ".join(said)

    said.clear()
    assert counted(world, said)["wrong"].verdict.reason == "exit status 1"
    assert not [text for text in said if "builds" in text or "runs" in text]

    source = world / "samples/Samples/wrong/wrong.cu"
    source.write_text(source.read_text().replace("17", "16"))
    said.clear()
    assert counted(world, said)["wrong"].verdict.right
    assert [text.split("] ")[1] for text in said if "] builds" in text] == ["builds wrong"]


def test_a_folder_without_a_row_is_refused(world: Path) -> None:
    new = world / "others/cuda/new"
    new.mkdir()
    with pytest.raises(ToolError, match="have other programs: new"):
        suites.read(world, world / "programs.toml")
    new.rmdir()


def test_a_row_without_a_program_is_refused(world: Path) -> None:
    table = world / "more.toml"
    table.write_text(TABLE + '[[program]]\nsuite = "samples"\nname = "gone"\n')
    with pytest.raises(ToolError, match="names gone"):
        suites.read(world, table)


def test_the_reason_says_what_a_program_did_not_print(world: Path) -> None:
    facts = {"ended": 0, "findings": [], "output": "Result = FAIL", "result": ""}
    assert judge.judge_call(facts, suites.Size(says=("PASS",))) == "does not say 'PASS'"
    assert judge.judge_call({**facts, "ended": 2}, suites.Size()) == "waives itself"
    assert judge.judge_call({**facts, "ended": -11}, suites.Size()) == "ended by SIGSEGV"
    assert judge.judge_call({**facts, "result": "wrong result: 3"}, suites.Size()) == "wrong result: 3"


def test_launches_are_seen_in_functions_for_the_device_only() -> None:
    host = "__global__ void k() { if (x) { y(); } }\nvoid host() { k<<<1, 1>>>(); }"
    device = "__global__ void k(int n);\n__global__ void k(int n)\n{ for (;;) { } k<<<1, 1>>>(n); }"
    assert not needs.launches_inside(host)
    assert needs.launches_inside(device)


def test_names_in_comments_and_strings_are_no_needs() -> None:
    code = needs.without_comments('a; // cuInit(0)\n/* curandState */ puts("thrust::sort // x"); b;')
    assert "cuInit" not in code
    assert "curand" not in code
    assert "thrust" not in code
    assert "b;" in code
    assert needs.includes('// #include <curand.h>\n#  include "thrust/sort.h"\n') == ["thrust/sort.h"]


def test_needs_are_found_in_what_a_source_includes(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text('#include "b.cuh"\n')
    (tmp_path / "b.cuh").write_text("cublasDtrsm(handle); cublasSgemm(handle); cublasCreate(&handle);\n")
    assert needs.needs([tmp_path / "a.cu"], tmp_path, ROOT / "checker/simt/include") == {needs.LIBRARIES: "cublasDtrsm"}


def test_every_program_of_the_table_has_what_it_names() -> None:
    table = suites.tomllib.loads(suites.TABLE.read_text())
    known = {"suite", "name", "folder", "inside", "sources", "options", "more_options", "arguments", "inputs", "result"}
    known |= {"says", "true", "small", "smaller", "needs", "not_needs", "reason"}
    for row in table["program"]:
        assert row["suite"] in table["suite"]
        for size in (row, row.get("smaller", {})):
            assert size.keys() <= known, row["name"]
            if "inputs" in size:
                judge.function_of(judge.inputs, size["inputs"])
            if "result" in size:
                judge.function_of(judge.results, size["result"])
        assert {*row.get("needs", {}), *row.get("not_needs", {})} <= set(needs.ALL), row["name"]


def test_inputs_are_made_where_programs_read_them(tmp_path: Path) -> None:
    where = tmp_path / "suite/cuda/folder"
    where.mkdir(parents=True)
    for name in ("bfs", "b_tree", "hotspot", "nn", "myocyte", "huffman", "mesh", "dwt2d"):
        judge.function_of(judge.inputs, name)(where)
    assert (tmp_path / "suite/data/dwt2d/192.bmp").stat().st_size == 192 * 192 * 3
    assert len((where / "storms.db").read_text().splitlines()[0]) == 48
    assert (where / "graph.txt").read_text().split()[0] == "4096"


def test_a_wrong_result_is_seen(tmp_path: Path) -> None:
    costs = "\n".join(f"{node}) cost:{0}" for node in range(judge.inputs.GRAPH_NODES))
    (tmp_path / "result.txt").write_text(costs)
    (tmp_path / "output.txt").write_text("\n".join(f"{cell}\t330" for cell in range(judge.inputs.GRID**2)))
    (tmp_path / "density").write_text("960 960 " + "1.5 " * judge.inputs.MESH)
    row = "1 2 3 \n"
    wrong = {
        "bfs": "",
        "hotspot": "",
        "hotspot3d": "Accuracy: 1e-2",
        "lud": "dismatch",
        "nn": "Distance=0.1 Distance=0.2 Distance=0.3 Distance=0.4 Distance=0.5",
        "pathfinder": row * 102,
        "uniform_flow": "",
    }
    for name, output in wrong.items():
        with pytest.raises(AssertionError):
            judge.function_of(judge.results, name)(tmp_path, output)
    judge.function_of(judge.results, "pathfinder")(tmp_path, row * 101 + "100 101 103 \n")


def test_a_missing_suite_is_said_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reference.public_programs", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("public-programs: ")
    assert "clone it" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_tensor_cores_are_a_need_for_integers_and_doubles_only(tmp_path: Path) -> None:
    source = tmp_path / "a.cu"
    for element, need in {"half": {}, "double": needs.TENSOR_CORES, "uint8_t": needs.TENSOR_CORES}.items():
        source.write_text(f"#include <mma.h>\nwmma::fragment<wmma::matrix_a, M, N, K, {element}, wmma::row_major> a;\n")
        assert set(needs.needs([source], tmp_path, ROOT / "checker/simt/include")) == ({need} if need else set())
