"""Result: what one could do, what to do, and a closer look."""
