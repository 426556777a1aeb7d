# SPDX-License-Identifier: MIT
"""gdb in one CUDA thread: `gdb -x checker/simt/debug.py --args PROGRAM`, with SIMT_STOP=KERNEL:BLOCK:THREAD.

The program's kernels are compiled with `simtcc --for-debugger`: the body of a kernel is a function of its name, which
the runtime calls. A backtrace ends at the body here.
"""

import contextlib
import re

import gdb
from gdb.FrameDecorator import FrameDecorator

RUNTIME = re.compile(r"simt::(call_with_bits|start_thread)\b")
BODY = re.compile(r"(?:(?:\(anonymous namespace\)::)?([^(]+)\(.*\)::)?simt_thread::(\w+)")  # the first for a template


def kernel_of(frame):
    """The kernel whose body the frame is, or None."""
    match = BODY.match(frame.name() or "")
    return match and (match[1] or match[2])


def text_at(variable):
    return gdb.parse_and_eval(f"*(char **) &{variable}").string()


class KernelFrame(FrameDecorator):
    """The body, without the scopes in which it lies."""

    def function(self):
        return kernel_of(self.inferior_frame())


def index(of):
    """blockIdx or threadIdx; gdb knows no type of theirs in a file that does not use them."""
    return [f"((unsigned *) &{of})[{axis}]" for axis in range(3)]


def numbers(of):
    return [int(gdb.parse_and_eval(axis)) for axis in index(of)]


class BelowTheLaunch:
    """Ends a backtrace at the kernel's body: what follows is the runtime."""

    name = "simt"
    priority = 100
    enabled = True

    def __init__(self):
        gdb.current_progspace().frame_filters[self.name] = self

    def filter(self, frames):
        for decorated in frames:
            if kernel_of(decorated.inferior_frame()):
                yield KernelFrame(decorated)
                return
            yield decorated


class Here(gdb.Command):
    """Say which thread of which block of which launch this is."""

    def __init__(self):
        super().__init__("here", gdb.COMMAND_STATUS)

    def invoke(self, _argument, _from_tty):
        block, thread = tuple(numbers("blockIdx")), tuple(numbers("threadIdx"))
        print(f"block {block}, thread {thread} of {text_at('simt_focus_launch')}")


class At(gdb.Command):
    """Break at a line in this thread only: at 24, at softmax.cu:24."""

    def __init__(self):
        super().__init__("at", gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_LOCATION)

    def invoke(self, argument, _from_tty):
        same = " && ".join(
            f"{axis} == {number}"
            for of in ("blockIdx", "threadIdx")
            for axis, number in zip(index(of), numbers(of), strict=True)
        )
        gdb.Breakpoint(argument).condition = same


def say_at_its_end(event):
    """Tells a user who steps past the kernel's last line that the runtime's code follows."""
    if isinstance(event, gdb.BreakpointEvent):
        return
    with contextlib.suppress(gdb.error, AttributeError):
        frame = gdb.newest_frame()
        if RUNTIME.match(frame.name() or ""):
            print("the thread is at its end; continue lets the others run")


def optional(command):
    """Executes a command that an older gdb may not know."""
    with contextlib.suppress(gdb.error):
        gdb.execute(command, to_string=True)


def start():
    for setting in ("confirm off", "debuginfod enabled off", "print thread-events off", "print inferior-events off"):
        optional(f"set {setting}")
    optional("skip -gfile checker/simt/include/simt/*")  # step goes into the user's functions, not into a shuffle
    Here()
    At()
    stop = gdb.Breakpoint("simt_stops_here", internal=True)
    quietly = "set suppress-cli-notifications"
    optional(f"{quietly} on")
    try:
        gdb.execute("run", to_string=True)
    except gdb.error as error:  # a container may forbid it
        print(f"gdb cannot run the program: {error}")
    if gdb.selected_inferior().pid == 0:  # or the program said itself why it ended
        gdb.execute("quit 2")
    stop.delete()
    gdb.execute("finish", to_string=True)
    while kernel_of(gdb.newest_frame()) is None:
        gdb.execute("step", to_string=True)
    optional(f"{quietly} off")
    BelowTheLaunch()
    gdb.events.stop.connect(say_at_its_end)
    gdb.execute("here")
    gdb.execute("backtrace")
    where = gdb.newest_frame().find_sal()
    gdb.execute(f"list {where.line},{where.line}")


start()
