import Model
import Testing

@testable import Caching

/// Output of a transformer is cached and delivered only if it matches its declared properties.
@Suite struct ForgedImageTests {
    /// The signature and IHDR chunk of a PNG.
    private static func png(_ width: UInt8, _ height: UInt8, padding: Int = 0) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 0, width, 0, 0, 0, height, 8, 2, 0, 0, 0]
            + [UInt8](repeating: 7, count: padding)
    }

    private func store(
        _ bytes: [UInt8], by kind: WorkerKind, as format: ImageFormat = .png,
        _ cache: StageFixture
    ) throws -> JobResult {
        guard case .store(var work) = cache.storing("k", bytes, delivers: true) else {
            preconditionFailure("a store")
        }
        work.source.producer = BlockReference.Producer(
            kind: kind, incarnation: Incarnation(Identifier128(high: 1, low: 1)))
        work.metadata = StoredMetadata(
            info: ImageInfo(format: format, size: PixelSize(width: 40, height: 30)))
        return try cache.run(.store(work))
    }

    /// Long images are copied on a separate thread.
    @Test(arguments: [0, 3 << 20])
    func anImageThatIsWhatWasSaidIsKept(padding: Int) throws {
        let cache = try StageFixture(nil)
        let bytes = Self.png(40, 30, padding: padding)
        guard case .stored(let report) = try store(bytes, by: .transform, cache) else {
            Issue.record("it was not taken")
            return
        }
        #expect(cache.results.read(try #require(report.delivered)) == bytes)
        #expect(try cache.get("k")?.bytes == bytes)
    }

    @Test(arguments: [
        [], png(40, 31), png(41, 30), Array(png(40, 30).dropLast(8)), [0xFF, 0xD8, 0xFF, 0xD9],
        png(40, 31, padding: 3 << 20),
    ])
    func anythingElseIsNeitherKeptNorDelivered(bytes: [UInt8]) throws {
        let disk = try DiskFixture()
        let cache = try StageFixture(disk.path)
        guard case .failed(let error) = try store(bytes, by: .transform, cache) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == .badImageData)
        #expect(try cache.get("k") == nil)
        #expect(cache.results.liveBlocks == 0)
    }

    @Test func anImageOfAnotherFormatIsNotKept() throws {
        let cache = try StageFixture(nil)
        let result = try store(Self.png(40, 30), by: .transform, as: .webp, cache)
        guard case .failed = result else {
            Issue.record("it was taken")
            return
        }
    }

    /// Origins may send anything: a decoder determines what is an image, when it is displayed.
    @Test func originalsAreKeptAsTheyCame() throws {
        let cache = try StageFixture(nil)
        guard case .stored = try store([1, 2, 3], by: .download, cache) else {
            Issue.record("it was not taken")
            return
        }
    }
}
