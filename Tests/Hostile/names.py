"""A name server that changes its answers, and hosts at the addresses in them.

    names.py IMAGE RESOLVER ZONE

Runs as root of its own network and mount namespace. ZONE is JSON: for each name the answers to its
lookups, one after another; the last one repeats. An answer is a list of addresses, empty if there
is none, or null for no response. RESOLVER is the file that becomes /etc/resolv.conf. Each address
in ZONE belongs to this host, except for those of 93.184.217.0/24.

Prints `ready`, then `ADDRESS PORT` for each connection.
"""

import http.server, ipaddress, json, socket, struct, subprocess, sys, threading

IMAGE = open(sys.argv[1], "rb").read()
ZONE = json.loads(sys.argv[3])
PORTS = [80, 8081, 8082, 8083]
lock = threading.Lock()


def say(*words):
    with lock:
        print(*words, flush=True)


def run(*words):
    subprocess.run(words, check=True)


def network():
    run("ip", "link", "set", "lo", "up")
    texts = {one for answers in ZONE.values() for all in answers for one in all or []}
    for address in map(ipaddress.ip_address, sorted(texts)):
        mapped = address.version == 6 and address.ipv4_mapped
        inside = address.is_loopback or address.is_unspecified or mapped
        if inside or address in ipaddress.ip_network("93.184.217.0/24"):
            continue
        bits = "32" if address.version == 4 else "128"
        run("ip", "address", "add", f"{address}/{bits}", "dev", "lo", *(
            ["nodad"] if address.version == 6 else []))
    with open(sys.argv[2], "w") as file:
        file.write("nameserver 127.0.0.1\noptions timeout:5 attempts:2\n")
    run("mount", "--bind", sys.argv[2], "/etc/resolv.conf")


def serve_names():
    seen = {}
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def loop():
        while True:
            question, peer = server.recvfrom(4096)
            at, labels = 12, []
            while question[at]:
                labels.append(question[at + 1:at + 1 + question[at]].decode())
                at += 1 + question[at]
            name = ".".join(labels)
            kind, = struct.unpack(">H", question[at + 1:at + 3])
            # Any label before a known name resolves like that name.
            known = name if name in ZONE else name.split(".", 1)[-1]
            count = seen[name, kind] = seen.get((name, kind), -1) + 1
            answers = ZONE.get(known, [[]])
            answer = answers[min(count, len(answers) - 1)]
            if answer is None:
                continue
            wanted = [ipaddress.ip_address(one) for one in answer]
            wanted = [one.packed for one in wanted if one.version == (4 if kind == 1 else 6)]
            records = b"".join(
                struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(one)) + one for one in wanted)
            head = question[:2] + struct.pack(">HHHHH", 0x8580, 1, len(wanted), 0, 0)
            server.sendto(head + question[12:at + 5] + records, peer)

    threading.Thread(target=loop, daemon=True).start()


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        address, port = self.request.getsockname()[:2]
        say(address.removeprefix("::ffff:"), port)
        super().setup()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self.send_response(302 if path == "/to" else 200)
        if path == "/to":
            self.send_header("Location", query)
        body = b"" if path == "/to" else IMAGE
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6


network()
serve_names()
for port in PORTS:
    threading.Thread(target=Server(("::", port), Host).serve_forever, daemon=True).start()
say("ready")
threading.Event().wait()
