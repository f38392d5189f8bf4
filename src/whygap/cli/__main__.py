"""`python -m whygap.cli` is the same as `whygap`."""

from whygap.cli.main import main

main()
