"""A server that fails as servers do: of 2,000 files some are gone, and some are there only when asked again."""

import http.server
import json
import sys
import threading


class Failing(http.server.BaseHTTPRequestHandler):
    """`/ok/N` is a file, `/gone/N` is not there, `/later/N` is refused with 500 once; `/told` says what was asked."""

    protocol_version = "HTTP/1.1"
    asked = {}
    guard = threading.Lock()

    def do_GET(self):
        if self.path == "/told":
            return self.answer(200, json.dumps(self.asked).encode())
        with self.guard:
            self.asked[self.path] = self.asked.get(self.path, 0) + 1
            number = self.asked[self.path]
        kind = self.path.split("/")[1]
        if kind == "gone":
            return self.answer(404, b"not here\n")
        if kind == "later" and number == 1:
            return self.answer(500, b"not now\n")
        self.answer(200, self.path.encode() * 40)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Failing)
    server.daemon_threads = True
    server.serve_forever()
