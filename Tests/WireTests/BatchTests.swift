import Model
import Testing

@testable import Wire

/// Several loads or replies in one message.
@Suite struct BatchTests {
    private func token(_ number: UInt64) -> Token {
        Token(Identifier128(high: .max, low: number))
    }

    /// Adds a body with that remainder; returns whether it fit.
    private func add(_ batch: inout BatchWriter, _ number: UInt64, _ rest: [UInt8]) -> Bool {
        batch.add(token(number), rest.span.bytes)
    }

    private func message(_ batch: inout BatchWriter) -> [UInt8] {
        batch.withMessage { byteCount, fill in
            var bytes = [UInt8](repeating: 0xEE, count: byteCount)
            bytes.withUnsafeMutableBytes { fill($0) }
            return bytes
        }
    }

    private func bodies(_ message: [UInt8]) throws -> [[UInt8]] {
        var reader = BatchReader()
        try reader.read(message.span.bytes)
        return (0..<reader.count).map { place in
            reader.body(at: place).withUnsafeBytes { Array($0) }
        }
    }

    @Test func loadsArriveAsTheyWouldOneByOne() throws {
        var encoder = MessageEncoder()
        var decoder = MessageDecoder()
        var batch = BatchWriter()
        let loads = (1...64).map {
            LoadRequest(token: token($0), image: ImageRequest(url: "http://a/\($0)"))
        }
        for load in loads {
            _ = try encoder.encode(.load(load))
            let rest = Array(encoder.packed().dropFirst(TokenedBody.restOffset))
            let isAdded = add(&batch, load.token.value.low, rest)
            #expect(isAdded)
        }
        let (isFull, isAdded) = (batch.isFull, add(&batch, 65, [1]))
        #expect(isFull && !isAdded)
        for (body, load) in zip(try bodies(message(&batch)), loads) {
            #expect(try decoder.clientMessage(.load, body.span.bytes) == .load(load))
        }
    }

    /// The format is that of protobuf: field 1 with a length, for each.
    @Test func theFormIsThatOfTheProtocol() {
        var batch = BatchWriter()
        let areAdded = [add(&batch, 1, [0x18, 1]), add(&batch, 2, [])]
        #expect(areAdded == [true, true])
        let first = [0x0A, 16] + [UInt8](repeating: 0xFF, count: 8) + [0, 0, 0, 0, 0, 0, 0, 1]
        let second = [0x0A, 16] + [UInt8](repeating: 0xFF, count: 8) + [0, 0, 0, 0, 0, 0, 0, 2]
        #expect(message(&batch) == [0x0A, 20] + first + [0x18, 1] + [0x0A, 18] + second)
    }

    @Test func aFullBatchOfTheLargestBodiesFitsAFrame() {
        var batch = BatchWriter()
        let largest = MessageLimits.batchedBodyBytesMax - TokenedBody.restOffset
        let rest = [UInt8](repeating: 7, count: largest)
        for number in 1...64 {
            let isAdded = add(&batch, UInt64(number), rest)
            #expect(isAdded)
        }
        #expect(message(&batch).count <= MessageLimits.frontFrameBytesMax)
        batch.removeAll()
        let (isEmpty, isAdded) = (batch.isEmpty, add(&batch, 1, rest + [7]))
        #expect(isEmpty && !isAdded)
    }

    private static let many = Array(repeating: [0x0A, 0] as [UInt8], count: 65).flatMap { $0 }
    private static let wasteful =
        Array(repeating: [0x0A, 0] as [UInt8], count: 48_000).flatMap { $0 }
    private static let large = [UInt8](
        repeating: 0, count: MessageLimits.frontFrameBytesMax + 1)

    /// Otherwise bodies of one message could be taken for those of the next one.
    @Test func whatIsNoBatchIsRefusedAndLeavesNoBodiesOfTheOneBefore() throws {
        let good: [UInt8] = [0x0A, 1, 9, 0x0A, 1, 8]
        let bad: [([UInt8], WireError)] = [
            ([], .field("Batch.bodies", .missing)), ([0x0A, 5, 1], .malformed),
            (Self.many, .field("Batch.bodies", .tooMany(limit: 64))),
            (Self.wasteful, .quotaExceeded),
            (Self.large, .tooLarge(limit: MessageLimits.frontFrameBytesMax)),
        ]
        var reader = BatchReader()
        for (message, fault) in bad {
            try reader.read(good.span.bytes)
            let before = reader.count
            var found: WireError?
            do throws(WireError) {
                try reader.read(message.span.bytes)
            } catch {
                found = error
            }
            let after = reader.count
            #expect(before == 2 && found == fault && after == 0, "\(message.count) bytes")
        }
        try reader.read(good.span.bytes)
        let last = reader.body(at: 1).withUnsafeBytes { Array($0) }
        #expect(last == [8], "the next batch is read as usual")
        #expect(try bodies(Array(Self.many.dropLast(2))).count == 64)
    }

    /// A later version may add fields.
    @Test func fieldsThatAreNotKnownAreIgnored() throws {
        #expect(try bodies([0x10, 3, 0x0A, 1, 9, 0x1A, 1, 1]) == [[9]])
    }
}
