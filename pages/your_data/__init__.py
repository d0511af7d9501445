"""Your data: a file becomes tasks."""
