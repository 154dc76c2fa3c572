"""Where rows live. Each backend keeps the promises: rows are the truth, arrays can be rebuilt."""
