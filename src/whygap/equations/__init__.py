"""The paper's formulas, in numpy: read each file beside the paper. No fitting happens here."""
