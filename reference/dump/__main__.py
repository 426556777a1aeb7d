# SPDX-License-Identifier: MIT
import sys

from reference.dump.dump import main

sys.exit(main())
