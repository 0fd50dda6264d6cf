"""The entry point of the checker of certificates, which runs wherever the checker's folder is copied to."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

if not __package__:
    # The folder itself was run: its name, whatever it is, is the package.
    folder = Path(__file__).resolve().parent
    sys.path[:1] = [str(folder.parent)]
    main = importlib.import_module(f"{folder.name}.check").main
else:
    main = importlib.import_module(f"{__package__}.check").main

if __name__ == "__main__":
    sys.exit(main())
