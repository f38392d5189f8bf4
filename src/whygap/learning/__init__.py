"""The only room that knows scikit-learn and LightGBM.

Two primitives, many column sets: a conditional mean E_d[T | X_S] and a density ratio
p_1(X_S) / p_0(X_S), each asked for on several sets of training blocks at once.
"""
