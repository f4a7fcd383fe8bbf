"""Reads the card of an A2A server with the unmodified official python client of version 0.3, and says something.

    card.py BASE-URL

Prints one JSON line, as the driver does.
"""

import asyncio
import json
import sys

import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory, create_text_message_object


async def main() -> None:
    async with httpx.AsyncClient() as http:
        try:
            card = await A2ACardResolver(http, sys.argv[1]).get_agent_card()
            client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
            answers = [it async for it in client.send_message(create_text_message_object(content='whoami'))]
            ok, detail = bool(card.description and answers), card.description
        except Exception as error:
            ok, detail = False, f'{type(error).__name__}: {error}'
    print(json.dumps({'name': 'card', 'binding': 'JSONRPC', 'ok': ok, 'detail': detail}))


asyncio.run(main())
