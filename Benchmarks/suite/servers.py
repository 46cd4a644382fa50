"""The servers of the benchmarks, on this machine alone: nginx over http, https and HTTP/2, and the same behind a delay."""

import os
import shutil
import socket
import subprocess
import time

from measure import build

HERE = os.path.dirname(os.path.abspath(__file__))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Nginx:
    """One server with a folder; ports for http, https and HTTP/2."""

    def __init__(self, folder, files, workers=1):
        self.folder = folder
        self.http, self.https, self.http2 = free_port(), free_port(), free_port()
        self.ca = certificate(folder)
        self.delays = []
        conf = os.path.join(folder, "nginx.conf")
        paths = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        shared = (f"root {files}; location = /hook {{ client_max_body_size 8m; return 204; }}"
                  f"location /slow/ {{ alias {files}/; limit_rate 256k; }}")
        tls = f"ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.key;"
        with open(conf, "w") as file:
            file.write(f"""
{"user root;" if os.geteuid() == 0 else ""}
worker_processes {workers}; worker_rlimit_nofile 65536; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 8192; }}
http {{
  access_log off; sendfile on; tcp_nodelay on; keepalive_requests 10000000; keepalive_timeout 300;
  types {{ image/jpeg jpg; }} default_type application/octet-stream; {paths}
  server {{ listen 127.0.0.1:{self.http}; {shared} }}
  server {{ listen 127.0.0.1:{self.https} ssl; {tls} {shared} }}
  server {{ listen 127.0.0.1:{self.http2} ssl http2; http2_max_concurrent_streams 128; {tls} {shared} }}
}}
""")
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen(
            [program, "-c", conf], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.http)

    def delayed(self, port, milliseconds):
        """A port behind which `port` is, so far away in all that a round trip takes `milliseconds`."""
        program = build("delay")
        if not program:
            raise RuntimeError("without a compiler nothing can be far away")
        far = free_port()
        self.delays.append(subprocess.Popen([program, str(far), str(port), str(milliseconds * 500)]))
        wait_for(far)
        return far

    def close(self):
        for process in [*self.delays, self.process]:
            process.terminate()
            process.wait()


def wait_for(port):
    end = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise RuntimeError(f"nothing listens on port {port}")
            time.sleep(0.02)


def certificate(folder):
    """A certificate for 127.0.0.1, signed by an authority of its own; the path of the authority's."""

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=bench authority")
    openssl("req", *curve, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1")
    with open(os.path.join(folder, "names"), "w") as file:
        file.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
            "-extfile", "names", "-out", "server.pem")
    return os.path.join(folder, "ca.pem")
