import Model
import TestKit
import Testing

@testable import Downloading

/// Bodies in content and transfer codings.
@Suite struct CodingTests {
    /// Hardly compressible bytes, so that more arrive than are queued for decoding.
    private static let plain = RandomBytes.make(3_000_000)

    /// Names of a coding and how to produce it.
    enum Packing: String, CaseIterable, Sendable {
        case gzip, xGzip, deflate, rawDeflate, members, identity, spelled

        var names: String {
            switch self {
            case .gzip, .members: "gzip"
            case .xGzip: "x-gzip"
            case .deflate, .rawDeflate: "deflate"
            case .identity: "identity"
            case .spelled: " identity, , GZip "
            }
        }

        func pack(_ bytes: [UInt8]) throws -> [UInt8] {
            switch self {
            case .gzip, .xGzip, .spelled: try PackedBodies.gzip(bytes)
            case .deflate: try PackedBodies.deflate(bytes)
            case .rawDeflate: try PackedBodies.deflate(bytes, hasHeader: false)
            case .members:
                try PackedBodies.gzip(Array(bytes.prefix(1_000_000)))
                    + PackedBodies.gzip([])
                    + PackedBodies.gzip(Array(bytes.dropFirst(1_000_000)))
            case .identity: bytes
            }
        }
    }

    @Test(arguments: Packing.allCases) func oneLayerIsUndone(_ packing: Packing) async throws {
        let bench = try DownloadBench()
        let packed = OriginBehavior.bytes(try packing.pack(Self.plain))
            .with(header: "Content-Encoding", packing.names)
        bench.origin.route("/whole", packed)
        bench.origin.route("/pieces", packed.changed { $0.length = .chunked })
        for (id, path) in ["/whole", "/pieces"].enumerated() {
            bench.start(path, id: UInt64(id))
            let outcomes = try #require(await bench.outcomes.wait(count: id + 1))
            let body = try #require(outcomes[id].body, "\(outcomes[id])")
            #expect(bench.space.bytes(body.reference) == Self.plain)
        }
        #expect(bench.origin.requests("/whole").first?.header("accept-encoding") == "identity")
    }

    @Test func bytesOneByOneAreEnough() async throws {
        let bench = try DownloadBench()
        for (id, packing) in Packing.allCases.enumerated() {
            let bytes = try packing.pack(Array("hello".utf8))
            let turnstile = Turnstile()
            turnstile.admit(bytes.count)
            bench.origin.route(
                "/\(id)",
                .stepped(bytes, chunk: 1, by: turnstile)
                    .with(header: "Content-Encoding", packing.names))
            bench.start("/\(id)", id: UInt64(id))
            let outcomes = try #require(await bench.outcomes.wait(count: id + 1))
            let body = try #require(outcomes[id].body, "\(packing): \(outcomes[id])")
            #expect(bench.space.bytes(body.reference) == Array("hello".utf8))
        }
    }

    @Test func aRedirectMayNameACodingOfItsText() async throws {
        let bench = try DownloadBench()
        bench.origin.route("/a", .redirect(to: "/b").with(header: "Content-Encoding", "br"))
        bench.origin.route("/b", .bytes([1]))
        bench.start("/a")
        #expect(await bench.body() != nil)
    }

    static let refused = [
        "gzip, gzip", "gzip,deflate", "br", "zstd", "compress", "rot13", "gzip;q=1", "gzip gzip",
    ]

    @Test(arguments: refused) func anyOtherCodingBreaksTheProtocol(_ names: String) async throws {
        let bench = try DownloadBench.started(
            "/a", .bytes([1, 2, 3]).with(header: "Content-Encoding", names))
        let failure = try #require(await bench.failure())
        #expect(failure.code == .protocolBroken)
        #expect(failure.message.contains("'\(names.replacing(",d", with: ", d"))'"))
        #expect(bench.space.liveCount == 0)
    }

    @Test func twoLinesOfOneCodingAreTwoCodings() async throws {
        let bench = try DownloadBench.started(
            "/a",
            .bytes([1]).with(header: "Content-Encoding", "gzip")
                .with(header: "Content-Encoding", "gzip"))
        #expect(await bench.failure()?.code == .protocolBroken)
    }

    @Test(arguments: [
        "gzip, chunked", "gzip, gzip", "gzip", "chunked, chunked", "br", "identity", "chun ked",
        "gzip, gzip, gzip, gzip, gzip, gzip, gzip", "rot13", "",
    ])
    func anyTransferCodingButChunkedBreaksTheProtocol(_ names: String) async throws {
        let bench = try DownloadBench.started(
            "/a",
            .raw(
                Array(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(names)\r\n\r\n1\r\na\r\n0\r\n\r\n".utf8
                )))
        #expect(await bench.failure()?.code == .protocolBroken)
        #expect(bench.space.liveCount == 0)
    }

