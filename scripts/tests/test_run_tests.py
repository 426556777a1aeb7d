# SPDX-License-Identifier: MIT
"""The closing line counts what really ran."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN_TESTS = Path(__file__).resolve().parents[1] / "run_tests.py"
XML = "<testsuites><testsuite><testcase name='a'/>{}</testsuite></testsuites>"
FAILED = "<testcase name='b'><failure/><failure/></testcase>"
SKIPPED = "<testcase name='c'><skipped/></testcase>"
DISABLED = "<testcase name='d' status='notrun'/>"


def runner(folder: Path, xml: str | None, status: int) -> Path:
    """A program that behaves like a GoogleTest one: writes its XML where it is told to, and exits."""
    program = folder / "runner"
    write = f"""for a; do case $a in --gtest_output=xml:*) echo "{xml}" > "${{a#*:}}";; esac; done""" if xml else ":"
    program.write_text(f"#!/bin/sh\n{write}\nexit {status}\n")
    program.chmod(0o755)
    return program


def run(folder: Path, xml: str | None, status: int) -> tuple[str, int]:
    command = [sys.executable, str(RUN_TESTS), f"suite={runner(folder, xml, status)}"]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return finished.stdout.splitlines()[-1], finished.returncode


@pytest.mark.parametrize(
    ("xml", "status", "closing"),
    [
        (XML.format(""), 0, "1 passed, 0 failed, 0 skipped"),
        (XML.format(SKIPPED + DISABLED), 0, "1 passed, 0 failed, 2 skipped"),
        (XML.format(FAILED), 1, "1 passed, 1 failed, 0 skipped"),
        (XML.format(""), 139, "1 passed, 1 failed, 0 skipped"),  # crashed after its XML was written
        (None, 134, "0 passed, 1 failed, 0 skipped"),  # crashed before
        (None, 0, "0 passed, 1 failed, 0 skipped"),  # ran nothing
        ("<testsuites/>", 0, "0 passed, 0 failed, 0 skipped"),
    ],
)
def test_closing_line_sums_the_runners_xml(tmp_path, xml, status, closing):
    assert run(tmp_path, xml, status)[0] == closing


@pytest.mark.parametrize(
    ("xml", "status", "exit_status"),
    [
        (XML.format(""), 0, 0),
        (XML.format(FAILED), 1, 1),
        (None, 134, 1),
        ("<testsuites/>", 0, 1),
    ],
)
def test_fails_when_anything_failed_or_nothing_ran(tmp_path, xml, status, exit_status):
    assert run(tmp_path, xml, status)[1] == exit_status


def test_goes_on_after_a_failing_suite(tmp_path):
    bad, good = tmp_path / "bad", tmp_path / "good"
    bad.mkdir()
    good.mkdir()
    suites = [f"bad={runner(bad, None, 1)}", f"good={runner(good, XML.format(''), 0)}"]
    command = [sys.executable, str(RUN_TESTS), *suites]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_pythons_tests_run_beside_the_others(tmp_path):
    """Each of the two waits for the other one."""
    wait = "import pathlib, time\nend = time.monotonic() + 30\n"
    wait += "while not pathlib.Path('{}').exists() and time.monotonic() < end:\n    time.sleep(0.01)\n"
    both = "import pathlib\npathlib.Path('{}').touch()\n" + wait
    (tmp_path / "tests").mkdir()
    text = f"def test_it():\n    exec({both.format('python', 'other')!r})\n    assert pathlib.Path('other').exists()\n"
    (tmp_path / "tests/test_it.py").write_text(f"import pathlib\n\n\n{text}")
    program = runner(tmp_path, XML.format(""), 0)
    program.write_text(f"""{program.read_text().replace("exit 0", "")}
{sys.executable} -c "{both.format("other", "python")}"
[ -e python ]
""")
    command = [sys.executable, str(RUN_TESTS), f"suite={program}", "python=tests"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.stdout.splitlines()[-1] == "2 passed, 0 failed, 0 skipped", finished.stdout


def test_what_pythons_tests_import_is_compiled_once(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/imported.py").touch()
    (tmp_path / "tests/test_it.py").write_text("import imported\n\n\ndef test_it():\n    assert imported\n")
    line, closing = suite_line(tmp_path, "python=tests", PYTHONDONTWRITEBYTECODE="1")
    assert closing == "1 passed, 0 failed, 0 skipped", line
    assert list(tmp_path.glob("tests/__pycache__/imported.*.pyc"))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_what_is_left_after_pythons_tests_runs_in_twos(tmp_path):
    """Each of the two waits for the other one, and both for Python's."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text("import pathlib\n\n\ndef test_it():\n    pathlib.Path('done').touch()\n")
    suites = []
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / name).mkdir()
        program = runner(tmp_path / name, XML.format(""), 0)
        wait = f"i=0; until [ -e {other}/begun ] && [ -e done ] || [ $((i += 1)) -gt 600 ]; do sleep 0.05; done"
        program.write_text(f"{program.read_text().replace('exit 0', '')}\ntouch {name}/begun\n{wait}\n[ $i -le 600 ]\n")
        suites.append(f"{name}={program}")
    command = [sys.executable, str(RUN_TESTS), *suites, "python=tests"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.stdout.splitlines()[-1] == "3 passed, 0 failed, 0 skipped", finished.stdout


def suite_line(folder: Path, argument: str, **environment: str) -> tuple[str, str]:
    """The suite's line and the closing one."""
    done = subprocess.run(
        [sys.executable, str(RUN_TESTS), argument],
        cwd=folder,
        env={**os.environ, "SOL_FRESH": "", **environment},  # also under make test-all, which keeps nothing
        capture_output=True,
        text=True,
        check=False,
    )
    suite, *_, closing = done.stdout.splitlines()[-3 if "did not run again" in done.stdout else -2 :]
    return suite, closing


def test_a_suite_is_run_again_once_anything_that_it_reads_has_changed(tmp_path):
    program = runner(tmp_path, XML.format(""), 0)
    (tmp_path / "read.txt").write_text("a")
    (tmp_path / "data/deep").mkdir(parents=True)
    (tmp_path / "data/deep/one").write_text("1")
    argument = f"suite={program}:read.txt,data,absent"

    def unchanged(**environment: str) -> bool:
        suite, closing = suite_line(tmp_path, argument, **environment)
        assert closing == "1 passed, 0 failed, 0 skipped"
        return suite.endswith("unchanged")

    assert not unchanged()
    assert unchanged()
    assert not unchanged(SOL_FRESH="1")
    for change in (
        lambda: (tmp_path / "read.txt").write_text("b"),
        lambda: (tmp_path / "data/deep/one").write_text("2"),
        lambda: (tmp_path / "data/deep/one").rename(tmp_path / "data/two"),
        lambda: (tmp_path / "data/more").write_text(""),
        lambda: (tmp_path / "data/more").unlink(),
        lambda: (tmp_path / "absent").write_text(""),
        lambda: program.write_text(program.read_text() + "# changed\n"),
        lambda: (tmp_path / "build/test-results/suite.xml").unlink(),
    ):
        assert unchanged()
        change()
        assert not unchanged(), change
    assert unchanged()


def test_pythons_tests_are_run_again_once_one_of_them_or_what_they_read_has_changed(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"test_{name}.py").write_text("def test_it():\n    assert open('read').read()\n")
    (tmp_path / "read").write_text("1")

    def unchanged() -> bool:
        suite, closing = suite_line(tmp_path, "python-x=test_a.py,test_b.py:read")
        assert closing == "2 passed, 0 failed, 0 skipped"
        return suite.endswith("unchanged")

    for file in ("read", "test_a.py", "test_b.py"):
        assert not unchanged(), file
        assert unchanged(), file
        (tmp_path / file).write_text((tmp_path / file).read_text() + "\n")
    assert not unchanged()
    (tmp_path / "read").write_text("")
    for _ in range(2):
        assert suite_line(tmp_path, "python-x=test_a.py,test_b.py:read")[1] == "0 passed, 2 failed, 0 skipped"


def test_a_suite_may_be_a_part_of_its_tests_which_is_kept_by_itself(tmp_path):
    (tmp_path / "test_a.py").write_text("def test_one():\n    pass\n\n\ndef test_two():\n    assert False\n")
    (tmp_path / "read").write_text("1")
    assert suite_line(tmp_path, "python-x=test_a.py@one:read")[1] == "1 passed, 0 failed, 0 skipped"
    assert suite_line(tmp_path, "python-x=test_a.py@not one:read")[1] == "0 passed, 1 failed, 0 skipped"
    assert suite_line(tmp_path, "python-x=test_a.py@three:read")[1] == "0 passed, 1 failed, 0 skipped"
    program = runner(tmp_path, XML.format(""), 0)
    program.write_text(program.read_text().replace("#!/bin/sh", '#!/bin/sh\necho "$@" >asked'))
    suite_line(tmp_path, f"suite={program}@-A.*;B.c")
    assert "--gtest_filter=-A.*:B.c\n" in (tmp_path / "asked").read_text()


def test_a_part_without_a_test_fails(tmp_path):
    program = runner(tmp_path, "<testsuites/>", 0)
    assert suite_line(tmp_path, f"suite={program}@None.*")[1] == "0 passed, 1 failed, 0 skipped"


def test_the_line_says_how_many_verdicts_a_runner_has_kept(tmp_path):
    kept = "<testcase name='b'><properties><property name='kept' value='unchanged'/></properties></testcase>"
    command = [sys.executable, str(RUN_TESTS), f"suite={runner(tmp_path, XML.format(kept), 0)}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    suite, note, closing = done.stdout.splitlines()
    assert suite.endswith(" s, 1 unchanged")
    assert note == "1 of those that passed did not run again: nothing that they read has changed"
    assert closing == "2 passed, 0 failed, 0 skipped"


@pytest.mark.parametrize(("xml", "status"), [(XML.format(FAILED), 1), (XML.format(SKIPPED), 0), ("<testsuites/>", 0)])
def test_a_suite_that_failed_or_skipped_or_ran_nothing_is_run_again(tmp_path, xml, status):
    program = runner(tmp_path, xml, status)
    for _ in range(2):
        suite, _ = suite_line(tmp_path, f"suite={program}:read.txt")
        assert not suite.endswith("unchanged")


def test_a_suite_whose_inputs_are_not_named_always_runs(tmp_path):
    program = runner(tmp_path, XML.format(""), 0)
    for _ in range(2):
        suite, _ = suite_line(tmp_path, f"suite={program}")
        assert not suite.endswith("unchanged")


def test_an_old_xml_does_not_count_for_a_runner_that_crashes(tmp_path):
    assert run(tmp_path, XML.format(""), 0)[0] == "1 passed, 0 failed, 0 skipped"
    assert run(tmp_path, None, 139)[0] == "0 passed, 1 failed, 0 skipped"
