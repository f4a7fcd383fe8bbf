"""The agent of `../../python/server.py` on the official SDK in version 0.3, with its three bindings."""

import asyncio
import socket
import sys
from uuid import uuid4

import grpc.aio
import uvicorn
from a2a.grpc import a2a_pb2_grpc as service
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    TextPart,
)
from a2a.utils import new_task
from starlette.applications import Starlette
from starlette.routing import Mount


def text_part(text):
    return Part(root=TextPart(text=text))


class Agent(AgentExecutor):
    """Does what the first word of a message says."""

    async def execute(self, context, queue):
        text = context.get_user_input() or ""
        word = text.split(" ")[0]
        if word == "echo":
            answer = Message(
                role=Role.agent,
                message_id=str(uuid4()),
                context_id=context.context_id,
                parts=[text_part(text)],
            )
            await queue.enqueue_event(answer)
            return
        begun = context.current_task is not None
        task = context.current_task or new_task(context.message)
        if not begun:
            await queue.enqueue_event(task)
        updater = TaskUpdater(queue, task.id, task.context_id)
        if word == "ask" and not begun:
            await updater.requires_input(final=True)
            return
        await updater.start_work()
        if word == "hold":
            await asyncio.Event().wait()
        count = int(text.split(" ")[1]) if word == "burst" else 1
        for number in range(count):
            await updater.add_artifact(
                parts=[text_part(f"{number} of {text}\n")],
                artifact_id="made",
                append=number > 0,
                last_chunk=number == count - 1,
            )
        await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def card_at(http, rpc):
    """The card of the agent at these addresses."""
    return AgentCard(
        name="official",
        description="An agent on the official SDK.",
        version="1.0.0",
        url=f"{http}/rpc",
        preferred_transport="JSONRPC",
        additional_interfaces=[
            AgentInterface(transport="HTTP+JSON", url=f"{http}/rest"),
            AgentInterface(transport="GRPC", url=rpc),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="try", name="Try", description="Something to try.", tags=["test"])],
    )


async def main():
    listener = socket.create_server(("127.0.0.1", 0))
    rpc = grpc.aio.server()
    rpc_port = rpc.add_insecure_port("127.0.0.1:0")
    http = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = card_at(http, f"127.0.0.1:{rpc_port}")
    handler = DefaultRequestHandler(
        agent_executor=Agent(),
        task_store=InMemoryTaskStore(),
        push_config_store=InMemoryPushNotificationConfigStore(),
    )
    service.add_A2AServiceServicer_to_server(GrpcHandler(card, handler), rpc)
    await rpc.start()
    routes = A2AStarletteApplication(agent_card=card, http_handler=handler).routes(rpc_url="/rpc")
    rest = A2ARESTFastAPIApplication(agent_card=card, http_handler=handler).build()
    app = Starlette(routes=[*routes, Mount("/rest", app=rest)])
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    print(http, flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
