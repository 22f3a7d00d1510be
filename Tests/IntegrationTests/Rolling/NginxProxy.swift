import Linux
import TestKit

/// An nginx before gateways, at a socket of its own: what its upstream refuses it tries at the next
/// one, and says so in its log.
final class NginxProxy {
    private let folder = TestKit.TemporaryDirectory()
    private let child: ChildProcess

    /// Where it listens.
    var socket: String { folder.file("proxy.sock") }

    /// - Parameter keeps: whether it keeps answers as they permit it, and says in `X-Proxy-Cache`
    ///   whether it had one.
    convenience init(before ports: [UInt16], keeps: Bool = false) throws {
        try self.init(beforePlaces: ports.map { "127.0.0.1:\($0)" }, keeps: keeps)
    }

    /// The same before places as nginx writes them, such as `unix:/PATH`.
    init(beforePlaces places: [String], keeps: Bool = false) throws {
        let folder = folder
        let servers = places.map { "server \($0) max_fails=0;" }.joined(separator: " ")
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.file($0));"
        }
        let said = "add_header X-Proxy-Cache $upstream_cache_status always;"
        let text = """
            daemon off; master_process off; error_log \(folder.file("errors")) warn;
            pid \(folder.file("pid"));
            events { worker_connections 1024; }
            http {
                access_log off; \(temporary.joined(separator: " "))
                \(keeps ? "proxy_cache_path \(folder.file("kept")) keys_zone=kept:1m;" : "")
                upstream gateways { \(servers) }
                server {
                    listen unix:\(folder.file("proxy.sock"));
                    location / {
                        proxy_pass http://gateways;
                        \(keeps ? "proxy_cache kept; \(said)" : "")
                        proxy_next_upstream error;
                        proxy_connect_timeout 60s;
                        proxy_read_timeout 120s;
                    }
                }
            }

            """
        let file = folder.write(Array(text.utf8), to: "nginx.conf")
        var command = ChildCommand("/usr/sbin/nginx", ["-c", file, "-p", folder.path])
        command.descriptors[2] = .null
        child = try ChildProcess.launch(command)
        try awaitListening()
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

    /// Its socket is there before anybody listens at it.
    private var isListening: Bool {
        do {
            _ = try RawClient(path: socket)
            return true
        } catch {
            return false
        }
    }

    private func awaitListening() throws {
        let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
        var pause = PollingPause()
        while !isListening {
            let reason = errors.last ?? "it logged nothing"
            if let status = try child.poll() {
                throw StackFailure("nginx ended before it listened (\(status)): \(reason)")
            }
            guard ContinuousClock.now < deadline else {
                throw StackFailure("nginx did not listen within \(defaultTimeout): \(reason)")
            }
            pause.wait()
        }
    }
}
