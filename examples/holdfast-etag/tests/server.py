"""The least server that keeps locks: values with ETags in memory, and conditions.  Also: `python server.py 8080`."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Lock
from urllib.parse import parse_qs, unquote, urlsplit

FOLDER = "/locks/"


class Server(ThreadingHTTPServer):
    """`user` may use it, with `password`."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0, user: str = "", password: str = "") -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.rows: dict[str, tuple[str, bytes]] = {}
        self.mutex = Lock()
        self.etags = (f'"{number}"' for number in count(1))
        self.authorization = "Basic " + b64encode(f"{user}:{password}".encode()).decode() if user else None

    @property
    def host(self) -> str:
        """`host:port`"""
        return f"127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"  # which keeps connections
    disable_nagle_algorithm = True

    def handle_any(self) -> None:
        """The whole of a request is one step, or there would be no conditions."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path, query = urlsplit(self.path).path, urlsplit(self.path).query
        if self.headers.get("Authorization") != self.server.authorization:
            self.answer(401)
        elif not path.startswith(FOLDER):
            self.answer(403)
        else:
            key = unquote(path.removeprefix(FOLDER))
            with self.server.mutex:
                found = self.of_one(key, body) if key else self.of_many(parse_qs(query, keep_blank_values=True))
            self.answer(*found)

    do_GET = do_PUT = do_DELETE = handle_any  # noqa: N815

    def of_one(self, key: str, body: bytes) -> tuple[int, str, bytes]:
        """Status, ETag and body for one key."""
        etag, value = self.server.rows.get(key, ("", b""))
        if_match, if_none_match = self.headers.get("If-Match"), self.headers.get("If-None-Match")
        if (if_match is not None and if_match != etag) or (if_none_match == "*" and etag):
            return 412, "", b""
        if self.command == "PUT":
            self.server.rows[key] = next(self.server.etags), body
            return 200 if etag else 201, self.server.rows[key][0], b""
        if not etag:
            return 404, "", b""
        if self.command == "GET":
            return 200, etag, value
        del self.server.rows[key]
        return 204, "", b""

    def of_many(self, query: dict[str, list[str]]) -> tuple[int, str, bytes]:
        """The first keys behind one, with what is there."""
        prefix, after, limit = query["prefix"][0], query["after"][0], int(query["limit"][0])
        keys = sorted(key for key in self.server.rows if key.startswith(prefix) and key > after)[:limit]
        rows = [{"key": key, "value": b64encode(self.server.rows[key][1]).decode()} for key in keys]
        return 200, "", json.dumps(rows).encode()

    def answer(self, status: int, etag: str = "", body: bytes = b"") -> None:
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing to say."""


if __name__ == "__main__":
    Server(int(sys.argv[1])).serve_forever()
