# SPDX-License-Identifier: MIT
import sys


def pytest_collection_finish() -> None:
    """Where a test has imported PyTorch: its tensors are small, and other work may run beside the tests."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
