"""The command line: one command per file; `main` is the entry point."""
