"""Drives an ACP server with the unmodified python client.

    driver.py BASE-URL [--only NAME] [--begin | --finish RUN-ID]

Prints one JSON line for each scenario: {"name", "ok", "detail"}. README.md lists the agents that the server must
offer. The exit code says whether the driver itself worked, not whether the server passed.
"""

import argparse
import asyncio
import json
import traceback

from acp_sdk.client import Client

from scenarios import SCENARIOS, begin, finish

# The time limit of one scenario.
DEADLINE_SECONDS = 30


async def main() -> None:
    arguments = parse_arguments()
    scenarios = SCENARIOS
    if arguments.begin:
        scenarios = {'begin': begin}
    if arguments.finish:
        scenarios = {'finish': lambda client: finish(client, arguments.finish)}
    for name, scenario in scenarios.items():
        if arguments.only and name not in arguments.only:
            continue
        async with Client(base_url=arguments.base, timeout=DEADLINE_SECONDS) as client:
            ok, detail = await attempt(scenario, client)
        print(json.dumps({'name': name, 'ok': ok, 'detail': detail}), flush=True)


async def attempt(scenario, client: Client) -> tuple[bool, str]:
    """Runs one scenario. An exception is a failure of the server, reported on one line."""
    try:
        detail = await asyncio.wait_for(scenario(client), DEADLINE_SECONDS)
    except asyncio.TimeoutError:
        return False, f'timed out after {DEADLINE_SECONDS} s'
    except Exception as error:
        places = traceback.extract_tb(error.__traceback__)
        place = places[min(1, len(places) - 1)]
        return False, in_one_line(
            f'{type(error).__name__} in line {place.lineno} of {place.name}: {error}'
        )
    return True, detail or ''


def in_one_line(text: object) -> str:
    line = ' '.join(str(text).split())
    return line if len(line) <= 400 else f'{line[:400]} …'


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description='the python client of ACP against a server')
    parser.add_argument('base', help='the address of ACP, such as http://127.0.0.1:8080/acp')
    parser.add_argument('--only', action='append', help='a scenario; can be repeated')
    parser.add_argument('--begin', action='store_true', help='begin a run that waits')
    parser.add_argument('--finish', metavar='RUN-ID', help='resume a run that was begun before')
    return parser.parse_args()


if __name__ == '__main__':
    asyncio.run(main())
