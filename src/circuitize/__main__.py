"""This module runs the command line as `python -m circuitize`."""

import sys

from .cli.entry import main

sys.exit(main())