    /// The kinds of damage to a gzip body.
    enum Damage: CaseIterable, Sendable {
        case cutOff, cutInHeader, noGzip, checkSum, followed

        var code: ErrorCode {
            switch self {
            case .cutOff, .cutInHeader: .shortBody
            case .noGzip, .checkSum, .followed: .badEncoding
            }
        }

        func damage(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .cutOff: bytes.dropLast(9)
            case .cutInHeader: Array(bytes.prefix(5))
            case .noGzip: Array("no gzip".utf8)
            case .checkSum: bytes.dropLast(8) + Array(repeating: 0, count: 8)
            case .followed: bytes + Array("more".utf8)
            }
        }
    }

    @Test(arguments: Damage.allCases) func aDamagedBodyIsAnError(_ damage: Damage) async throws {
        let bytes = damage.damage(try PackedBodies.gzip(Self.plain))
        let bench = try DownloadBench.started(
            "/a", .bytes(bytes).with(header: "Content-Encoding", "gzip"))
        #expect(await bench.failure()?.code == damage.code)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aBodyWithoutBytesIsEmpty() async throws {
        let bench = try DownloadBench.started(
            "/a", .bytes([]).with(header: "Content-Encoding", "gzip"))
        #expect(await bench.failure()?.code == .badImageData)
    }

    @Test func theLimitHoldsForWhatABodyBecomes() async throws {
        let bytes = try PackedBodies.zeros(mebibytes: 64)
        let bench = try DownloadBench.started(
            "/a", .bytes(bytes).with(header: "Content-Encoding", "gzip"), bodyBytesMax: 8 << 20)
        let failure = try #require(await bench.failure())
        #expect(failure.code == .limitExceeded)
        #expect(failure.details["limit"] == "\(8 << 20)")
        // Blocks double, and the old one stays until its bytes are copied.
        #expect(bench.space.usedBytesMax <= 3 * (8 << 20))
        #expect(bench.space.liveCount == 0)
    }

    @Test func aFullArenaEndsTheDecoding() async throws {
        let bytes = try PackedBodies.zeros(mebibytes: 64)
        let bench = try DownloadBench.started(
            "/a", .bytes(bytes).with(header: "Content-Encoding", "gzip"), bytesMax: 1 << 20)
        #expect(await bench.failure()?.code == .arenaFull)
        #expect(bench.space.liveCount == 0)
    }

    @Test func aCancelEndsTheDecodingOfBytesThatAreHere() async throws {
        let gate = Gate()
        let bench = try DownloadBench(gate: gate) { $0.publishing.interval = 0 }
        let bytes = try PackedBodies.zeros(mebibytes: 900)
        bench.origin.route("/a", .bytes(bytes).with(header: "Content-Encoding", "gzip"))
        bench.start("/a")
        #expect(await bench.progress.wait(until: { $0.received > 0 }))
        bench.downloader.cancel(JobID(1))
        gate.open()
        #expect(await bench.failure()?.code == .cancelled)
        #expect(bench.space.liveCount == 0)
        #expect((bench.progress.values.last?.received ?? 0) < 900 << 20)
    }

    /// Ten bodies that expand to 64 MiB each don't delay a small one.
    @Test func othersGoOnBetweenTurns() async throws {
        let bench = try DownloadBench(bytesMax: 4 << 30) {
            $0.publishing.interval = 0
        }
        let bytes = try PackedBodies.zeros(mebibytes: 64)
        bench.origin.route("/bomb", .bytes(bytes).with(header: "Content-Encoding", "gzip"))
        bench.origin.route("/small", .bytes([1]))
        for id in 1...10 { bench.start("/bomb", id: UInt64(id)) }
        for id in 1...10 {
            #expect(await bench.progress.wait(until: { $0.id.value == id && $0.received > 0 }))
        }
        bench.start("/small", id: 11)
        let outcomes = try #require(await bench.outcomes.wait())
        #expect(outcomes.first?.id == JobID(11))
        let turns = bench.progress.values.prefix { $0.id != JobID(11) }
        let each = Dictionary(grouping: turns, by: \.id).mapValues { $0.map(\.received).max() ?? 0 }
        #expect(each.count == 10)
        #expect(each.values.allSatisfy { $0 < 64 << 20 })
    }
}

/// Incompressible bytes, the same each time.
enum RandomBytes {
    static func make(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 15)
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
