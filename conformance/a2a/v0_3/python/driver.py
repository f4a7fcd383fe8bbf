"""Drives an A2A server with the unmodified official python client of version 0.3.

    driver.py BASE-URL [--binding JSONRPC] [--only NAME]

Prints one JSON line for each scenario and binding, as the driver of 1.0 does; what each scenario
checks stands in ../README.md.
"""

import argparse
import asyncio
import json
import pathlib
import sys
import traceback

# The webhook is that of the newer driver.
sys.path.append(str(pathlib.Path(__file__).parents[2] / 'python'))

import scenarios

from probe import BINDINGS, Probe

# A scenario that waits longer than this waits for something that will not come.
DEADLINE_SECONDS = 30

SCENARIOS = {
    name.replace('_', '-'): function
    for name, function in vars(scenarios).items()
    if getattr(function, '__module__', '') == scenarios.__name__
}


async def main() -> None:
    arguments = parse_arguments()
    for binding in arguments.binding or BINDINGS:
        async with Probe(arguments.base, binding) as probe:
            if not probe.offered:
                continue
            for name, scenario in SCENARIOS.items():
                if arguments.only and name not in arguments.only:
                    continue
                ok, detail = await attempt(scenario, probe)
                line = {'name': name, 'binding': binding, 'ok': ok, 'detail': detail}
                print(json.dumps(line), flush=True)


async def attempt(scenario, probe: Probe) -> tuple[bool, str]:
    """Runs one scenario; whatever it raises is the server's failure, told in one line."""
    try:
        await asyncio.wait_for(scenario(probe), DEADLINE_SECONDS)
    except asyncio.TimeoutError:
        return False, f'no end after {DEADLINE_SECONDS} s'
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[1]
        told = f'{type(error).__name__} in line {place.lineno} of {place.name}: {error}'
        line = ' '.join(told.split())
        return False, line if len(line) <= 400 else f'{line[:400]} …'
    return True, ''


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description='the official python client of 0.3 against a server')
    parser.add_argument('base', help='where the agent card is, such as http://127.0.0.1:8080')
    parser.add_argument('--binding', action='append', choices=BINDINGS)
    parser.add_argument('--only', action='append', choices=list(SCENARIOS), metavar='NAME')
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(asyncio.run(main()))
