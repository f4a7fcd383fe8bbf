"""Drives an A2A server with the unmodified official python client, over each binding its card offers.

    driver.py BASE-URL [--binding JSONRPC] [--only NAME] [--held PREFIX]

Prints one JSON line for each scenario and binding: {"name", "binding", "ok", "detail"}. What each
scenario checks stands in ../README.md. The exit code says whether the run itself worked, not
whether the server passed.
"""

import argparse
import asyncio
import json
import sys
import traceback

from probe import BINDINGS, Mismatch, Probe
from scenarios import SCENARIOS

# A scenario that waits longer than this waits for something that will not come.
DEADLINE_SECONDS = 30


async def main() -> None:
    arguments = parse_arguments()
    for binding in arguments.binding or BINDINGS:
        async with Probe(arguments.base, binding, arguments.held) as probe:
            for name, scenario in SCENARIOS.items():
                if arguments.only and name not in arguments.only:
                    continue
                if binding not in getattr(scenario, 'bindings', BINDINGS):
                    continue
                ok, detail = await attempt(scenario, probe)
                line = {'name': name, 'binding': binding, 'ok': ok, 'detail': detail}
                print(json.dumps(line), flush=True)


async def attempt(scenario, probe: Probe) -> tuple[bool, str]:
    """Runs one scenario; whatever it raises is the server's failure, told in one line."""
    try:
        await asyncio.wait_for(scenario(probe), DEADLINE_SECONDS)
    except Mismatch as mismatch:
        return False, in_one_line(mismatch)
    except asyncio.TimeoutError:
        return False, f'no end after {DEADLINE_SECONDS} s'
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[1]
        return False, in_one_line(
            f'{type(error).__name__} in line {place.lineno} of {place.name}: {error}'
        )
    return True, ''


def in_one_line(text: object) -> str:
    line = ' '.join(str(text).split())
    return line if len(line) <= 400 else f'{line[:400]} …'


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description='the official python client against an A2A server')
    parser.add_argument('base', help='where the agent card is, such as http://127.0.0.1:8080')
    parser.add_argument('--binding', action='append', choices=BINDINGS)
    parser.add_argument('--only', action='append', choices=list(SCENARIOS), metavar='NAME')
    parser.add_argument(
        '--held',
        default='tck-cancel',
        help='message ids with this prefix make a task that works until it is cancelled',
    )
    return parser.parse_args()


if __name__ == '__main__':
    sys.exit(asyncio.run(main()))
