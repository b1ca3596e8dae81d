# SPDX-License-Identifier: Apache-2.0
"""Stands for the agents of many nodes: each has an address of its own in 127.0.0.0/8, and one port.

An agent answers with a document of findings that a real one wrote, with the time of now, as any
request does that comes at its address. It is never kinder than an agent: it closes each connection.
"""
import asyncio
import re
import threading
import time

TIME = re.compile(rb'"time": "[^"]*"')
SILENT = object()  # accepts, and never answers


def address(number):
    return f"127.1.{number // 250}.{number % 250 + 1}"


def reply(body, kind="application/json", status="200 OK"):
    return (f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n").encode() + body


def fresh(document):
    now = time.strftime('"time": "%Y-%m-%dT%H:%M:%SZ"', time.gmtime()).encode()
    return TIME.sub(now, document, count=1)


class DoubleAgents:
    """with DoubleAgents(answer) as agents: ... agents.port

    answer(address): a document, whose time becomes that of now; or a whole reply, in a list; or
    SILENT.
    """

    def __init__(self, answer, tls=None):
        self.answer, self.tls = answer, tls
        self.loop = asyncio.new_event_loop()
        self.started = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.requests = []

    def __enter__(self):
        self.thread.start()
        self.started.wait()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def run(self):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, "0.0.0.0", 0, backlog=4096, ssl=self.tls))
        self.port = server.sockets[0].getsockname()[1]
        self.started.set()
        self.loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    async def serve(self, reader, writer):
        try:
            self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
            answer = self.answer(writer.get_extra_info("sockname")[0])
            if answer is SILENT:
                await reader.read()
            else:
                writer.write(answer[0] if isinstance(answer, list) else reply(fresh(answer)))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has gone
        finally:
            writer.close()
