"""Runs the evaluator of an OpenEvolve folder for candidates, one process for each.

Called with one argument, JSON: the evaluator's path, the folder for work, a token, thresholds of stages, and either the path
of a queue with requests or one request. Replies are lines of standard output: the token, a space, JSON.

The evaluator is imported once. Each candidate is evaluated in a fork of its own session, without the handle to reply on, and
is ended with all that it started when its time is over or it has given its result.
"""

import asyncio
import ctypes
import importlib.util
import inspect
import json
import math
import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import types

LONGEST = 1 << 20
PR_SET_CHILD_SUBREAPER = 36


class EvaluationResult:
    """Stands for the class of the same name, which evaluators import."""

    def __init__(self, metrics=None, artifacts=None):
        self.metrics = metrics or {}
        self.artifacts = artifacts or {}

    @classmethod
    def from_dict(cls, metrics):
        return cls(metrics=metrics)

    def to_dict(self):
        return self.metrics

    def has_artifacts(self):
        return bool(self.artifacts)


def provide_modules():
    """Puts the modules that evaluators import on the path, where the package itself is missing."""
    if importlib.util.find_spec("openevolve") is not None:
        return
    package = types.ModuleType("openevolve")
    package.__path__ = []
    result = types.ModuleType("openevolve.evaluation_result")
    result.EvaluationResult = EvaluationResult
    package.evaluation_result = result
    package.EvaluationResult = EvaluationResult
    sys.modules["openevolve"] = package
    sys.modules["openevolve.evaluation_result"] = result


def load(path):
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def called(function, program):
    result = function(program)
    if inspect.isawaitable(result):
        result = asyncio.run(result)
    return result


def plain(result):
    """Metrics and artifacts of what an evaluator returns."""
    if isinstance(result, dict):
        return dict(result), {}
    metrics = getattr(result, "metrics", None)
    if not isinstance(metrics, dict):
        raise TypeError(f"evaluate returned {type(result).__name__}, not a dict and no EvaluationResult")
    return dict(metrics), dict(getattr(result, "artifacts", None) or {})


def number(value):
    if isinstance(value, bool) or value is None:
        return None
    try:
        value = float(value)
    except (TypeError, ValueError):
        return None
    return value


