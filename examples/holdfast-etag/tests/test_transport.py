"""What the contract can not know: what is believed when HTTP fails, and what is never shown."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread

import pytest
from holdfast_etag.store import EtagStore, Request
from holdfast_etag.transport import EtagTransport
from server import Server

import holdfast
from holdfast.core.record import EMPTY
from holdfast.drive.threads import Driver
from holdfast.engine.keeper import Keeper
from holdfast.engine.store import There
from holdfast.errors import BadRecord, ConfigError, OutcomeUnknown, StoreError, StoreUnavailable
from holdfast.stores import Endpoint
from holdfast.url import parse

READ = Request("GET", "key")


@contextmanager
def transport(url: str) -> Iterator[EtagTransport]:
    made = EtagTransport(Endpoint(parse(url), "client"))
    yield made
    made.close()


@contextmanager
def answering(*answers: bytes) -> Iterator[str]:
    """A server that takes one request a connection, says this, and hangs up; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answer in answers:
                with listening.accept()[0] as connection:
                    connection.recv(10_000)
                    connection.sendall(answer)

        thread = Thread(target=serve)
        thread.start()
        yield f"etag://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_who_was_not_reached_has_done_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with transport(f"etag://127.0.0.1:{port}") as ours, pytest.raises(StoreUnavailable) as caught:
        ours.send(READ)
    assert not isinstance(caught.value, OutcomeUnknown)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_who_does_not_answer_may_have_done_it(answer: bytes) -> None:
    with answering(answer) as url, transport(url) as ours, pytest.raises(OutcomeUnknown):
        ours.send(READ)


def test_silence_has_an_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"etag://127.0.0.1:{silent.getsockname()[1]}?timeout=0.1"
        with transport(url) as ours, pytest.raises(OutcomeUnknown):
            ours.send(READ)


def test_a_connection_that_ended_while_idle_is_not_used() -> None:
    said = b'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: 0\r\n\r\n'
    with answering(said, said) as url, transport(url) as ours:
        assert ours.send(READ).etag == '"1"'
        assert ours._idle[0].sock.recv(1, socket.MSG_PEEK) == b""
        assert ours.send(READ).etag == '"1"'


def test_connections_are_kept_and_as_many_as_ask_at_once(url: str) -> None:
    with transport(url) as ours:
        for _ in range(3):
            ours.send(READ)
        assert len(ours._idle) == 1
        with ThreadPoolExecutor(8) as threads:
            assert {answer.status for answer in threads.map(ours.send, [READ] * 400)} == {404}
        assert 1 <= len(ours._idle) <= 8


def test_a_row_is_written_and_deleted_on_a_condition(url: str) -> None:
    with transport(url) as ours:
        run, store = Driver(ours, Keeper()).run, EtagStore()
        record, key = EMPTY._replace(fence=7), f"conditions {os.urandom(4).hex()}"
        etag = run(store.swap(key, record, None))
        assert isinstance(etag, str)
        assert run(store.swap(key, record, None)) == There(record, etag)
        assert run(store.swap(key, EMPTY, '"another"')) == There(record, etag)
        assert run(store.swap(key, EMPTY, etag)) == "deleted"
        assert run(store.swap(key, record, etag)) is None


def test_what_is_no_lock_is_refused_and_left(url: str, server: Server) -> None:
    with holdfast.connect(url) as locks:
        server.rows[":lock:foreign"] = '"0"', b"not ours"
        with pytest.raises(BadRecord, match="foreign"):
            locks.mutex("foreign").try_acquire()
        assert server.rows.pop(":lock:foreign")[1] == b"not ours"


def test_a_weak_etag_is_refused() -> None:
    weak = b'HTTP/1.1 201 Created\r\nETag: W/"1"\r\nContent-Length: 0\r\n\r\n'
    with answering(weak) as url, transport(url) as ours, pytest.raises(StoreError, match="strong ETag"):
        Driver(ours, Keeper()).run(EtagStore().swap("key", EMPTY._replace(fence=7), None))


def test_passwords_are_used_and_not_shown(url: str) -> None:
    wrong = url.replace("s3cret%2F", "other-s3cret")
    with holdfast.connect(wrong) as locks:
        with pytest.raises(StoreError, match="401") as caught:
            locks.mutex("key").try_acquire()
        assert "s3cret" not in f"{caught.value} {locks!r} {locks.address!r} {caught.value.__cause__!r}"


@pytest.mark.parametrize("url", ["etag:", "etag://a,b", "etag+ftp://a", "etag://a?timeout=soon", "etag://a?speed=1"])
def test_a_url_that_can_not_work_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        holdfast.connect(url)


def test_many_tasks_share_one_client(url: str) -> None:
    async def main() -> list[int]:
        fences: list[int] = []

        async def work(locks: holdfast.AsyncClient) -> None:
            async with locks.mutex("tasks") as lease:
                fences.append(lease.fence)

        async with holdfast.connect_async(url, namespace=os.urandom(4).hex()) as locks:
            await asyncio.gather(*(work(locks) for _ in range(8)))
        return fences

    fences = asyncio.run(main())
    assert len(fences) == 8
    assert fences == sorted(set(fences))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_child_talks_on_connections_of_its_own(url: str) -> None:
    with transport(url) as ours:
        ours.send(READ)
        connection = ours._idle[0]
        child = os.fork()
        if child == 0:
            ours.forget()
            os._exit(0 if ours.send(READ).status == 404 else 1)
        assert os.waitpid(child, 0)[1] == 0
        ours.send(READ)
        assert ours._idle[0] is connection
