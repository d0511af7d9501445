"""Is it evolving? The finding, the evidence, what changed."""
