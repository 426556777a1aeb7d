# SPDX-License-Identifier: MIT
"""`make setup LOCAL=1`: what is unpacked into .deps is whole, and it is what every build uses."""

import filecmp
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "local_test"
SETUP = ROOT / "scripts" / "setup.sh"
# What the packages of setup.sh put into the system's folders.
HEADERS = re.compile(r"gtest|gmock|fmt|nlohmann|CLI|toml\+\+|boost|.*blas.*")
INCLUDED = ["gtest/gtest.h", "fmt/format.h", "nlohmann/json.hpp", "CLI/CLI.hpp", "toml++/toml.h"]
LIBRARIES = re.compile(r"lib(gtest|gmock|fmt|tomlplusplus|(open|c)?blas)")


def run(*command: str | Path, cwd: Path = ROOT, **variables: str | Path) -> subprocess.CompletedProcess:
    """Runs a command with these variables; output and errors come together."""
    ours = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "LOCAL", "SETUP_ROOT", "SETUP_DEPS")
    environment = {k: v for k, v in os.environ.items() if k not in ours}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | {k: str(v) for k, v in variables.items()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def skip_without_packages(finished: subprocess.CompletedProcess) -> None:
    for reason in ("could not be downloaded", "not Debian-like"):
        if reason in finished.stdout:
            pytest.skip(finished.stdout.strip().splitlines()[-1])


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


# ---- with the real packages ------------------------------------------------------------------------------------------


def mirror(source: Path, target: Path, hidden: re.Pattern) -> None:
    """Links to all in a folder but what matches."""
    target.mkdir(parents=True)
    for entry in source.iterdir():
        if not hidden.match(entry.name):
            (target / entry.name).symlink_to(entry)


@pytest.fixture(scope="module")
def hidden(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A root whose include folder lacks what the packages bring; /usr/local is not there at all. Removed after the
    last test of this file, with all else in WORK, if none has failed."""
    root = WORK / "root"
    shutil.rmtree(root, ignore_errors=True)
    machine = subprocess.run(["g++", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
    include = Path("/usr/include")
    mirror(include, root / "usr/include", re.compile(f"{HEADERS.pattern}|{machine or 'no such folder'}"))
    if machine:
        mirror(include / machine, root / "usr/include" / machine, HEADERS)
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text("ID=debian\n")
    for folder in ("lib", "lib64"):
        if Path("/", folder).exists():
            (root / folder).symlink_to(Path("/", folder))
    (root / "usr/lib").symlink_to("/usr/lib")
    yield root
    if not request.session.testsfailed:
        shutil.rmtree(WORK)


@pytest.fixture(scope="module")
def tree(hidden: Path) -> Path:
    """A copy of the checkout after `make setup LOCAL=1`."""
    tree = WORK / "tree"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    files = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    shutil.rmtree(tree, ignore_errors=True)
    for name in files:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    # It compiles where the system's headers are hidden, and notes the libraries that the linker takes. Without
    # optimisation, because nothing is timed.
    program(
        tree / "bin" / "cxx",
        f"""#!/bin/sh
case " $* " in
*' -c '*|*' c++-header '*) set -- "$@" -O0 ;;
*' -o '*) exec g++ --sysroot={hidden} "$@" -Wl,--trace >>build/linked ;;
esac
exec g++ --sysroot={hidden} "$@"
""",
    )
    finished = run("make", "setup", "LOCAL=1", cwd=tree, SETUP_ROOT=hidden)
    skip_without_packages(finished)
    assert finished.returncode == 0, finished.stdout
    return tree


def test_the_compiler_of_these_tests_does_not_see_the_systems_copies(hidden, tree, tmp_path):
    for header in [*INCLUDED, "cblas.h"]:
        (tmp_path / "one.cpp").write_text(f"#include <{header}>\n")
        finished = run(tree / "bin/cxx", "-c", tmp_path / "one.cpp", "-o", tmp_path / "one.o")
        assert "No such file" in finished.stdout, header
    check = run(tree / "scripts/setup.sh", "--check", SETUP_ROOT=hidden, SETUP_DEPS=tmp_path)
    assert check.stdout.startswith(f"missing: {' '.join(HEADER_OF)}.")


def same_headers(tree: Path) -> bool:
    """Whether .deps holds, byte for byte, the headers that the objects of this checkout were compiled with."""
    theirs = tree / ".deps/usr/include"
    ours = ROOT / ".deps/usr/include"
    if not ours.is_dir():
        ours = Path("/usr/include")
    files = [path.relative_to(theirs) for path in theirs.glob("*/**/*") if path.is_file()]
    return all((ours / file).is_file() and filecmp.cmp(theirs / file, ours / file, shallow=False) for file in files)


def reuse_objects(tree: Path, compiler: str) -> None:
    """Takes objects of this checkout where they are what the copy would compile, for a minute's sake. The first file
    that includes a header of a package is compiled in any case, and so is the check of lesson 01.
    """
    if not same_headers(tree):
        return
    folders_of_checker = [
        path for path in (ROOT / "checker").iterdir() if path.is_dir() and path.name not in ("simt", "tests")
    ]
    folders = [*folders_of_checker, ROOT / "lessons/gpt2", ROOT / "lessons/gpt2/check"]
    sources = sorted(s for folder in folders for s in folder.glob("*.cpp") if not s.stem.endswith("main"))
    anew = {
        next((source for source in sources if f"#include <{header}>" in source.read_text()), None)
        for header in INCLUDED
    }
    objects = [Path("build/obj", source.relative_to(ROOT)).with_suffix(".o") for source in set(sources) - anew]
    names = {str(source.relative_to(ROOT)) for source in anew if source}
    for rules in (ROOT / "build/obj/groups").glob("*.d"):
        if names.isdisjoint(rules.read_text().split()):
            objects.append(rules.relative_to(ROOT).with_suffix(".o"))
    for compiled in objects:
        if (ROOT / compiled).is_file():
            (tree / compiled).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / compiled, tree / compiled)
    # make compiles anew what is older than this file.
    finished = run("make", "build/flags", compiler, cwd=tree)
    assert finished.returncode == 0, finished.stdout
    os.utime(tree / "build/flags", (0, 0))


def loaded(binary: Path) -> dict[str, str]:
    """The shared libraries of a program: name and file."""
    listed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"(\S+)\.so\S* => (\S+)", listed))


def test_lesson_01_builds_and_passes_with_the_packages_of_deps(hidden, tree):
    shutil.rmtree(tree / "build", ignore_errors=True)
    arguments = [f"CXX={tree}/bin/cxx", "SOLUTION=1", "check_options=--subject solutions --no-timing"]
    reuse_objects(tree, arguments[0])
    finished = run("make", "check-lesson01", *arguments, cwd=tree, SETUP_ROOT=hidden)
    assert finished.returncode == 0, finished.stdout
    assert "\nall ok  4 ops" in finished.stdout
    linked = (tree / "build/linked").read_text()
    for library in ("libgtest.a", "libfmt.so"):
        assert f".deps/usr/lib/{library}" in linked, linked
    system = [line for line in linked.splitlines() if LIBRARIES.match(Path(line.strip("()")).name)]
    assert all(".deps/usr/lib/" in line for line in system), system
    assert (tree / ".deps/usr/lib") in Path(loaded(tree / "build/check/lesson01")["libfmt"]).resolve().parents


def test_openblas_and_what_it_needs_come_from_deps(hidden, tree):
    (tree / "blas.cpp").write_text(
        """#include <cblas.h>