def fitness(metrics, dimensions):
    if number(metrics.get("combined_score")) is not None:
        return number(metrics["combined_score"])
    values = [number(value) for name, value in metrics.items() if name not in dimensions]
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def shown(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else str(value)


def staged(module, program, settings):
    """Stages one after the other, each only if the one before reached its threshold."""
    thresholds = settings["thresholds"]
    stages = [getattr(module, f"evaluate_stage{n}", None) for n in (1, 2, 3)]
    stages = [stage for stage in stages if stage is not None]
    if not settings["cascade"] or not stages:
        metrics, artifacts = plain(called(module.evaluate, program))
        return metrics, artifacts, 0
    for passed, stage in enumerate(stages):
        metrics, artifacts = plain(called(stage, program))
        score = fitness(metrics, settings["dimensions"])
        threshold = thresholds[passed] if passed < len(thresholds) else 0.0
        if passed + 1 == len(stages) or score is None or not score >= threshold:
            return metrics, artifacts, passed
    raise AssertionError("the last stage returns")


def evaluated(module, request, settings):
    metrics, artifacts, stage = staged(module, request["program"], settings)
    score = fitness(metrics, settings["dimensions"])
    if "error" in metrics:
        artifacts.setdefault("error", shown(metrics["error"]))
    reply = {
        "stage": stage,
        "score": score,
        "metrics": {str(k): number(v) for k, v in metrics.items() if number(v) is not None},
        "artifacts": {str(k): shown(v)[:32768] for k, v in list(artifacts.items())[:16]},
    }
    if metrics.get("valid") is False:
        reply.update(score=None, reason="the evaluator says that it is not valid")
    elif score is None:
        reply["reason"] = "the evaluator returned no number"
    elif not math.isfinite(score):
        reply.update(score=None, reason=f"the score is {score}")
    reply["metrics"] = {k: v for k, v in reply["metrics"].items() if math.isfinite(v)}
    return reply


def seed(value):
    import random

    random.seed(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(value % (1 << 32))


def child(module, request, settings, folder, out):
    os.setsid()
    log = os.open(os.path.join(folder, "output.txt"), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(folder)
    seed(request["seed"])
    try:
        reply = evaluated(module, request, settings)
    except BaseException as error:
        lines = traceback.format_exception(error)
        reply = {"score": None, "reason": f"{type(error).__name__}: {error}", "artifacts": {"traceback": "".join(lines)[-8192:]}}
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:
        pass
    data = json.dumps(reply).encode()
    while data:
        data = data[os.write(out, data):]


def descendants():
    """Processes below this one: those that changed their session become its children when their parents end."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parents[int(name)] = int(file.read().rsplit(b")", 1)[1].split()[1])
            except (OSError, ValueError, IndexError):
                pass
    found, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found and pid not in found}
        grown = bool(more)
        found |= more
    found.discard(os.getpid())
    return found


def end(pid):
    """Ends a candidate and all that it left."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for other in descendants():
            try:
                os.kill(other, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.001)


def answer(module, request, settings, reply_to):
    began = time.monotonic()
    folder = tempfile.mkdtemp(dir=settings["work"])
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.close(reply_to)
            if settings.get("queue_fd") is not None:
                os.close(settings["queue_fd"])
            settings["token"] = None
            child(module, request, settings, folder, write)
        finally:
            os._exit(0)
    os.close(write)
    data, late = b"", False
    deadline = began + request["timeout"]
    while len(data) <= LONGEST:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([read], [], [], left)[0]:
            late = True
            break
        part = os.read(read, 65536)
        if not part:
            break
        data += part
    os.close(read)
    end(pid)
    reply = {"score": None}
    if late:
        reply["reason"] = f"its time of {request['timeout']:g} s was over"
    elif len(data) > LONGEST:
        reply["reason"] = "its result is too long"
    else:
        try:
            reply = json.loads(data)
        except ValueError:
            reply["reason"] = "its process ended without a result"
    if reply.get("score") is None:
        with open(os.path.join(folder, "output.txt"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            output = file.read().decode("utf-8", "replace")
        if output.strip():
            reply.setdefault("artifacts", {})["output"] = output
    shutil.rmtree(folder, ignore_errors=True)
    reply["id"] = request["id"]
    reply["seconds"] = time.monotonic() - began
    return reply


def main():
    settings = json.loads(sys.argv[1])
    token = settings["token"]
    # Nothing but this program writes to where replies are read.
    reply_to = os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 1)
    try:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass

    def say(reply):
        data = f"{token} {json.dumps(reply)}\n".encode()
        while data:
            data = data[os.write(reply_to, data):]

    # What is imported is the operator's: it sees no arguments.
    sys.argv = [settings["evaluator"]]
    provide_modules()
    module = load(settings["evaluator"])
    if not hasattr(module, "evaluate") and not hasattr(module, "evaluate_stage1"):
        raise SystemExit("it has no function evaluate(program_path)")
    once = settings.get("request")
    if once is not None:
        say(answer(module, once, settings, reply_to))
        return
    os.mkfifo(settings["queue"], 0o600)
    # Open for both: the end of one writer is not the end of the queue.
    settings["queue_fd"] = os.open(settings["queue"], os.O_RDWR | os.O_CLOEXEC)
    say({"ready": True})
    rest = b""
    while True:
        while b"\n" not in rest:
            rest += os.read(settings["queue_fd"], 65536)
        line, rest = rest.split(b"\n", 1)
        say(answer(module, json.loads(line), settings, reply_to))


main()
