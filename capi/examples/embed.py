"""A monitor over a core of your own, in Python, which does the HTTP itself.

    python3 embed.py path/to/liboutwatch.so '{"interval":"1m"}'
"""

import ctypes
import http.client
import json
import sys
import threading
import time
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t
from ctypes import c_uint16, c_uint32, c_uint64, c_void_p
from urllib.parse import urlsplit

ALL, DISPLAY = 0, 1


class Header(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Request(Structure):
    _fields_ = [
        ("tag", c_char_p), ("url", c_char_p), ("method", c_char_p),
        ("headers", POINTER(Header)), ("header_count", c_size_t),
        ("wanted", POINTER(c_char_p)), ("wanted_count", c_size_t),
        ("body_limit", c_uint32), ("repeat", ctypes.c_bool),
        ("family", c_uint32), ("deadline_ms", c_uint32),
    ]


class Response(Structure):
    _fields_ = [
        ("status", c_uint16), ("headers", POINTER(Header)), ("header_count", c_size_t),
        ("body", c_char_p), ("body_length", c_size_t),
        ("dns_us", c_uint64), ("dial_us", c_uint64), ("tls_us", c_uint64),
        ("first_byte_us", c_uint64), ("total_us", c_uint64), ("repeat_us", c_uint64),
    ]


LIST = CFUNCTYPE(None, c_void_p, c_void_p)
FETCH = CFUNCTYPE(None, c_void_p, c_uint64, POINTER(Request))
UPDATED = CFUNCTYPE(None, c_void_p, c_char_p)
TESTED = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class Core(Structure):
    _fields_ = [
        ("context", c_void_p), ("list", LIST), ("selected", c_void_p), ("status", c_void_p),
        ("dial", c_void_p), ("fetch", FETCH), ("cancel", c_void_p), ("released", c_void_p),
    ]


library = ctypes.CDLL(sys.argv[1])
library.outwatch_version.restype = c_char_p
library.outwatch_builder_new.restype = c_void_p
library.outwatch_builder_options.argtypes = [c_void_p, c_char_p]
library.outwatch_answer.argtypes = [c_void_p, c_char_p]
library.outwatch_fetched.argtypes = [c_uint64, POINTER(Response)]
library.outwatch_failed.argtypes = [c_uint64, c_char_p, c_char_p]
library.outwatch_start.argtypes = [c_void_p, POINTER(c_void_p), POINTER(c_char_p)]
library.outwatch_subscribe.argtypes = [
    c_void_p, c_uint32, c_char_p, c_uint32, UPDATED, c_void_p, c_void_p, c_void_p,
]
library.outwatch_test.argtypes = [c_void_p, c_char_p, TESTED, c_void_p, c_void_p]
library.outwatch_free.argtypes = [c_void_p]


@LIST
def list_outbounds(_, answer):
    outbounds = [{"tag": "straight", "type": "direct"}]
    library.outwatch_answer(answer, json.dumps(outbounds).encode())


def exchange_http(exchange, method, url, headers, limit, seconds):
    """One HTTP exchange, on a thread of its own."""
    began = time.monotonic()
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=seconds)
    try:
        path = parts.path + ("?" + parts.query if parts.query else "")
        connection.request(method, path or "/", headers=headers)
        answer = connection.getresponse()
        first_byte = time.monotonic()
        body = answer.read(limit)
        response = Response(
            status=answer.status, body=body, body_length=len(body),
            first_byte_us=int((first_byte - began) * 1e6),
            total_us=int((time.monotonic() - began) * 1e6),
        )
        library.outwatch_fetched(exchange, byref(response))
    except ConnectionRefusedError as error:
        library.outwatch_failed(exchange, b"dial_refused", str(error).encode())
    except (OSError, http.client.HTTPException) as error:
        library.outwatch_failed(exchange, b"other", str(error).encode())
    finally:
        connection.close()


@FETCH
def fetch(_, exchange, request):
    # What the request points to is gone when this returns, so it is copied.
    request = request.contents
    pairs = (request.headers[index] for index in range(request.header_count))
    headers = {pair.name.decode(): pair.value.decode() for pair in pairs}
    arguments = (
        exchange, request.method.decode(), request.url.decode(), headers,
        request.body_limit, request.deadline_ms / 1000,
    )
    threading.Thread(target=exchange_http, args=arguments, daemon=True).start()


located = threading.Event()


@UPDATED
def updated(_, text):
    if text is None:
        return  # The last call.
    for report in json.loads(text)["reports"]:
        print("update:", json.dumps(report))
        if report["ip"]:
            located.set()


@TESTED
def tested(_, code, text):
    print(f"tested ({code}): {text.decode()}")


core = Core(list=list_outbounds, fetch=fetch)
builder = library.outwatch_builder_new(byref(core))
if len(sys.argv) > 2:
    library.outwatch_builder_options(builder, sys.argv[2].encode())
monitor, message = c_void_p(), c_char_p()
if library.outwatch_start(builder, byref(monitor), byref(message)):
    sys.exit(f"it does not start: {message.value.decode()}")

print("outwatch", library.outwatch_version().decode())
library.outwatch_subscribe(monitor, ALL, None, DISPLAY, updated, None, None, None)
library.outwatch_test(monitor, b"straight", tested, None, None)
found = located.wait(timeout=60)
library.outwatch_free(monitor)  # Stops it, and waits until its thread is gone.
sys.exit(0 if found else "no address of the exit came")
