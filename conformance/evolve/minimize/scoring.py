"""The score of a search: how near it comes to the minimum, over several draws."""

import importlib.util
import math


def load(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def score(program, function, minimum, place, draws=10):
    values, distances = [], []
    for _ in range(draws):
        x, y, value = program.search(function)
        x, y = float(x), float(y)
        if not (math.isfinite(x) and math.isfinite(y)) or abs(x) > 10 or abs(y) > 10:
            return None
        # The value is computed here: the program's own could say anything.
        values.append(function(x, y))
        distances.append(math.dist((x, y), place))
    value = sum(values) / draws
    distance = sum(distances) / draws
    near = 0.5 / (1 + abs(value - minimum)) + 0.3 / (1 + distance) + 0.2
    bonus = 1.5 if distance < 0.5 else 1.2 if distance < 1.5 else 1.0 if distance < 3 else 0.7
    return {"combined_score": near * bonus, "value": value, "distance": distance}
