"""A build script that refuses a checkout without symbolic links, as the package itself does; all other settings are in
pyproject.toml.
"""

import sys

from setuptools import setup

sys.path.insert(0, "src")
try:
    import circuitize  # noqa: F401
except ImportError as error:
    sys.exit(str(error))
setup()
