import Glibc
import Linux
import MicroHTTPD
import Model
import ProcessRuntime
import TestKit
import Testing

@testable import Imagebus
@testable import WebFront

/// A front that answers each request with zeros, keeps its responses, and records how each request
/// was answered.
final class HotFront: EventedHandler {
    enum Way: Equatable {
        /// Not answered from a kept response.
        case computed
        /// By the examined fields.
        case byFields
        /// By the whole head.
        case byHead
    }

    /// Zeros that take no memory as long as they aren't written.
    private final class Zeros {
        let bytes: UnsafeRawBufferPointer

        init(_ count: Int) {
            bytes = UnsafeRawBufferPointer(start: calloc(count, 1), count: count)
        }

        deinit { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }
    }

    let hot = HotAnswers()
    let voucher: AnswerVoucher
    /// The time, in seconds.
    var second: Int64 = 1
    /// The size of subsequent bodies, in bytes.
    var bodyBytes = 1
    private let zeros = Zeros(2 << 20)
    private(set) var ways: [Way] = []
    private(set) var ends = 0
    /// The head size of the last request that wasn't answered by its head.
    private(set) var headBytes = 0
    /// The properties of the last kept response besides its reply.
    private(set) var reported: (source: String, cache: CacheResult?)?

    init(_ voucher: AnswerVoucher) { self.voucher = voucher }

    func answerToKnownHead(of exchange: EventedExchange) -> PreparedReply? {
        hot.answer(toHeadOf: exchange, at: second).map { reply($0, .byHead) }
    }

    func handle(_ exchange: EventedExchange) {
        headBytes = exchange.headCopy?.byteCount ?? 0
        if let known = hot.answer(to: exchange, at: second) {
            return exchange.answer(reply(known, .byFields))
        }
        ways.append(.computed)
        var fields = LookedAt()
        fields.note("Accept", exchange.header("Accept"))
        exchange.answer(keep(exchange.method, exchange.target, fields))
    }

    func ended(_ exchange: EventedExchange, _ end: HTTPEnd) { ends += 1 }

    private func reply(_ known: HotAnswers.Answer, _ way: Way) -> PreparedReply {
        ways.append(way)
        reported = (known.source, known.cache)
        return known.reply
    }

    /// Keeps a response as if it had just been made.
    @discardableResult
    func keep(_ method: String, _ target: String, _ fields: LookedAt) -> PreparedReply {
        let bytes = UnsafeRawBufferPointer(rebasing: zeros.bytes[..<bodyBytes])
        return hot.keep(
            HTTPReply(body: .memory(bytes, owner: zeros)), to: (method, target), fields,
            at: second, voucher, from: "http://h/source", .memory)
    }
}

/// Such a front on a port, and a client of it; both on the thread of the test.
final class HotBench {
    // Declared first, so that it ends before everything that it uses.
    private let server: EventedHTTPServer
    private let client: RawClient
    let front: HotFront
    let file: VoucherFile
    let uses: VoucherUses
    private let folder: TestKit.TemporaryDirectory

    init() throws {
        let folder = TestKit.TemporaryDirectory()
        let epoch = Epoch(Identifier128(high: 3, low: 4))
        let file = try VoucherFile(in: folder.path, epoch: epoch, words: 16)
        file.set(1, to: 1)
        let words = try #require(
            VoucherReader(besideSocket: folder.path + "/front.sock", epoch: epoch, words: 16))
        let uses = VoucherUses(try CommandQueue(commandsMax: 16))
        let front = HotFront(AnswerVoucher(Voucher(number: 1), words, uses))
        let server = try EventedHTTPServer(
            listener: StreamListener(address: "127.0.0.1", port: 0).relinquish(), handler: front)
        let client = try RawClient(port: server.port)
        (self.front, self.uses, self.folder) = (front, uses, folder)
        self.file = file
        self.server = server
        self.client = client
    }

    /// Sends a request and returns how it was answered.
    func ask(
        _ target: String = "/a", _ fields: String..., method: String = "GET"
    ) throws -> HotFront.Way {
        let lines = ["\(method) \(target) HTTP/1.1", "Host: h"] + fields
        client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        let (ends, deadline) = (front.ends + 1, ContinuousClock.now.advanced(by: .seconds(60)))
        while front.ends < ends {
            try #require(ContinuousClock.now < deadline, "no event arrived")
            var entry = pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, Int32(min(server.millisecondsUntilDue ?? 100, 100)))
            server.run()
        }
        return try #require(front.ways.last)
    }

    /// Sends `count` requests and returns how each was answered.
    func ask(
        times count: Int, _ target: String = "/a", _ field: String = "Accept: b"
    ) throws -> [HotFront.Way] {
        try (0..<count).map { _ in try ask(target, field) }
    }
}
