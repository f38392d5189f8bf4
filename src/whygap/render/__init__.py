"""Shows results: words, tables, figures, one HTML page. Reads a `Gap`, never computes one."""
