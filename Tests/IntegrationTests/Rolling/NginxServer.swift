import Linux
import TestKit

/// An nginx at a socket of its own.
final class NginxServer {
    private let folder = TestKit.TemporaryDirectory()
    private let child: ChildProcess

    /// Where it listens.
    var socket: String { folder.file("proxy.sock") }

    /// One before gateways: what its upstream refuses it tries at the next one, and says so in its
    /// log.
    ///
    /// - Parameter keeps: whether it keeps answers as they permit it, and says in `X-Proxy-Cache`
    ///   whether it had one.
    convenience init(before ports: [UInt16], keeps: Bool = false) throws {
        try self.init(beforePlaces: ports.map { "127.0.0.1:\($0)" }, keeps: keeps)
    }

    /// The same before places as nginx writes them, such as `unix:/PATH`.
    convenience init(beforePlaces places: [String], keeps: Bool = false) throws {
        let servers = places.map { "server \($0) max_fails=0;" }.joined(separator: " ")
        let said = "add_header X-Proxy-Cache $upstream_cache_status always;"
        try self.init(
            http: """
                \(keeps ? "proxy_cache_path kept keys_zone=kept:1m;" : "")
                upstream gateways { \(servers) }
                """,
            location: """
                proxy_pass http://gateways;
                \(keeps ? "proxy_cache kept; \(said)" : "")
                proxy_next_upstream error;
                proxy_connect_timeout 60s;
                proxy_read_timeout 120s;
                """)
    }

    /// One that answers requests with a text of its variables, such as `$uri`.
    convenience init(answering text: String) throws {
        try self.init(http: "", location: "return 200 \"\(text)\";")
    }

    /// `http` and `location`: what its configuration says within these.
    private init(http: String, location: String) throws {
        let folder = folder
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.file($0));"
        }
        let text = """
            daemon off; master_process off; error_log \(folder.file("errors")) warn;
            pid \(folder.file("pid"));
            events { worker_connections 1024; }
            http {
                access_log off; keepalive_requests 100000; \(temporary.joined(separator: " "))
                \(http)
                server {
                    listen unix:\(folder.file("proxy.sock"));
                    location / { \(location) }
                }
            }

            """
        let file = folder.write(Array(text.utf8), to: "nginx.conf")
        var command = ChildCommand("/usr/sbin/nginx", ["-c", file, "-p", folder.path])
        command.descriptors[2] = .null
        child = try ChildProcess.launch(command)
        try child.awaitListening(as: "nginx", said: { errors.last ?? "it logged nothing" }) {
            () throws(RawClient.ConnectionRefused) in _ = try RawClient(path: socket)
        }
    }

    deinit {
        try? child.send(.kill)
        _ = try? child.wait()
    }

    /// One request on a connection of its own.
    func get(_ target: String) throws -> RawClient.Response {
        let client = try RawClient(path: socket)
        client.get(target, "")
        return client.whole()
    }

    /// What it said of its upstreams so far.
    func complaints() throws -> [String] {
        errors.filter { $0.contains("upstream") || $0.contains("[error]") }
    }

    private var errors: [String] {
        (FileBytes.text(folder.file("errors")) ?? "").split(separator: "\n").map(String.init)
    }
}
