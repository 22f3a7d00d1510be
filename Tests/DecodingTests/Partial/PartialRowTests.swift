import Model
import StageKit
import TestKit
import Testing
import Vips

/// Rows that have arrived, compared with those of libvips, and the area below them.
@Suite struct PartialRowTests {
    /// The number of leading rows that equal the whole image's.
    private func sameRows(_ found: [UInt8], _ whole: [UInt8], _ file: PartialFile) -> Int {
        (0..<PartialFile.height).first { row in
            let range = row * file.stride..<(row + 1) * file.stride
            return found[range] != whole[range]
        } ?? PartialFile.height
    }

    @Test(arguments: [
        PartialFile.baseline, .restarts, .gray, .png, .palette, .transparent, .lossy, .lossless,
        .transparentWebP, .gif,
    ])
    func rowsAreThoseOfTheWholeImage(file: PartialFile) throws {
        let (bytes, whole) = try (file.bytes(), file.samples())
        var last = 0
        for part in [30, 50, 70, 90] {
            let found = try partial(bytes.part(part)).samples
            let rows = sameRows(found, whole, file)
            #expect(rows > last && rows < PartialFile.height, "\(part) %: \(rows) rows")
            last = rows
            // A GIF ends within a row; a JPEG within its MCUs, which are 16 rows high, and chroma
            // upsampling mixes each row with the next.
            let first = min(rows + (file.isJPEG ? 18 : 1), PartialFile.height)
            let rest = found[(first * file.stride)...]
            #expect(rest.allSatisfy { $0 == (file.isJPEG ? 128 : 0) }, "\(part) %")
        }
    }

    /// If a scan of a progressive JPEG is half complete, earlier scans show below it.
    @Test func allRowsAreShownFromTheSecondScanOn() throws {
        let bytes = try PartialFile.progressive.bytes()
        let found = try partial(bytes.part(50)).samples
        let last = found.suffix(PartialFile.progressive.stride)
        #expect(Set(last).count > 16)
        let early = try partial(bytes.part(4)).samples
        #expect(early.suffix(PartialFile.progressive.stride).allSatisfy { $0 == 128 })
        #expect(!early.allSatisfy { $0 == 128 })
    }

    /// The first pass has one of 64 pixels, which fills its block.
    @Test func aPassFillsTheArea() throws {
        let file = PartialFile.adam7
        let (bytes, whole) = try (file.bytes(), file.samples())
        let found = try partial(bytes.part(5)).samples
        for (x, y) in [(0, 0), (8, 8), (392, 288)] {
            let corner = 3 * (y * PartialFile.width + x)
            #expect(found[corner..<corner + 3] == whole[corner..<corner + 3])
        }
        let (block, inside) = (0, 3 * (3 * PartialFile.width + 3))
        #expect(found[inside..<inside + 3] == found[block..<block + 3])
    }

    @Test(arguments: [PartialFile.baseline, .progressive, .restarts], [2, 4, 8])
    func aJPEGIsMadeSmallerAsAWholeOneIs(file: PartialFile, reduction: Int) throws {
        let bytes = try file.bytes()
        let need = DecodeNeed.cover(
            PixelSize(
                width: PartialFile.width / reduction, height: PartialFile.height / reduction), .fit)
        let found = try partial(bytes, need)
        let wanted = try decode(bytes, need)
        #expect(found.layout?.planes[0].size == wanted.layout?.planes[0].size)
        #expect(found.layout?.planes[0].activeHeight == wanted.layout?.planes[0].activeHeight)
        let half = try partial(bytes.part(60), need)
        #expect(half.layout == found.layout)
        // At an eighth only the first scan matters.
        let isWhole = file == .progressive && reduction == 8
        #expect((half.samples == found.samples) == isWhole)
    }

    /// Python's zlib computes how many rows of the file have arrived.
    @Test(arguments: [PartialFile.png, .palette, .transparent])
    func allRowsOfAPNGThatHaveArrivedAreShown(file: PartialFile) throws {
        let (bytes, whole) = try (file.bytes(), file.samples())
        let script = """
            import sys, zlib
            data, reader, made, at = sys.stdin.buffer.read(), zlib.decompressobj(), b'', 8
            while at + 8 < len(data):
                count = int.from_bytes(data[at:at + 4], 'big')
                if data[at + 4:at + 8] == b'IDAT':
                    made += reader.decompress(data[at + 8:at + 8 + count])
                at += 12 + count
            print(len(made))
            """
        let rowBytes = 1 + PartialFile.width * (file == .palette ? 1 : file.bands)
        for part in [30, 50, 70] {
            let output = try Tool.run(["python3", "-c", script], input: bytes.part(part))
            let count = try #require(Int(String(decoding: output.dropLast(), as: UTF8.self)))
            let found = try partial(bytes.part(part)).samples
            #expect(sameRows(found, whole, file) == count / rowBytes)
        }
    }

    @Test(arguments: [PartialFile.lossy, .lossless, .transparentWebP])
    func aWebPIsMadeSmaller(file: PartialFile) throws {
        let need = DecodeNeed.cover(PixelSize(width: 100, height: 75), .fit)
        let found = try partial(file.bytes(), need)
        #expect(found.layout?.planes[0].size == PixelSize(width: 100, height: 75))
        let wanted = try decode(file.bytes(), need)
        #expect(likeness(found.samples, wanted.samples) > 45)
        let half = try partial(file.bytes().part(60), need)
        #expect((5..<45).contains(likeness(half.samples, wanted.samples)))
    }

    @Test func inksAreThoseOfTheWholeImage() throws {
        let words = ["png:-", "-colorspace", "CMYK", "-quality", "90", "jpeg:-"]
        let bytes = try Tool.run(["convert-im6.q16"] + words, input: PartialFile.png.bytes())
        let (found, wanted) = try (partial(bytes), decode(bytes))
        #expect(found.samples == wanted.samples && found.layout == wanted.layout)
        #expect(try partial(bytes.part(60)).samples.prefix(9_000) == wanted.samples.prefix(9_000))
    }

    @Test func samplesOfSixteenBitsAreKept() throws {
        let bytes = try PartialFile.deepPNG()
        let row = 310 * 6
        let whole = try decode(bytes, keeping: [.depth])
        let found = try partial(bytes, keeping: [.depth])
        #expect(found.layout?.samples.bits == 16 && found.samples == whole.samples)
        let half = try partial(bytes.part(60), keeping: [.depth])
        #expect(half.samples.prefix(50 * row) == whole.samples.prefix(50 * row))
        #expect(half.samples.suffix(20 * row).allSatisfy { $0 == 0 })
        let usual = try partial(bytes)
        #expect(usual.layout?.samples == .standard)
        #expect(try usual.samples == decode(bytes).samples)
    }
}
