import Linux
import Model
import Testing

@testable import Imagebus

/// Pixels of frames in four bytes each, and the limit on the bytes of frames.
@Suite struct FramePixelTests {
    @Test(
        arguments: [
            (1, [7, 9], [7, 7, 7, 255, 9, 9, 9, 255]),
            (2, [7, 1, 9, 2], [7, 7, 7, 1, 9, 9, 9, 2]),
            (3, [1, 2, 3, 4, 5, 6], [1, 2, 3, 255, 4, 5, 6, 255]),
            (4, [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]),
        ] as [(Int, [UInt8], [UInt8])])
    func missingSamplesAreAdded(bands: Int, samples: [UInt8], rgba: [UInt8]) throws {
        let header = PixelMapHeader(size: PixelSize(width: 2, height: 1), bands: bands)
        let pixels = try #require(ImagePixels(ImageBytes(header.bytes + samples)))
        #expect(FramePixels(pixels) == FramePixels(size: header.size, rgba: rgba))
    }

    @Test func theBudgetIsAPartOfTheMemoryThatThereIs() {
        var supply = MemorySupply()
        #expect(FrameBudget.automatic.bytes(of: supply) == 256 << 20)
        supply.totalBytes = 1_000_000
        #expect(FrameBudget.automatic.bytes(of: supply) == 200_000)
        supply.availableBytes = 100_000
        #expect(FrameBudget.automatic.bytes(of: supply) == 60_000)
        (supply.limitBytes, supply.usedBytes) = (500_000, 490_000)
        #expect(FrameBudget.automatic.bytes(of: supply) == 6_000)
        supply.usedBytes = 600_000
        #expect(FrameBudget.automatic.bytes(of: supply) == 0)
        #expect(FrameBudget.bytes(-1).bytes(of: supply) == 0)
        #expect(FrameBudget.least.bytes(of: supply) == 0)
        #expect(FrameBudget.all.bytes(of: supply) == .max)
    }
}
