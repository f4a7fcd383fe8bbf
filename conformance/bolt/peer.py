"""A database that speaks Bolt, driven by lines on standard input, each answered by one line of JSON.

`start` and `stop` begin and end the database, with the same files; any other line is a statement of Cypher, which Neo4j's
official driver runs, and the answer is the list of its rows. The argument is the port.
"""

import json
import os
import sys
import tempfile

from arcadedb_embedded.server import ArcadeDBServer
from neo4j import GraphDatabase

PASSWORD = "playwithdata"
DATABASE = "memory"


def main() -> None:
    port = int(sys.argv[1])
    answers, sys.stdout = sys.stdout, sys.stderr
    with tempfile.TemporaryDirectory() as folder:
        # The database writes its log where it is started.
        os.chdir(folder)
        server = None
        for line in sys.stdin:
            words = line.strip()
            if words == "start":
                server = start(folder, port)
                answer = "started"
            elif words == "stop":
                server.stop()
                answer = "stopped"
            else:
                answer = rows(port, words)
            print(json.dumps(answer), file=answers, flush=True)
        if server is not None:
            server.stop()
    # Threads of the Java machine would keep the process.
    os._exit(0)


def start(folder: str, port: int) -> ArcadeDBServer:
    config = {
        "host": "127.0.0.1",
        "http_port": 0,
        "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
        "bolt_port": port,
    }
    memory = {"heap_size": "256m"}
    server = ArcadeDBServer(folder, PASSWORD, config, jvm_kwargs=memory)
    server.start()
    server.create_database(DATABASE)
    return server


def rows(port: int, statement: str) -> list:
    login = ("root", PASSWORD)
    with GraphDatabase.driver(f"bolt://127.0.0.1:{port}", auth=login) as driver:
        with driver.session(database=DATABASE) as session:
            return session.run(statement).data()


if __name__ == "__main__":
    main()