int main() {
    const float x[] = {1, 2, 3};
    return cblas_sdot(3, x, 1, x, 1) == 14.0F ? 0 : 1;
}
"""
    )
    (tree / "build/check").mkdir(parents=True, exist_ok=True)
    rule = "build/check/blas: blas.cpp ; $(CXX) $(harness_flags) $< $(deps_lib) -lopenblas -o $@"
    (tree / "build/check/blas").unlink(missing_ok=True)
    finished = run("make", f"--eval={rule}", "build/check/blas", f"CXX={tree}/bin/cxx", cwd=tree, SETUP_ROOT=hidden)
    assert finished.returncode == 0, finished.stdout
    libraries = loaded(tree / "build/check/blas")
    for name in ("libopenblas", "libgfortran"):
        assert (tree / ".deps/usr/lib") in Path(libraries[name]).resolve().parents, libraries
    assert run(tree / "build/check/blas").returncode == 0


def test_doctor_accepts_what_is_in_deps(hidden, tree):
    finished = run(tree / "scripts/doctor.sh", SETUP_ROOT=hidden)
    assert finished.returncode == 0, finished.stdout
    assert re.search(r"libopenblas +ok", finished.stdout)


def test_what_a_gpu_build_needs_is_under_10_mb():
    deps = WORK / "gpu"
    shutil.rmtree(deps, ignore_errors=True)
    finished = run(SETUP, "--local", "--gpu", SETUP_DEPS=deps)
    skip_without_packages(finished)
    assert finished.returncode == 0, finished.stdout
    files = [path for path in deps.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < 10e6
    names = {str(path.relative_to(deps / "usr")) for path in deps.rglob("*")}
    assert {"include/gtest/gtest.h", "lib/libgtest.a", "include/fmt/core.h", "lib/libfmt.so"} <= names
    assert not [name for name in names if re.search("blas|boost", name)]
    check = run(SETUP, "--check", "--gpu", SETUP_DEPS=deps, SETUP_ROOT=deps)
    assert (check.returncode, check.stdout) == (0, "")


# ---- with small packages made here -----------------------------------------------------------------------------------

HEADER_OF = {
    "libgtest-dev": "include/gtest/gtest.h",
    "libopenblas-dev": "include/machine-linux-gnu/openblas-serial/cblas.h",
    "libboost-context-dev": "include/boost/context/detail/fcontext.hpp",
    "nlohmann-json3-dev": "include/nlohmann/json.hpp",
    "libcli11-dev": "include/CLI/CLI.hpp",
    "libfmt-dev": "include/fmt/core.h",
    "libtomlplusplus-dev": "include/toml++/toml.h",
}


@pytest.fixture
def system(tmp_path: Path) -> dict[str, str | Path]:
    """A Debian-like root without headers, and an apt-get that serves one small package for each name."""
    if not shutil.which("dpkg-deb"):
        pytest.skip("dpkg-deb is not here")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text("ID=debian\n")
    for name, header in HEADER_OF.items():
        built = tmp_path / "packages" / name
        (built / "usr" / header).parent.mkdir(parents=True)
        (built / "usr" / header).write_text("// a header\n")
        (built / "usr/share/doc" / name).mkdir(parents=True)
        (built / "usr/share/doc" / name / "copyright").write_text("free\n")
        (built / "DEBIAN").mkdir()
        (built / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: T <t@example.org>\nDescription: test\n"
        )
        subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", built, f"{built}.deb"], check=True)
    program(
        tmp_path / "bin/apt-get",
        f"""#!/bin/sh
