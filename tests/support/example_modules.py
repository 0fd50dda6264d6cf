"""The examples as modules."""

from __future__ import annotations

import sys
from functools import cache
from importlib import util
from types import ModuleType

from example_programs import EXAMPLES


@cache
def example(name: str) -> ModuleType:
    spec = util.spec_from_file_location(f"example_{name.replace('/', '_')}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
