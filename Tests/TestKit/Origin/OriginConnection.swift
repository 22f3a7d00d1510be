import Glibc

/// How a read, a write or a pause on a connection ended.
enum ConnectionEvent: Equatable {
    case proceeded
    case closedByClient
    case stopped
}

/// One accepted connection: reads requests and writes answers until either side closes.
struct OriginConnection: ~Copyable {
    private let descriptor: Int32
    private let ordinal: Int
    private let ledger: Monitor<OriginLedger>
    private let stop: Gate
    private var received: [UInt8] = []
    private var newestPath: String?

    init(descriptor: Int32, ordinal: Int, ledger: Monitor<OriginLedger>, stop: Gate) {
        self.descriptor = descriptor
        self.ordinal = ordinal
        self.ledger = ledger
        self.stop = stop
    }

    deinit {
        close(descriptor)
    }

    mutating func serveAll() {
        var event = ConnectionEvent.proceeded
        while event == .proceeded, let request = readRequest(&event) {
            newestPath = request.path
            let response = ledger.withLock { $0.record(request) }.answer(request)
            guard !response.closesAtOnce else { return }
            event = send(response, toHead: request.method == "HEAD")
            if response.endsConnection || request.header("connection") == "close" { break }
        }
        if event == .closedByClient, let newestPath {
            ledger.withLock { $0.closedByClient[newestPath, default: 0] += 1 }
        }
    }

    private mutating func readRequest(_ event: inout ConnectionEvent) -> OriginRequest? {
        var head: OriginRequestHead?
        while true {
            head = head ?? OriginRequestHead(parsing: received, connection: ordinal)
            if let head, received.count >= head.byteCount + head.bodyByteCount {
                received.removeFirst(head.byteCount + head.bodyByteCount)
                return head.request
            }
            guard received.count < 1 << 20, beginsLikeHTTP else { return nil }
            event = readMore()
            if event != .proceeded { return nil }
        }
    }

    /// A method begins with a letter. A TLS ClientHello doesn't; the connection is closed then.
    private var beginsLikeHTTP: Bool {
        received.first.map { (0x41...0x5A).contains($0) } ?? true
    }

    private mutating func readMore() -> ConnectionEvent {
        let ready = Poll.wait([.readable(stop.descriptor), .readable(descriptor)], timeout: nil)
        if ready == 0 { return .stopped }
        var buffer = [UInt8](repeating: 0, count: 16384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count < 0 && (errno == EAGAIN || errno == EINTR) { return .proceeded }
        guard count > 0 else { return .closedByClient }
        received += buffer[..<count]
        return .proceeded
    }

    private func send(_ response: OriginResponse, toHead: Bool) -> ConnectionEvent {
        var event = pause(for: response.headGate)
        if event == .proceeded { event = write(response.head) }
        if event == .proceeded { event = pause(for: response.bodyGate) }
        if event == .proceeded, !toHead, response.hasBody { event = sendBody(of: response) }
        if event == .proceeded { event = pause(for: response.endGate) }
        return event
    }

    private func sendBody(of response: OriginResponse) -> ConnectionEvent {
        let end = min(response.body.count, response.closesAfter ?? Int.max)
        var offset = 0
        while offset < end {
            if case .stepped(_, let turnstile) = response.pace {
                let event = pass(turnstile)
                if event != .proceeded { return event }
            }
            let part = response.body.slice(
                from: offset, count: min(response.pace.stepByteCount, end - offset))
            var event = write(response.framed(part))
            offset += part.count
            if event == .proceeded, case .steady(_, let interval, let gate) = response.pace,
                offset < end
            {
                event = wait(for: gate?.descriptor, timeout: interval)
            }
            if event != .proceeded { return event }
        }
        return end == response.body.count ? write(response.trailer) : .proceeded
    }

    // MARK: - Descriptor

    private func write(_ bytes: [UInt8]) -> ConnectionEvent {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(
                    descriptor, $0.baseAddress.map { $0 + sent }, $0.count - sent,
                    Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                let ready = Poll.wait(
                    [.readable(stop.descriptor), .writable(descriptor)], timeout: nil)
                if ready == 0 { return .stopped }
            } else if errno != EINTR {
                return .closedByClient
            }
        }
        return .proceeded
    }

    private func pause(for gate: Gate?) -> ConnectionEvent {
        guard let gate else { return .proceeded }
        return wait(for: gate.descriptor, timeout: nil)
    }

    private func pass(_ turnstile: Turnstile) -> ConnectionEvent {
        while !turnstile.receive() {
            let event = wait(for: turnstile.descriptor, timeout: nil)
            if event != .proceeded { return event }
        }
        return .proceeded
    }

    private func wait(for event: Int32?, timeout: Duration?) -> ConnectionEvent {
        var descriptors: [pollfd] = [.readable(stop.descriptor), .closed(descriptor)]
        if let event { descriptors.append(.readable(event)) }
        switch Poll.wait(descriptors, timeout: timeout) {
        case 0: return .stopped
        case 1: return .closedByClient
        default: return .proceeded
        }
    }
}
