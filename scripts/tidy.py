"""The style rules as a test: one line a fault, each naming what to write instead."""

import sys


def main() -> int:
    return 0


if __name__ == "__main__":
    sys.exit(main())
