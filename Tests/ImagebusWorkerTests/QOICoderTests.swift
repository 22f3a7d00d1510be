import ImagebusWorker
import Model
import TestKit
import Testing

@testable import qoi_coder

@Suite struct QOICoderTests {
    private let coder = QOICoder()

    private func decode(
        _ file: [UInt8], look: () throws -> Void = {}
    ) throws -> (PixelForm, [UInt8]) {
        let header = try coder.header(of: file.span)
        var samples = [UInt8](repeating: 0, count: header.byteCount ?? 0)
        var decoder = QOIDecoder()
        var span = samples.mutableSpan
        try decoder.decode(
            file.span, into: &span, bands: header.bands.rawValue, look: look)
        return (header, samples)
    }

    /// Files from the reference encoder that use every feature of the format.
    @Test(arguments: [false, true])
    func pixelsAreThoseOfTheReference(hasAlpha: Bool) throws {
        let (header, samples) = try decode(QOIFile.bytes(hasAlpha: hasAlpha))
        #expect(header == PixelForm(width: 16, height: 12, bands: hasAlpha ? .rgba : .rgb))
        let expected = QOIFile.samples(hasAlpha: hasAlpha).enumerated()
            .filter { hasAlpha || $0.offset % 4 != 3 }.map(\.element)
        #expect(samples == expected)
    }

    /// Truncated at every position and with every byte changed, a file is decoded or refused.
    @Test(arguments: [false, true])
    func noFileIsReadBeyondItsEnd(hasAlpha: Bool) throws {
        let file = try QOIFile.bytes(hasAlpha: hasAlpha)
        for count in 0..<file.count - 8 {
            #expect(throws: InvalidInput.self) { try decode(Array(file.prefix(count))) }
        }
        for place in file.indices {
            for byte: UInt8 in [0, 0x7F, 0xBF, 0xFE, 0xFF] {
                var other = file
                other[place] = byte
                do { _ = try decode(other) } catch is InvalidInput {}
            }
        }
    }

    /// A run longer than the remaining pixels, and dimensions that no data could fill.
    @Test func aFileThatLiesAboutItsSizeIsRefused() throws {
        func file(_ width: [UInt8], _ height: [UInt8], _ body: [UInt8]) -> [UInt8] {
            Array("qoif".utf8) + width + height + [3, 0] + body + [0, 0, 0, 0, 0, 0, 0, 1]
        }
        let (one, many): ([UInt8], [UInt8]) = ([0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: InvalidInput("it has too many pixels")) {
            try decode(file([0, 0, 0, 8], one, [0xC8]))
        }
        #expect(try decode(file([0, 0, 0, 8], one, [0xC7])).1 == [UInt8](repeating: 0, count: 24))
        #expect(throws: InvalidInput("it ends early")) {
            try coder.header(of: file([0, 0, 0, 63], one, [0xFD]).span)
        }
        #expect(throws: InvalidInput.self) { try coder.header(of: file(many, one, [0xFD]).span) }
        #expect(try coder.header(of: file(many, many, [0xFD]).span).byteCount == nil)
    }

    @Test func aCancelEndsALongOne() throws {
        let side: [UInt8] = [0, 0, 1, 0]
        let file: [UInt8] =
            Array("qoif".utf8) + side + side + [3, 0]
            + [UInt8](repeating: 0xFD, count: 1_058) + [0, 0, 0, 0, 0, 0, 0, 1]
        #expect(throws: CancellationError.self) {
            try decode(file) { throw CancellationError() }
        }
    }
}
