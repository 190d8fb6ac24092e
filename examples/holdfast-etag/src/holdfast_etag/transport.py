"""How a request gets to the server and its answer back, for threads and for asyncio.

Errors here decide what holdfast believes.  `StoreUnavailable`: the request was surely not carried out.
`OutcomeUnknown`: it may have been.  Nothing is tried twice; holdfast does that, in a way that makes it harmless.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from selectors import EVENT_READ, DefaultSelector
from socket import socket
from urllib.parse import quote

from holdfast.stores.writing import (
    Address,
    Bell,
    ConfigError,
    Endpoint,
    Inbox,
    OutcomeUnknown,
    StoreError,
    StoreUnavailable,
)
from holdfast_etag.store import CHANGED, Answer, Request

ANSWERS = (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.NO_CONTENT, *CHANGED)
PASSING = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)
CONNECTIONS: dict[str, type[HTTPConnection]] = {"": HTTPConnection, "http": HTTPConnection, "https": HTTPSConnection}
THREADS = 32


class EtagTransport:
    """For threads.  Each request has a connection to itself, and leaves it to the next one."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._address = _checked(endpoint.address)
        self._folder = quote(endpoint.address.path.rstrip("/")) + "/"
        self._headers = _authorization(endpoint.address)
        self._timeout = _timeout(endpoint.address)
        self._idle: deque[HTTPConnection] = deque()
        self._closed = False

    def send(self, request: Request) -> Answer:
        """One round trip; from any thread."""
        connection = self._connection()
        whole = False
        try:
            headers = {**self._headers, **request.condition}
            connection.request(request.method, self._folder + request.target, request.body, headers)
            response = connection.getresponse()
            answer = Answer(response.status, response.getheader("ETag", ""), response.read())
            whole = True
        except (OSError, HTTPException) as error:
            raise OutcomeUnknown(f"{self._address} did not answer: try again") from error
        finally:
            if whole:
                self._keep(connection)
            else:
                connection.close()
        return self._judged(answer)

    def _connection(self) -> HTTPConnection:
        """One that is idle, or a new one."""
        while (connection := self._idle_one()) is not None:
            if connection.sock is not None and not _hung_up(connection.sock):
                return connection
            connection.close()
        connection = CONNECTIONS[self._address.driver](self._address.host, timeout=self._timeout)
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise StoreUnavailable(f"{self._address} can't be reached: check that it runs, and the URL") from error
        return connection

    def _idle_one(self) -> HTTPConnection | None:
        try:
            return self._idle.pop()  # one step, so no two threads get the same
        except IndexError:
            return None

    def _keep(self, connection: HTTPConnection) -> None:
        self._idle.append(connection)
        if self._closed:
            self.forget()

    def _judged(self, answer: Answer) -> Answer:
        """The answer, if it is one.  A refusal was not carried out; what may pass is tried again, and may have been."""
        if answer.status in ANSWERS:
            return answer
        said = f"{self._address} answered {answer.status}"
        if answer.status in PASSING or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise OutcomeUnknown(f"{said}: try again")
        raise StoreError(f"{said}: check the URL, and what its user may do")

    def listen(self, bell: Bell) -> Inbox | None:
        """No server rings; waiters ask now and then."""
        bell.deaf = True
        return None

    def close(self) -> None:
        """What is still under way is closed by whoever made it."""
        self._closed = True
        self.forget()

    def forget(self) -> None:
        """Let go of the idle connections: closing our copies leaves those of a parent process open."""
        while (connection := self._idle_one()) is not None:
            connection.close()


class AsyncEtagTransport:
    """For asyncio: the same, in threads of its own, where a renewal does not queue behind what others are doing."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._blocking = EtagTransport(endpoint)
        self._threads = ThreadPoolExecutor(THREADS, "holdfast-etag")

    async def send(self, request: Request) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._blocking.send, request)

    def listen(self, bell: Bell) -> Inbox | None:
        return self._blocking.listen(bell)

    async def close(self) -> None:
        self._threads.shutdown(wait=False)
        self._blocking.close()


def _hung_up(sock: socket) -> bool:
    """An idle connection has nothing to say but that it ends; seen before sending, that leaves no doubt."""
    with DefaultSelector() as selector:
        selector.register(sock, EVENT_READ)
        return bool(selector.select(0))


def _checked(address: Address) -> Address:
    if not address.host or "," in address.host:
        raise ConfigError("an etag URL names one server: write etag://host:port/folder")
    if address.driver not in CONNECTIONS:
        raise ConfigError(f"etag+{address.driver}:// is not known: write etag+http:// or etag+https://")
    return address


def _authorization(address: Address) -> dict[str, str]:
    """Kept apart from requests and messages: what is in those may be shown."""
    if not address.user and not address.password:
        return {}
    return {"Authorization": "Basic " + b64encode(f"{address.user}:{address.password}".encode()).decode()}


def _timeout(address: Address) -> float:
    text = address.options.get("timeout", "5")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ConfigError(f"timeout={text!r} of an etag URL is no number of seconds: write timeout=5")
    return seconds
