"""Values of subsets in batches: workers, checkpoints, progress, and when to stop."""
