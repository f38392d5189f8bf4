"""`python -m whygap` is `whygap`."""

from whygap.cli.main import main

main()
