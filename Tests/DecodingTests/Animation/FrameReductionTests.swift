import Model
import StageKit
import TestKit
import Testing

/// Animations whose frames together exceed the memory limit at full size (SEMANTICS §9.8).
@Suite struct FrameReductionTests {
    private let space = HeapSpace()
    private let file: AnimatedFile

    init() throws { file = try AnimatedFile(generated: "kept.gif") }

    private func decode(_ need: DecodeNeed, bytesMax: Int) throws -> DecodedImage {
        try decode(file.bytes, need, ImageLimits(pixelBytesMax: bytesMax))
    }

    private func decode(
        _ bytes: [UInt8], _ need: DecodeNeed, _ limits: ImageLimits
    ) throws -> DecodedImage {
        try perform(bytes, in: space) {
            ($0.need, $0.limits, $0.wantsAllFrames) = (need, limits, true)
        }
    }

    private var wholeBytes: Int { 4 * file.width * file.height * file.frames.count }

    /// The mean of a square of the reference frame, colors weighted by alpha.
    private func mean(_ frame: [UInt8], _ column: Int, _ row: Int, _ side: Int) -> [Double] {
        var (sums, count) = ([0.0, 0.0, 0.0, 0.0], 0.0)
        for y in row * side..<min(row * side + side, file.height) {
            for x in column * side..<min(column * side + side, file.width) {
                let place = 4 * (y * file.width + x)
                let alpha = Double(frame[place + 3])
                for band in 0..<3 { sums[band] += Double(frame[place + band]) * alpha }
                sums[3] += alpha
                count += 1
            }
        }
        let alpha = max(1, sums[3])
        return sums[..<3].map { $0 / alpha } + [sums[3] / count]
    }

    @Test func eachPixelIsTheMeanOfASquare() throws {
        let need = DecodeNeed.cover(PixelSize(width: 9, height: 9), .fit)
        let image = try decode(need, bytesMax: wholeBytes / 2)
        let frame = try #require(image.frames.first)
        let side = 3
        #expect(frame.layout.planes[0].size == PixelSize(width: 13, height: 10))
        #expect(image.info.size == PixelSize(width: file.width, height: file.height))
        #expect(frame.layout.frames == file.frames.count)
        let pixels = space.bytes(frame.reference)
        for (index, wanted) in file.frames.enumerated() {
            for (column, row) in [(0, 0), (6, 5), (12, 3), (4, 9), (12, 9)] {
                let place = 4 * (index * 13 * 10 + row * 13 + column)
                let expected = mean(wanted, column, row, side)
                for band in 0..<4 {
                    let difference = abs(Double(pixels[place + band]) - expected[band])
                    #expect(difference < 0.51, "frame \(index), \(column), \(row), \(band)")
                }
            }
        }
    }

    @Test func smallAnimationsAreDecodedAsTheyAre() throws {
        let need = DecodeNeed.cover(PixelSize(width: 9, height: 9), .fit)
        let image = try decode(need, bytesMax: 4 * wholeBytes)
        #expect(image.frames.first?.layout.planes.first?.size.width == file.width)
    }

    /// Of 900 frames of 4000×4000 pixels almost nothing would be kept.
    @Test func framesThatTakeTooLongToComposeAreRefused() throws {
        let bytes = try #require(try AnimatedFile.hostile(["dear.gif"]).first).bytes
        let need = DecodeNeed.cover(PixelSize(width: 20, height: 20), .fit)
        let error = #expect(throws: ImageError.self) { try decode(bytes, need, ImageLimits()) }
        #expect(error?.code == .limitExceeded)
        #expect(error?.details["limit"] == "framePixelsMax")
    }

    /// Frames aren't reduced below the needed size.
    @Test func whatIsNeededIsNotReduced() throws {
        #expect(throws: Never.self) { try decode(.full, bytesMax: wholeBytes) }
        let error = #expect(throws: ImageError.self) {
            try decode(.full, bytesMax: wholeBytes - 1)
        }
        #expect(error?.code == .limitExceeded)
        #expect(error?.details["limit"] == "pixelBytesMax")
    }
}
