import Testing
import Vips

@Suite struct OperationTests {
    @Test func quartersTurnClockwise() throws {
        try withVips {
            let image = try Pixels(2, 3, bands: 1) { x, y, _ in y * 2 + x }.image()
            #expect(try image.rotated(quarters: 1).samples() == [4, 2, 0, 5, 3, 1])
            #expect(try image.rotated(quarters: 2).samples() == [5, 4, 3, 2, 1, 0])
            #expect(try image.rotated(quarters: -1).samples() == [1, 3, 5, 0, 2, 4])
            #expect(try image.rotated(quarters: 4).samples() == [0, 1, 2, 3, 4, 5])
        }
    }

    @Test func flipsExchangeSides() throws {
        try withVips {
            let image = try Pixels(2, 2, bands: 1) { x, y, _ in y * 2 + x }.image()
            #expect(try image.flippedHorizontally().samples() == [1, 0, 3, 2])
            #expect(try image.flippedVertically().samples() == [2, 3, 0, 1])
        }
    }

    @Test func extractEmbedAndExtendPlacePixels() throws {
        try withVips {
            let image = try Pixels(3, 1, bands: 1) { x, _, _ in x + 1 }.image()
            #expect(try image.extracted(left: 1, top: 0, width: 2, height: 1).samples() == [2, 3])
            #expect(
                try image.embedded(left: 1, top: 0, width: 5, height: 1, background: [9])
                    .samples() == [9, 1, 2, 3, 9])
            #expect(
                try image.extended(left: 1, top: 0, width: 5, height: 1).samples()
                    == [1, 1, 2, 3, 3])
        }
    }

    @Test func whatLiesOutsideCannotBeExtracted() throws {
        try withVips {
            let image = try Pixels.gradient(3, 3).image()
            let error = #expect(throws: VipsError.self) {
                try image.extracted(left: 2, top: 0, width: 2, height: 1)
            }
            #expect(error?.kind == .internal)
        }
    }

    @Test func flatteningMixesWithTheBackground() throws {
        try withVips {
            let image = try Pixels(3, 1, bands: 4) { x, _, band in
                band == 3 ? [0, 128, 255][x] : 0
            }.image()
            let samples = try image.flattened(red: 255, green: 255, blue: 255).samples()
            #expect(samples.prefix(3) == [255, 255, 255])
            #expect((126...128).contains(Int(samples[3])))
            #expect(samples.suffix(3) == [0, 0, 0])
        }
    }

    @Test func addingAlphaMakesOpaque() throws {
        try withVips {
            let image = try Pixels(1, 1) { _, _, _ in 7 }.image().withAlpha()
            #expect(try image.samples() == [7, 7, 7, 255])
        }
    }

    @Test func reducingAndEnlargingKeepTheCenter() throws {
        try withVips {
            // Symmetric in, symmetric out: libvips' own resize shifts enlarged images.
            let image = try Pixels(64, 4, bands: 1) { x, _, _ in min(x, 63 - x) * 8 }.image()
            for samples in [
                try image.reducedHorizontally(by: 2).samples().prefix(32),
                try image.enlarged(horizontally: 2.5, vertically: 1, width: 160, height: 4)
                    .samples().prefix(160),
            ] {
                let error = zip(samples, samples.reversed()).map { abs(Int($0) - Int($1)) }.max()
                #expect(try #require(error) <= 1)
            }
        }
    }

    @Test func colorOfOneBandAndThreeAreConverted() throws {
        try withVips {
            let gray = try Pixels(1, 1, bands: 1) { _, _, _ in 100 }.image()
            #expect(try gray.convertedToSRGB().samples() == [100, 100, 100])
            let neutral = try Pixels(1, 1) { _, _, _ in 100 }.image()
            #expect(try neutral.convertedToGray().samples() == [100])
        }
    }

    /// Its threads release buffers with a delay, so a single image proves nothing.
    @Test func libvipsKeepsNothing() throws {
        try withVips {
            let library = try VipsLibrary()
            let image = try Pixels.gradient(500, 500).image()
            for _ in 0..<40 {
                let copy = try image.flippedVertically().copiedToMemory()
                withExtendedLifetime(copy) {
                    #expect((750_000..<(20 * 750_000)).contains(library.pixelBytesInUse))
                }
            }
        }
    }
}
