"""Looks for the minimum of a function of two variables."""

import random


# EVOLVE-BLOCK-START
def search(function, tries=1000, low=-5.0, high=5.0):
    """Draws points at random and keeps the best one."""
    best = (random.uniform(low, high), random.uniform(low, high))
    least = function(*best)
    for _ in range(tries):
        point = (random.uniform(low, high), random.uniform(low, high))
        value = function(*point)
        if value < least:
            best, least = point, value
    return best[0], best[1], least
# EVOLVE-BLOCK-END
