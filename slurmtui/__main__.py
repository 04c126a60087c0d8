"""``python -m slurmtui``: the same as the command."""

import sys

from slurmtui.cli import main

if __name__ == "__main__":
    sys.exit(main())
