"""Result: what you could do, what to do, and a closer look."""
