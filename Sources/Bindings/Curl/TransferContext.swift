internal import Glibc

/// What the callbacks of one transfer work on: its sink, its counters, and why it was ended.
final class TransferContext {
    private let sink: any TransferSink
    /// Nil where all connections are to a proxy.
    private let addressGuard: AddressGuard?
    private let bodyBytesMax: Int64
    private let followsRedirects: Bool
    /// Whether libcurl answers the next question of who asks.
    private var answersDigest: Bool
    /// A head that asked who asks, until it is known whether libcurl answers it.
    private var question: ResponseHead?
    private var head: ResponseHead?
    private var headBytes = 0
    private var bodyBytes: Int64 = 0
    /// Why a callback ended the transfer, where it was not the sink.
    private(set) var violation: Violation?
    /// The address that the guard refused last, with no permitted one after it.
    private(set) var refusedAddress: SocketAddress?

    /// Whether the head of the final response was whole.
    private(set) var hasHead = false

    enum Violation {
        case bodyTooLarge
        case headTooLarge
        case transferCoding
        case addressRefused
    }

    init(
        sink: any TransferSink, addressGuard: AddressGuard?, bodyBytesMax: Int64,
        followsRedirects: Bool, answersDigest: Bool = false
    ) {
        self.answersDigest = answersDigest
        self.sink = sink
        self.addressGuard = addressGuard
        self.bodyBytesMax = bodyBytesMax
        self.followsRedirects = followsRedirects
    }

    func receiveHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headBytes += line.count
        guard headBytes <= TransferPolicy.headBytesMax else {
            violation = .headTooLarge
            return false
        }
        // Within a head such a line is a field, as for libcurl: what was said before it holds.
        if head == nil, let started = ResponseHead(statusLine: line) {
            head = started
            return true
        }
        guard line.first == 0x0D || line.first == 0x0A else {
            head?.append(line: line)
            return true
        }
        // An empty line ends the head. Lines that follow the body are trailers: nobody asks.
        guard let ended = head.take() else { return true }
        return receive(ended)
    }

    private func receive(_ ended: ResponseHead) -> Bool {
        // libcurl would undo any codings that it knows, one upon the other and without a limit.
        guard ended.hasPlainFraming else {
            violation = .transferCoding
            return false
        }
        guard !ended.isInterim, !(followsRedirects && ended.isRedirect) else { return true }
        question = nil
        if answersDigest, ended.asksForDigest {
            (answersDigest, question) = (false, ended)
            return true
        }
        hasHead = true
        return sink.receive(ended)
    }

    /// A question that libcurl did not answer is the response. False: the sink refused it.
    @discardableResult
    func settle() -> Bool {
        guard let question = question.take() else { return true }
        hasHead = true
        return sink.receive(question)
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Reception {
        // libcurl keeps the body of a question to itself.
        guard settle() else { return .refused }
        guard bodyBytes + Int64(bytes.count) <= bodyBytesMax else {
            violation = .bodyTooLarge
            return .refused
        }
        let reception = sink.receive(bytes.bytes)
        if reception == .taken { bodyBytes += Int64(bytes.count) }
        return reception
    }

    /// Whether a request may go over a connection to this address. Connections are shared, and one
    /// transfer may have addresses that another one may not.
    func mayAsk(_ address: String, port: Int32) -> Bool {
        guard let addressGuard else { return true }
        let host = String(address.prefix { $0 != "%" })
        guard
            let target = IPAddress(host).flatMap({ ip in
                UInt16(exactly: port).map { SocketAddress(address: ip, port: $0) }
            })
        else { return false }
        guard !addressGuard.permits(target) else { return true }
        refusedAddress = target
        violation = .addressRefused
        return false
    }

    /// A socket for the address, or nil where the guard refuses it or the system has none.
    func openSocket(_ target: SocketAddress, family: Int32, kind: Int32, protocol: Int32) -> Int32?
    {
        guard addressGuard?.permits(target) ?? true else {
            refusedAddress = target
            return nil
        }
        refusedAddress = nil
        let descriptor = socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), `protocol`)
        guard descriptor >= 0 else { return nil }
        guard TurnBudget.watch(descriptor) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
