"""The paper's experiments and what it did not check: every number in the docs can be made again."""
