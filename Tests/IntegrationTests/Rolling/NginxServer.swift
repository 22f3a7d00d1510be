/// An nginx on a Unix socket.
final class NginxServer {
    private let child: ChildProcess
    private let folder = TemporaryDirectory()

    /// The path of its socket.
    var socket: String { folder.file("proxy.sock") }

    /// A proxy for gateways: connections refused by one upstream are retried at the next one, and
    /// reported in its log.
    ///
    /// - Parameter keeps: whether it caches responses as they permit, and reports hits in
    ///   `X-Proxy-Cache`.
    convenience init(before ports: [UInt16], keeps: Bool = false) throws {
        try self.init(beforePlaces: ports.map { "127.0.0.1:\($0)" }, keeps: keeps)
    }

    /// The same for upstreams in nginx syntax, such as `unix:/PATH`.
    convenience init(beforePlaces places: [String], keeps: Bool = false) throws {
        let servers = places.map { "server \($0) max_fails=0;" }.joined(separator: " ")
        let cacheField = "add_header X-Proxy-Cache $upstream_cache_status always;"
        try self.init(
            http: """
                \(keeps ? "proxy_cache_path kept keys_zone=kept:1m;" : "")
                upstream gateways { \(servers) }
                """,
            location: """
                proxy_pass http://gateways;
                \(keeps ? "proxy_cache kept; \(cacheField)" : "")
                proxy_next_upstream error;
                proxy_connect_timeout 60s;
                proxy_read_timeout 120s;
                """)
    }

    /// A server that answers requests with a text of its variables, such as `$uri`.
    convenience init(answering text: String) throws {
        try self.init(http: "", location: "return 200 \"\(text)\";")
    }

    /// Starts nginx; `http` and `location` are added to these blocks of its configuration.
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
        let file = folder.write(text, to: "nginx.conf")
        var command = ChildCommand("/usr/sbin/nginx", ["-c", file, "-p", folder.path])
        command.descriptors[2] = .null
        child = try ChildProcess.launch(command)
        try child.awaitListening(as: "nginx", lastOutput: { errors.last ?? "it logged nothing" }) {
            () throws(RawClient.ConnectionRefused) in _ = try RawClient(path: socket)
        }
    }

    /// Sends one request on a connection of its own.
    func get(_ target: String) throws -> RawClient.Response {
        let client = try RawClient(path: socket)
        client.get(target, "")
        return client.whole()
    }

    /// The upstream errors in its log so far.
    func complaints() throws -> [String] {
        errors.filter { $0.contains("upstream") || $0.contains("[error]") }
    }

    private var errors: [String] {
        (FileBytes.text(folder.file("errors")) ?? "").split(separator: "\n").map(String.init)
    }
}
