"""The version of the engine: the integer that says which numbers can be compared.

Raise `ENGINE` by 1 whenever an unchanged design and unchanged settings give different numbers: a
learner, a choice, a fold, a formula. `tests/canaries` notices; the changelog says why.
"""

ENGINE = 10  # counts changes of the numbers, and nothing else
