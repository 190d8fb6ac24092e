from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest
from server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with Server(user="ops", password="s3cret/") as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def url(server: Server) -> str:
    return f"etag://ops:s3cret%2F@{server.host}/locks"
