"""One HTTP exchange through a proxy, or directly where there is none.

It must not know the engine: a request comes in as a dict, and an answer goes out as one.
"""

import errno
import http.client
import socket
import ssl
import time
from urllib.parse import urlsplit

# What a failed exchange raises; `ValueError` is of names that are no host names.
ERRORS = (OSError, ValueError, http.client.HTTPException, NotImplementedError)

# Which kind of error each is; the first that fits counts.
KINDS = [
    (ssl.SSLCertVerificationError, "tls-cert"),
    (ssl.SSLError, "tls-fail"),
    (socket.gaierror, "dns-fail"),
    (TimeoutError, "timeout"),
    (ConnectionRefusedError, "dial-refused"),
    (http.client.RemoteDisconnected, "eof"),
    (http.client.IncompleteRead, "eof"),
    (ConnectionError, "reset"),
    (http.client.HTTPException, "http-malformed"),
    (NotImplementedError, "unsupported"),
]


class Exchange:
    def __init__(self, proxy, request):
        self._request = request
        self._socket = None
        url = urlsplit(request["url"])
        secure = url.scheme == "https"
        server = urlsplit(proxy) if proxy else url
        port = server.port or (80 if proxy else None)
        connection = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        timeout = request["deadline"] / 1e9
        self._connection = connection(server.hostname, port, timeout=timeout)
        self._target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        if proxy and secure:
            self._connection.set_tunnel(url.hostname, url.port)
        elif proxy:
            self._target = request["url"]

    def run(self):
        """Blocks for as long as a slow server likes, unless another thread closes it."""
        if self._request["ipv6-only"]:
            raise NotImplementedError("this host cannot choose the address family")
        began = time.monotonic_ns()
        self._connection.connect()
        self._socket = self._connection.sock
        response = self._send()
        first_byte = time.monotonic_ns() - began
        wanted = self._request["response-headers"]
        headers = [(name.lower(), value) for name, value in response.getheaders()]
        return {
            "status": response.status,
            "headers": [(name, value) for name, value in headers if name in wanted],
            "body": response.read(self._request["body-limit"]),
            "first_byte": first_byte,
            "repeat": self._repeat() if self._request["repeat"] else None,
        }

    def close(self):
        """Wakes the thread that runs it."""
        if self._socket:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def kind(self, error):
        """The contract's word for what `run` raised."""
        if isinstance(error, TimeoutError) and self._socket is None:
            return "dial-timeout"
        if str(error).startswith("Tunnel connection failed"):
            return "proxy-auth" if " 407" in str(error) else "proxy-handshake"
        if getattr(error, "errno", None) in (errno.ENETUNREACH, errno.EHOSTUNREACH):
            return "no-route"
        return next((kind for known, kind in KINDS if isinstance(error, known)), "other")

    def _send(self):
        method = "HEAD" if self._request["head"] else "GET"
        self._connection.request(method, self._target, headers=dict(self._request["headers"]))
        return self._connection.getresponse()

    def _repeat(self):
        began = time.monotonic_ns()
        # A connection that the server closed would be opened anew, which is no repeat.
        if self._connection.sock is not self._socket:
            return None
        try:
            self._send()
        except ERRORS:
            return None
        return time.monotonic_ns() - began
