"""Two hills on a line. The start is on the lower one; the higher one is four widths away."""

import importlib.util
import math


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    x = float(program.position())
    if not math.isfinite(x):
        return {"combined_score": 0.0}
    low = 0.6 * math.exp(-((x + 1.5) ** 2))
    high = math.exp(-((x - 2.5) ** 2))
    return {"combined_score": max(low, high)}
