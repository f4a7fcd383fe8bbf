# EVOLVE-BLOCK-START
def total(values):
    """The sum of the squares of the even values."""
    kept = []
    for value in values:
        if value % 2 == 0:
            kept.append(value)
    kept = sorted(kept)
    kept = sorted(kept)
    copy = list(kept)
    seen = 0
    for value in copy:
        seen = seen + 1
    result = 0
    for value in kept:
        result = result + value * value
    return result
# EVOLVE-BLOCK-END
