"""Run the command line with `python -m whygap`."""

from whygap.cli.main import main

main()
