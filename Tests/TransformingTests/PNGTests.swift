import Model
import StageKit
import Testing
import Vips

@testable import Transforming

@Suite struct PNGTests {
    /// Lossless for every filter, level and encoding path.
    @Test(arguments: PixelPlane.Bands.allCases, [1, 6, 12, nil])
    func pixelsComeBack(bands: PixelPlane.Bands, compression: Int?) throws {
        for format in [ImageFormat.png, .jpeg] {
            let source = Source(61, 43, bands, format: format) { x, y, band in
                (x * 3 + y * 5 + band * 7 + (x * y) % 11) % 256
            }
            let output = OutputOptions(format: .png, compression: compression)
            #expect(try transform(source, [], output: output).samples == source.samples)
        }
    }

    @Test func anImageOfOnePixelIsOne() throws {
        let source = Source(1, 1, .rgba) { _, _, band in 10 * band + 200 }
        #expect(try transform(source, []).samples == source.samples)
    }

    /// More bytes than are compressed at once: libvips writes it.
    @Test func aLargeImageComesBackToo() throws {
        let source = Source(1600, 500) { x, y, band in (x + y * band) % 256 }
        #expect(source.samples.count > 2 << 20)
        let output = OutputOptions(format: .png, compression: 6)
        #expect(try transform(source, [], output: output).samples == source.samples)
    }

    @Test func moreCompressionMakesFewerBytes() throws {
        let source = Source(200, 200, format: .jpeg) { x, y, band in
            (x * x / 50 + y * (band + 1) + (x * 7919 + y * 104_729) % 5) % 256
        }
        let counts = try [1, 12].map { level in
            try transform(source, [], output: OutputOptions(format: .png, compression: level))
                .bytes.count
        }
        #expect(counts[1] < counts[0])
    }

    @Test func aBlockWithoutRoomIsArenaFull() {
        let source = Source(100, 100) { x, y, band in (x * y * (band + 1)) % 256 }
        let error = failure(
            source, [], output: OutputOptions(format: .png), space: HeapSpace(bytesMax: 5_000))
        #expect(error?.code == .arenaFull)
    }
}
