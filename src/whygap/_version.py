"""The version of the engine: the integer that says which numbers can be compared.

Raise `ENGINE` by one whenever the same design and settings give other numbers than before: a
learner, a choice, a fold, a formula. `tests/canaries` notices by itself; the changelog says why.
Refactoring, words and speed leave it alone. Engine 1 is everything until results began to record
their version; 2 chooses every learner in one way; 3 takes the noise of fits from the plan of folds
and halvings, twin source risks leave no bias, and intervals are Student's; 4 takes the best
penalty, no larger one; 5 shows budgets what a score says of columns left out, and owns what
learners may get wrong on average and the noise of their choice; 6 fits by Newton's steps, which
end elsewhere in the last digits, where trees may split otherwise, and knows the square of a real
outcome that comes first; tables of more than 75 columns have fewer terms; 7 lets trees of twins on
many column sets learn faster; 8 chooses the learners of points on all players, too, lets their
trees learn faster, bins a column set once for all its training sets, and fits the model's label
where a metric sees no more of the model and the outcome comes first; 9 takes no more off outcome
numerators for a source risk that is shrunk, and has them own what both risks may have left:
outcome values and shares are new, all else is as with 8; 10 chooses who fits the density ratios of
covariate shares for these shares alone, where points that were asked for as well had chosen, and
cuts ratios that know an outcome which comes first at no bound of a region: all else is as with 9.
"""

ENGINE = 10  # see above: raised when the numbers change, and only then
