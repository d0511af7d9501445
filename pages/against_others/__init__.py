"""Against others: published methods and references."""
