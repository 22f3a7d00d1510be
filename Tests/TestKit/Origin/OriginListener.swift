import Glibc

/// The listening socket of an origin server.
final class OriginListener: Sendable {
    private let descriptor: Int32
    let port: UInt16

    /// Listens on `wanted`; with 0 the system chooses the port.
    init(ipv6: Bool, port wanted: UInt16 = 0) {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = socket(ipv6 ? AF_INET6 : AF_INET, kind, 0)
        precondition(descriptor >= 0, "socket: \(errno)")
        let bound =
            ipv6 ? Self.bindIPv6(descriptor, wanted) : Self.bindIPv4(descriptor, wanted)
        precondition(bound == 0 && listen(descriptor, 4096) == 0, "bind, listen: \(errno)")
        port = Self.boundPort(descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Accepts connections until the gate opens; each gets a thread. Afterwards the port refuses
    /// connections.
    func acceptAll(_ ledger: Monitor<OriginLedger>, until stop: Gate) {
        // After shutdown the socket no longer listens; `deinit` closes it.
        defer { shutdown(descriptor, Int32(SHUT_RDWR)) }
        while true {
            let ready = Poll.wait(
                [.readable(stop.descriptor), .readable(descriptor)], timeout: nil)
            if ready == 0 { return }
            let peer = accept(descriptor, nil, nil)
            if peer < 0 { continue }
            _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
            _ = fcntl(peer, F_SETFL, O_NONBLOCK)
            var on: Int32 = 1
            setsockopt(
                peer, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            serve(peer, ledger, until: stop)
        }
    }

    private func serve(_ peer: Int32, _ ledger: Monitor<OriginLedger>, until stop: Gate) {
        let ordinal = ledger.withLock { ledger in
            ledger.threads += 1
            ledger.openConnections += 1
            ledger.acceptedConnections += 1
            return ledger.acceptedConnections
        }
        _ = BackgroundThread {
            do {
                var connection = OriginConnection(
                    descriptor: peer, ordinal: ordinal, ledger: ledger, stop: stop)
                connection.serveAll()
            }
            ledger.withLock { ledger in
                ledger.openConnections -= 1
                ledger.threads -= 1
            }
        }
    }

    private static func bindIPv4(_ descriptor: Int32, _ port: UInt16) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func bindIPv6(_ descriptor: Int32, _ port: UInt16) -> Int32 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }

    /// `sin_port` and `sin6_port` are at the same offset.
    private static func boundPort(_ descriptor: Int32) -> UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        precondition(code == 0, "getsockname: \(errno)")
        return UInt16(bigEndian: address.sin6_port)
    }
}
