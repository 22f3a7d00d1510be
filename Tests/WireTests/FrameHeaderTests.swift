import Model
import Testing

@testable import Wire

@Suite struct FrameHeaderTests {
    @Test(arguments: MessageKind.allCases)
    func everyKindSurvivesItsHeader(kind: MessageKind) throws {
        let header = FrameHeader(kind: kind, flags: 0x81)
        #expect(try FrameHeader(decoding: header.bytes.span.bytes) == header)
        let encoded = header.encoded
        #expect(encoded.indices.map { encoded[$0] } == header.bytes)
    }

    @Test func theHeaderIsFrozen() {
        #expect(FrameHeader(kind: .load).bytes == [0x49, 0x42, 0x55, 0x53, 1, 34, 0, 0])
        #expect(VersionRefusal.header == [0x49, 0x42, 0x55, 0x53, 1, 0, 0, 0])
        #expect(VersionRefusal.body == [1, 1])
    }

    private static let magic = Array("IBUS".utf8)

    private static let refused: [([UInt8], WireError)] =
        [
            ([], .notOurs), ([0x49], .notOurs), (magic + [1, 34, 0], .notOurs),
            (magic + [1, 34, 0, 0, 0], .notOurs), (Array("IBUT".utf8) + [1, 34, 0, 0], .notOurs),
            (magic + [1, 34, 0, 1], .notOurs), (Array("GET / HTTP/1.1\r\n".utf8), .notOurs),
            // Before its kind is read.
            (magic + [2, 200, 0, 0], .unsupportedVersion(2)),
        ]
        + ([8, 23, 31, 57, 63, 255] as [UInt8]).map {
            (magic + [1, $0, 0, 0], .unknownKind($0))
        }

    @Test(arguments: refused) func otherHeadersAreRefused(frame: [UInt8], error: WireError) {
        #expect(throws: error) { try FrameHeader(decoding: frame.span.bytes) }
    }

    @Test func aRefusalOfVersionsIsReadWhateverVersionSentIt() throws {
        let header: [UInt8] = [0x49, 0x42, 0x55, 0x53, 9, 0, 0, 0]
        let frames = Frames(header: header, body: [3, 9])
        #expect(throws: WireError.versionRefused(lowest: 3, highest: 9)) {
            try frames.serverMessage()
        }
        #expect(throws: WireError.versionRefused(lowest: 3, highest: 9)) {
            try frames.workerCommand()
        }
        #expect(throws: WireError.malformed) {
            try Frames(header: header, body: [3]).serverMessage()
        }
        #expect(throws: WireError.unexpectedKind(.versions)) { try frames.clientMessage() }
    }

    @Test func kindsTravelInTheirDirectionOnly() throws {
        let load = try Frames(
            .load(.init(token: .init(.init(high: 1, low: 1)), image: .init(url: ""))))
        #expect(throws: WireError.unexpectedKind(.load)) { try load.workerMessage() }
        #expect(throws: WireError.unexpectedKind(.load)) { try load.serverMessage() }
        #expect(throws: WireError.unexpectedKind(.load)) { try load.workerCommand() }
        let credit = try Frames(WorkerMessage.credit(1))
        #expect(throws: WireError.unexpectedKind(.credit)) { try credit.clientMessage() }
    }
}