echo "$*" >>'{tmp_path}/calls'
case " $* " in
*" update "*) exit 0 ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    --simulate) mode=simulate ;;
    download) mode=download ;;
    Dir::State::lists=*) lists=yes ;;
    *-dev) [ $mode = simulate ] && echo "Inst $1 (1 Test)" || cp '{tmp_path}'/packages/"$1".deb . ;;
    esac
    shift
done
[ ! -e '{tmp_path}/no-lists' ] || [ "$lists" ] || exit 100
""",
    )
    return {
        "SETUP_ROOT": tmp_path,
        "SETUP_DEPS": tmp_path / "deps",
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
    }


def test_unpacks_all_packages_and_then_does_nothing(system, tmp_path):
    first = run(SETUP, "--local", **system)
    assert first.returncode == 0, first.stdout
    assert "reads command lines" in first.stdout
    assert (tmp_path / "deps/usr/include/cblas.h").is_file()
    assert [path.name for path in (tmp_path / "deps").iterdir()] == ["usr"]
    assert run(SETUP, "--check", **system).returncode == 0
    second = run(SETUP, "--local", **system)
    assert (second.returncode, second.stdout) == (0, "")


def test_takes_package_lists_of_its_own_where_the_systems_are_missing(system, tmp_path):
    (tmp_path / "no-lists").touch()
    finished = run(SETUP, "--local", **system)
    assert finished.returncode == 0, finished.stdout
    assert re.search(r"Dir::State::lists=\S*/deps/new/lists update", (tmp_path / "calls").read_text())


def test_a_run_that_was_killed_leaves_nothing_that_counts_and_the_next_one_starts_anew(system, tmp_path):
    program(
        tmp_path / "bin/dpkg-deb",
        f"""#!/bin/sh
[ -e '{tmp_path}/second' ] && kill -9 $PPID
touch '{tmp_path}/second'
exec {shutil.which("dpkg-deb")} "$@"
""",
    )
    assert run(SETUP, "--local", **system).returncode == -9
    assert (tmp_path / "deps/new/tree/usr").is_dir()
    assert not (tmp_path / "deps/usr").exists()
    check = run(SETUP, "--check", **system)
    assert check.returncode == 1
    assert "make setup LOCAL=1" in check.stdout
    (tmp_path / "bin/dpkg-deb").unlink()
    assert run(SETUP, "--local", **system).returncode == 0
    assert run(SETUP, "--check", **system).returncode == 0
    assert not (tmp_path / "deps/new").exists()


def test_what_a_gpu_build_needs_is_completed_when_all_is_wanted(system, tmp_path):
    assert run(SETUP, "--local", "--gpu", **system).returncode == 0
    assert not (tmp_path / "deps/usr/include/cblas.h").exists()
    assert run(SETUP, "--check", "--gpu", **system).returncode == 0
    assert run(SETUP, "--check", **system).stdout.startswith("missing: libopenblas-dev libboost-context-dev.")
    assert run(SETUP, "--local", **system).returncode == 0
    assert run(SETUP, "--check", **system).returncode == 0


@pytest.mark.parametrize(
    ("os_release", "tools", "says"),
    [
        ("ID=fedora\n", ["g++"], "not Debian-like"),
        ("ID=debian\n", [], "g++ is not there"),
    ],
)
def test_where_it_cannot_be_done_one_line_says_why(system, tmp_path, os_release, tools, says):
    (tmp_path / "etc/os-release").write_text(os_release)
    (tmp_path / "few").mkdir()
    for tool in [*tools, "apt-get", "sh", "cat", "sed", "grep", "dirname"]:
        (tmp_path / "few" / tool).symlink_to(shutil.which(tool, path=system["PATH"]))
    finished = run(shutil.which("sh"), SETUP, "--local", **system | {"PATH": tmp_path / "few"})
    assert finished.returncode == 1
    assert says in finished.stdout
    assert finished.stdout.count("\n") == 1
