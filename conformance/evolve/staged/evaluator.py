"""Right first, then few executed lines: three stages, each dearer than the one before."""

import asyncio
import importlib.util
import sys

from openevolve.evaluation_result import EvaluationResult

CASES = [[], [1], [2], [2, 3, 4], [5, 4, -6], list(range(40)), [-2, -2, 7, 8]]


def load(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def right(program, cases):
    hits = 0
    for case in cases:
        given = list(case)
        hits += program.total(given) == sum(v * v for v in case if v % 2 == 0) and given == case
    return hits / len(cases)


def lines(program):
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        if event == "line" and frame.f_code.co_name == "total":
            count += 1
            if count > 100_000:
                raise RuntimeError("too many lines")
        return trace

    sys.settrace(trace)
    try:
        program.total(list(range(60)))
    finally:
        sys.settrace(None)
    return count


async def evaluate_stage1(program_path):
    program = load(program_path)
    await asyncio.sleep(0)
    return EvaluationResult(metrics={"combined_score": right(program, CASES[:3])}, artifacts={"stage": "first"})


async def evaluate_stage2(program_path):
    return EvaluationResult(metrics={"combined_score": right(load(program_path), CASES)}, artifacts={"stage": "second"})


async def evaluate_stage3(program_path):
    program = load(program_path)
    if right(program, CASES) < 1:
        return EvaluationResult(metrics={"combined_score": 0.0}, artifacts={"failure": "a sum is wrong"})
    count = lines(program)
    return EvaluationResult(metrics={"combined_score": min(1.0, 130 / count), "lines": count}, artifacts={"stage": "third"})


async def evaluate(program_path):
    return await evaluate_stage3(program_path)
