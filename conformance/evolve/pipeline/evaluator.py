"""Counts the modules that are right, and does not say which they are."""

import importlib.util

RIGHT = {"reader": "columns", "cleaner": "rank", "method": "tree", "writer": "rows"}
KNOWN = {
    "reader": {"lines", "table", "markup", "columns", "query"},
    "cleaner": {"none", "scale", "rank", "clip", "whiten"},
    "method": {"mean", "tree", "kernel", "neighbours", "layers"},
    "writer": {"plain", "page", "rows", "chart", "archive"},
}


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    chosen = program.configure()
    if set(chosen) != set(KNOWN) or any(chosen[part] not in KNOWN[part] for part in KNOWN):
        return {"combined_score": 0.0, "valid": False}
    right = sum(chosen[part] == RIGHT[part] for part in RIGHT)
    return {"combined_score": right / len(RIGHT), "modules": right}
