import Testing

@testable import Zlib

/// Streams of all formats: whole, in chunks and corrupted.
@Suite struct InflaterTests {
    private static let raw: [UInt8] = [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    private static let zlib: [UInt8] = [0x78, 0x9C] + raw + [0x06, 0x2C, 0x02, 0x15]
    private static let gzip: [UInt8] =
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + raw + [0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0]
    private static let hello = Array("hello".utf8)
    static let formats: [(InflateFormat, [UInt8])] = [(.raw, raw), (.zlib, zlib), (.gzip, gzip)]

    @Test(arguments: formats) func aStreamIsUndone(_ format: InflateFormat, _ bytes: [UInt8]) throws
    {
        var inflater = try Inflater(format)
        #expect(try inflater.all(of: bytes, inputs: 99, outputs: 99) == Self.hello)
    }

    @Test(arguments: formats) func aByteInAndAByteOutIsEnough(
        _ format: InflateFormat, _ bytes: [UInt8]
    ) throws {
        var inflater = try Inflater(format)
        #expect(try inflater.all(of: bytes, inputs: 1, outputs: 1) == Self.hello)
    }

    @Test(arguments: formats) func whatFollowsIsLeft(
        _ format: InflateFormat, _ bytes: [UInt8]
    ) throws {
        var inflater = try Inflater(format)
        let step = try inflater.once(bytes + [1, 2, 3], outputs: 99)
        #expect(step == Inflater.Step(consumed: bytes.count, produced: 5, isEnd: true))
    }

    @Test(arguments: formats) func anotherStreamMayFollow(
        _ format: InflateFormat, _ bytes: [UInt8]
    ) throws {
        var inflater = try Inflater(format)
        #expect(try inflater.once(bytes, outputs: 99).isEnd)
        inflater.reset()
        #expect(try inflater.all(of: bytes, inputs: 99, outputs: 99) == Self.hello)
    }

    @Test(arguments: formats) func aStreamThatIsCutOffHasNoEnd(
        _ format: InflateFormat, _ bytes: [UInt8]
    ) throws {
        var inflater = try Inflater(format)
        #expect(try !inflater.once(bytes.dropLast(), outputs: 99).isEnd)
        let nothing = try inflater.once([], outputs: 99)
        #expect(nothing == Inflater.Step(consumed: 0, produced: 0, isEnd: false))
    }

    @Test(
        arguments: [
            (.gzip, Array("not gzip".utf8)), (.zlib, [0x78, 0x9D]), (.raw, [0xFF]),
            (.gzip, gzip.dropLast(8) + [0, 0, 0, 0, 0, 0, 0, 0]),
            // Requires a dictionary.
            (.zlib, [0x78, 0xBB, 0, 0, 0, 1]),
        ] as [(InflateFormat, [UInt8])])
    func whatIsNotInTheFormatIsCorrupt(_ format: InflateFormat, _ bytes: [UInt8]) throws {
        var inflater = try Inflater(format)
        do {
            _ = try inflater.once(bytes, outputs: 99)
            Issue.record("it was taken")
        } catch ZlibError.corrupt(let text) {
            #expect(!text.isEmpty)
        }
    }

    @Test func theFirstBytesTellTheFormatsOfDeflateApart() {
        #expect(InflateFormat(startingWith: 0x78, 0x9C) == .zlib)
        #expect(InflateFormat(startingWith: 0x08, 0x1D) == .zlib)
        #expect(InflateFormat(startingWith: 0x78, 0x9D) == .raw)
        #expect(InflateFormat(startingWith: 0x88, 0x1C) == .raw)
        #expect(InflateFormat(startingWith: 0xCB, 0x48) == .raw)
    }
}

extension Inflater {
    /// One step over all of `bytes`.
    fileprivate mutating func once(_ bytes: some Sequence<UInt8>, outputs: Int) throws -> Step {
        let bytes = Array(bytes)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: outputs, alignment: 1)
        defer { room.deallocate() }
        return try step(bytes.span.bytes, into: room)
    }

    /// Inflates `bytes`, with `inputs` bytes given and `outputs` bytes of space in each step.
    fileprivate mutating func all(of bytes: [UInt8], inputs: Int, outputs: Int) throws -> [UInt8] {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: outputs, alignment: 1)
        defer { room.deallocate() }
        var (result, used): ([UInt8], Int) = ([], 0)
        while true {
            let part = bytes.span.extracting(used..<min(bytes.count, used + inputs))
            let step = try step(part.bytes, into: room)
            result += room[..<step.produced]
            used += step.consumed
            if step.isEnd { return result }
            try #require(step.consumed + step.produced > 0)
        }
    }
}
