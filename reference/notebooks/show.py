# SPDX-License-Identifier: MIT
"""How a notebook shows a picture or says in one line what is missing."""

from __future__ import annotations

import io
from collections.abc import Callable

from IPython.display import Image, clear_output, display
from matplotlib import style
from matplotlib.figure import Figure

from reference.gpu.tools import ToolError
from reference.plots.roofline import PNG_DPI, STYLE


def show(what: Callable[..., Figure | str], *arguments, **options) -> None:
    """The picture or the text that `what` makes of the arguments. Where a result is missing it raises ToolError, whose
    line says what to run: that line is shown, and the notebook goes on. What was said while a picture was made, of
    calls that are counted first for example, goes when the picture is there."""
    try:
        made = what(*arguments, **options)
    except ToolError as missing:
        print(missing)
        return
    if isinstance(made, str):
        print(made)
        return
    png = io.BytesIO()
    with style.context(STYLE):
        made.savefig(png, format="png", dpi=PNG_DPI)
    clear_output(wait=True)
    display(Image(png.getvalue(), width=round(72 * made.get_size_inches()[0])))
