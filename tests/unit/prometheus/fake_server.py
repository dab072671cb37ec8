"""A server that answers Prometheus' instant queries: each metric by its name, whatever is done with it."""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Series = dict[str, list[tuple[dict[str, str], float]]]  # metric → series: labels and value


class FakePrometheus:
    """``queries`` and ``headers`` that were sent; ``status`` and ``body`` to answer something else."""

    def __init__(self, series: Series) -> None:
        self.series, self.queries, self.headers = series, [], []
        self.status, self.body = 200, None
        self.url = ""

    def answer(self, query: str) -> bytes:
        self.queries.append(query)
        if self.body is not None:
            return self.body
        name = re.search(r"\(([a-zA-Z_:][a-zA-Z0-9_:]*)\{", query)[1]
        results = [{"metric": labels, "value": [0, str(value)]} for labels, value in self.series.get(name, [])]
        return json.dumps({"status": "success", "data": {"resultType": "vector", "result": results}}).encode()


@contextmanager
def fake_prometheus(series: Series) -> Iterator[FakePrometheus]:
    """On a port of its own, until the end of the block."""
    fake = FakePrometheus(series)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            fake.headers.append(dict(self.headers))
            content = fake.answer(form["query"][0])
            self.send_response(fake.status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
