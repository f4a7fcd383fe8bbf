"""How near four numbers are to a point that the program does not know."""

import importlib.util
import math

TARGET = [3.25, -2.5, 0.75, 27.0]
WIDTH = [2.0, 2.0, 1.0, 8.0]


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    numbers = [float(number) for number in program.numbers()]
    if len(numbers) != len(TARGET) or not all(map(math.isfinite, numbers)):
        return {"combined_score": 0.0, "error": "four finite numbers are needed"}
    distance = sum(((n - t) / w) ** 2 for n, t, w in zip(numbers, TARGET, WIDTH))
    return {"combined_score": 1.0 / (1.0 + distance), "distance": math.sqrt(distance)}
