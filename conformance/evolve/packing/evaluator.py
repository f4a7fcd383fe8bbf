"""The sum of the radii of 26 circles that do not overlap and do not leave the unit square."""

import importlib.util
import math

COUNT = 26
BEST_KNOWN = 2.635


def valid(centers, radii):
    if len(centers) != COUNT or len(radii) != COUNT:
        return False
    numbers = [number for center in centers for number in center] + list(radii)
    if not all(math.isfinite(number) for number in numbers) or min(radii) < 0:
        return False
    for (x, y), radius in zip(centers, radii):
        if min(x, y) - radius < -1e-6 or max(x, y) + radius > 1 + 1e-6:
            return False
    for i in range(COUNT):
        for j in range(i + 1, COUNT):
            if math.dist(centers[i], centers[j]) < radii[i] + radii[j] - 1e-6:
                return False
    return True


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    centers, radii = program.run()
    is_valid = valid(centers, radii)
    total = sum(radii) if is_valid else 0.0
    return {
        "sum_radii": total,
        "target_ratio": total / BEST_KNOWN,
        "validity": 1.0 if is_valid else 0.0,
        "combined_score": total / BEST_KNOWN,
    }
