"""Origins that misuse TLS, HTTP/1.1 and HTTP/2, each on its own port.

    origins.py CERTIFICATE KEY IMAGE

Prints `NAME PORT` for each and then `ready`; runs until terminated. IMAGE is the body of complete
responses. The frames are written by hand, as no library sends such frames.
"""

import socket, ssl, struct, sys, threading, time

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED = 0x1, 0x4, 0x8
IMAGE = open(sys.argv[3], "rb").read()


# Writing

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def number(value, bits, first=0):
    """An HPACK integer (RFC 7541 §5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes(out + [value])


def text(value):
    return number(len(value), 7) + value


def field(name, value, indexed=False):
    """A header field with a literal name, which enters the dynamic table if `indexed`."""
    return bytes([0x40 if indexed else 0]) + text(name) + text(value)


def head(*fields, status=b"200", indexed=b""):
    return field(b":status", status) + b"".join(field(*one) for one in fields) + indexed


def answer(stream, body=IMAGE, *fields):
    """A complete response."""
    parts = [body[at:at + 16384] for at in range(0, len(body), 16384)] or [b""]
    out = frame(HEADERS, END_HEADERS, stream, head((b"content-type", b"image/png"), *fields))
    for part in parts[:-1]:
        out += frame(DATA, 0, stream, part)
    return out + frame(DATA, END_STREAM, stream, parts[-1])


def forever(connection, block, pause=0):
    """Sends a block until the connection is closed."""
    while True:
        connection.sendall(block)
        if pause:
            time.sleep(pause)


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def window(stream, count):
    return frame(WINDOW, 0, stream, struct.pack(">I", count))


def reset(stream, code):
    return frame(RST, 0, stream, struct.pack(">I", code))


def away(last, code=0):
    return frame(GOAWAY, 0, 0, struct.pack(">II", last, code))


OK = head((b"content-type", b"image/png"))


def begun(stream):
    """The head of a response whose body follows."""
    return frame(HEADERS, END_HEADERS, stream, OK)


# The response of each HTTP/2 origin to a request: a function of connection and stream.

def flood(*frames):
    """Repeats the frames of a stream: some 64 KB at a time."""
    def act(connection, stream):
        block = b"".join(f(stream) if callable(f) else f for f in frames)
        forever(connection, block * max(1, 65536 // len(block)))
    return act


def once(make):
    return lambda connection, stream: connection.sendall(make(stream))


def after_head(act):
    def both(connection, stream):
        connection.sendall(begun(stream))
        act(connection, stream)
    return both


def continued(first, flags=0):
    """A head, or trailers, that never end."""
    def act(connection, stream):
        connection.sendall(frame(HEADERS, flags, stream, first))
        block = frame(CONTINUATION, 0, stream, field(b"x-more", b"y" * 100) * 150)
        forever(connection, block)
    return act


def hpack_bomb(stream):
    """One byte for each field of 4,000 bytes."""
    first = field(b"x-large", b"y" * 4000, indexed=True)
    return frame(HEADERS, END_HEADERS, stream, OK + first + b"\xbe" * 12000)


def many_fields(stream):
    """Some 200 KB of small fields."""
    block = field(b"x", b"y") * 3000
    more = frame(CONTINUATION, 0, stream, block) * 9 + frame(CONTINUATION, 4, stream, block)
    return frame(HEADERS, 0, stream, OK + block) + more + frame(DATA, END_STREAM, stream, IMAGE)


def cut(stream):
    """Half of a body, whose length is not stated, and then an error that ends the connection."""
    half = frame(DATA, 0, stream, IMAGE[:len(IMAGE) // 2])
    return begun(stream) + half + window(0, 2**31 - 1) * 2


def dripping(connection, stream):
    connection.sendall(begun(stream))
    for byte in IMAGE:
        connection.sendall(frame(DATA, 0, stream, bytes([byte])))
        time.sleep(1)


def longer(stream):
    body = frame(DATA, END_STREAM, stream, IMAGE + b"more")
    length = (b"content-length", b"%d" % len(IMAGE))
    return frame(HEADERS, END_HEADERS, stream, OK + field(*length)) + body


def shorter(stream):
    body = frame(DATA, END_STREAM, stream, IMAGE[:-9])
    length = (b"content-length", b"%d" % len(IMAGE))
    return frame(HEADERS, END_HEADERS, stream, OK + field(*length)) + body


def pushed(stream):
    promise = struct.pack(">I", 2) + field(b":method", b"GET") + field(b":path", b"/b.png")
    return frame(PUSH, END_HEADERS, stream, promise) + answer(stream)


HTTP2 = {
    "whole": once(answer),
    "resets": once(lambda stream: begun(stream) + reset(stream, 2)),
    "refused-streams": once(lambda stream: reset(stream, 7)),
    "reset-flood": flood(lambda stream: reset(stream, 8), lambda stream: reset(stream + 2, 8)),
    "settings-flood": flood(settings((3, 100))),
    "ping-flood": flood(frame(PING, 0, 0, bytes(8))),
    "priority-flood": flood(lambda stream: frame(PRIORITY, 0, stream, bytes(5))),
    "unknown-flood": flood(frame(99, 0, 0, bytes(100))),
    "window-flood": flood(lambda stream: window(stream, 1)),
    "away-flood": flood(away(1)),
    "empty-data": after_head(flood(lambda stream: frame(DATA, 0, stream))),
    "padding": after_head(
        flood(lambda stream: frame(DATA, PADDED, stream, bytes([255]) + bytes(255)))),
    "interim-flood": flood(
        lambda stream: frame(HEADERS, END_HEADERS, stream, head(status=b"103"))),
    "endless-head": continued(OK),
    "endless-trailers": after_head(continued(field(b"x", b"y"), END_STREAM)),
    "many-fields": once(many_fields),
    "field-bomb": once(hpack_bomb),
    "half-head": once(lambda stream: frame(HEADERS, 0, stream, OK)),
    "two-heads": once(lambda stream: begun(stream) * 2),
    "no-status": once(lambda stream: frame(
        HEADERS, END_HEADERS, stream, field(b"content-type", b"image/png"))),
    "wrong-status": once(lambda stream: frame(HEADERS, END_HEADERS, stream, head(status=b"2xx"))),
    "upper-case": once(lambda stream: frame(
        HEADERS, END_HEADERS, stream, OK + field(b"X-Upper", b"y"))),
    "line-break": once(lambda stream: frame(
        HEADERS, END_HEADERS, stream, OK + field(b"x", b"y\r\nlocation: /b.png"))),
    "bad-index": once(lambda stream: frame(HEADERS, END_HEADERS, stream, b"\xff\xff\x7f")),
    "longer": once(longer),
    "shorter": once(shorter),
    "pushed": once(pushed),
    "away-below": once(lambda stream: begun(stream) + away(0)),
    "away-at-once": once(lambda stream: away(0, 11)),
    "window-zero": once(lambda stream: begun(stream) + window(stream, 0)),
    "window-overflow": once(lambda stream: begun(stream) + window(stream, 2**31 - 1) * 2),
    "connection-window-overflow": once(lambda stream: begun(stream) + window(0, 2**31 - 1) * 2),
    "cut-by-overflow": once(cut),
    "huge-frame": once(lambda stream: begun(stream) + frame(DATA, 0, stream, bytes(1 << 20))),
    "other-stream": once(lambda stream: begun(stream + 100)),
    "silent-stream": once(lambda stream: b""),
    "silent-body": once(begun),
    "byte-a-second": dripping,
    "endless-body": after_head(
        flood(lambda stream: frame(DATA, 0, stream, bytes(16384)))),
    "text": once(lambda stream: b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx" * 9),
}

# Data sent before a request.
FIRST = {
    "no-streams": settings((3, 0)),
    "huge-windows": settings((4, 2**32 - 1)),
    "tiny-frames": settings((5, 1)),
    "table-flood": settings((1, 2**32 - 1)) * 500,
}


def http2(name):
    def serve(connection):
        connection.sendall(FIRST.get(name, settings()))
        act = HTTP2.get(name, HTTP2["whole"])
        data = connection.recv(65536)
        while len(data) < 24:
            data += read(connection)
        data = data[24:]
        while True:
            while len(data) < 9 or len(data) < 9 + int.from_bytes(data[:3], "big"):
                data += read(connection)
            length, kind = int.from_bytes(data[:3], "big"), data[3]
            stream = int.from_bytes(data[5:9], "big")
            if kind == SETTINGS and not data[4] & 1:
                connection.sendall(frame(SETTINGS, 1, 0))
            data = data[9 + length:]
            if kind == HEADERS:
                act(connection, stream)
    return serve


# HTTP/1.1 behind TLS.

START = b"HTTP/1.1 200 OK\r\n"


def http1(first, block=b"", pause=0):
    def serve(connection):
        read(connection)
        connection.sendall(first)
        if block:
            forever(connection, block, pause)
        time.sleep(3600)
    return serve


HTTP1 = {
    "interim-answers": http1(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000),
    "slow-interim-answers": http1(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 1),
    "slow-head": http1(START + b"X: ", b"y", 1),
    "endless-line": http1(START + b"X: ", b"y" * 65536),
    "endless-fields": http1(START, b"X: y\r\n" * 8192),
    "chunk-extension": http1(
        START + b"Transfer-Encoding: chunked\r\n\r\n1;", b"y" * 65536),
    "empty-lines": http1(b"", b"\r\n" * 32768),
    "chunk-trailers": http1(
        START + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"X: y\r\n" * 8192),
    "ticket-flood": http1(b""),
}


# Before and within TLS.

def mute(connection):
    time.sleep(3600)


def handshake_drip(connection):
    """The start of a record that never ends."""
    forever(connection, b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb" + b"\x03", 1)


def alerts(connection):
    """Warnings that are valid during a handshake, repeated."""
    forever(connection, b"\x15\x03\x03\x00\x02\x01\x5a" * 8192)


def hello_requests(connection):
    """TLS 1.2 messages that a client skips during a handshake."""
    read(connection)
    forever(connection, (b"\x16\x03\x03\x40\x00" + bytes(16384)) * 4)


def plain(connection):
    connection.sendall(START + b"Content-Length: 1\r\n\r\nx")
    time.sleep(3600)


TCP = {
    "mute": mute, "handshake-drip": handshake_drip, "alerts": alerts,
    "hello-requests": hello_requests, "no-tls": plain,
}


def read(connection):
    data = connection.recv(65536)
    if not data:
        raise ConnectionError
    return data


def secure(name, protocols):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(protocols)
    if name == "ticket-flood":
        context.num_tickets = 50_000_000
    return lambda connection: context.wrap_socket(connection, server_side=True)


def listen(name, wrap, serve):
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)

    def one(connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with wrap(connection) as stream:
                serve(stream)
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def all():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=one, args=(connection,), daemon=True).start()

    threading.Thread(target=all, daemon=True).start()
    print(name, listener.getsockname()[1])


for name in list(HTTP2) + list(FIRST):
    listen(name, secure(name, ["h2"]), http2(name))
for name, serve in HTTP1.items():
    listen(name, secure(name, ["http/1.1"]), serve)
for name, serve in TCP.items():
    listen(name, lambda connection: connection, serve)
print("ready", flush=True)
threading.Event().wait()
