"""26 circles in the unit square: rings around the middle."""

import math


# EVOLVE-BLOCK-START
def place_circles():
    """Returns the centres and the radii of 26 circles."""
    centers = [[0.0, 0.0] for _ in range(26)]
    centers[0] = [0.5, 0.5]
    for i in range(8):
        angle = 2 * math.pi * i / 8
        centers[i + 1] = [0.5 + 0.3 * math.cos(angle), 0.5 + 0.3 * math.sin(angle)]
    for i in range(16):
        angle = 2 * math.pi * i / 16
        centers[i + 9] = [0.5 + 0.7 * math.cos(angle), 0.5 + 0.7 * math.sin(angle)]
    centers = [[min(max(x, 0.01), 0.99), min(max(y, 0.01), 0.99)] for x, y in centers]
    return centers, largest_radii(centers)


def largest_radii(centers):
    """Lets circles reach to the sides, then shrinks each pair that overlaps."""
    radii = [min(x, y, 1 - x, 1 - y) for x, y in centers]
    for i in range(len(centers)):
        for j in range(i + 1, len(centers)):
            distance = math.dist(centers[i], centers[j])
            if radii[i] + radii[j] > distance:
                scale = distance / (radii[i] + radii[j])
                radii[i] *= scale
                radii[j] *= scale
    return radii
# EVOLVE-BLOCK-END


def run():
    centers, radii = place_circles()
    return centers, radii
