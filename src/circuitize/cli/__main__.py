"""The entry point that runs the command line as `python -m circuitize.cli`."""

import sys

from .entry import main

sys.exit(main())
