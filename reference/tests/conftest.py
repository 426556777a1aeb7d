# SPDX-License-Identifier: MIT
import torch

torch.set_num_threads(1)  # the tensors are small, and other work may run beside the tests
