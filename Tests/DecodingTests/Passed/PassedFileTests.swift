import Model
import StageKit
import TestKit
import Testing
import Vips

/// Sources that become the result without re-encoding, stripped of their metadata
/// (SEMANTICS §11.37).
@Suite struct PassedFileTests {
    private static let hidden = Array("HIDDEN".utf8)
    private static let unchanged = PassThrough(isUnchanged: true, metadata: .nothing)

    /// Decodes with passthrough permitted. Returns the bytes of the file, or `nil` if the result is
    /// pixels.
    private func passed(
        _ bytes: [UInt8], _ passThrough: PassThrough = unchanged, allFrames: Bool = false,
        need: DecodeNeed = .full, by family: FormatFamily = .raster
    ) throws -> (file: [UInt8]?, info: ImageInfo) {
        let space = HeapSpace()
        let image = try perform(bytes, by: family, in: space) {
            ($0.need, $0.passThrough, $0.wantsAllFrames) = (need, passThrough, allFrames)
        }
        #expect((image.file == nil) != image.frames.isEmpty)
        #expect(space.outstanding == 1)
        return (image.file.map { space.bytes($0) }, image.info)
    }

    private func expectNothingHidden(_ bytes: [UInt8]?) {
        #expect(bytes != nil && bytes?.firstRange(of: Self.hidden) == nil)
    }

    // MARK: - JPEG

    private static func jpeg() throws -> [UInt8] { try Sources.marked(.jpeg(quality: 90), 64, 48) }

    /// Unneeded segments of every kind, anywhere before the end, and bytes after the end.
    @Test func segmentsOfAJPEGThatNobodyNeedsAreLeftOut() throws {
        let plain = try Self.jpeg()
        var file = plain
        for marker in Array(0xE1...0xEF) + [0xFE] where marker != 0xEE {
            file = file.withSegment(UInt8(marker), Self.hidden)
        }
        file = file.withSegment(0xE2, Array("MPF\0".utf8) + Self.hidden)
        file = file.withSegment(0xE0, Array("JFXX\0".utf8) + Self.hidden)
        let produced = try passed(file + plain + Self.hidden).file
        expectNothingHidden(produced)
        #expect(produced == (try passed(plain).file))
        #expect(try decode(#require(produced)).samples == decode(plain).samples)
    }

    /// A thumbnail in JFIF, and data after Adobe's fields.
    @Test func keptSegmentsHaveNothingMore() throws {
        let jfif =
            Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1, 1, 2] + Self.hidden
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1] + Self.hidden
        let plain = try Self.jpeg()
        let hasJFIF = plain[2...].starts(with: [0xFF, 0xE0])
        let start = hasJFIF ? 4 + Int(plain[4]) << 8 + Int(plain[5]) : 2
        let bare = Array(plain[..<2] + plain[start...])
        let file = bare.withSegment(0xEE, adobe).withSegment(0xE0, jfif)
        let produced = try #require(try passed(file).file)
        expectNothingHidden(produced)
        #expect(produced.firstRange(of: Array("Adobe".utf8)) != nil)
        #expect(produced[2...].starts(with: [0xFF, 0xE0, 0, 16] + Array("JFIF\0".utf8)))
    }

    /// A truncated file, or one with invalid lengths, isn't passed through.
    @Test func aJPEGThatCannotBeFollowedIsDecoded() throws {
        let plain = try Self.jpeg()
        for cut in [plain.count - 1, plain.count - 2, plain.count - 40] {
            let produced = try? passed(Array(plain[..<cut]))
            #expect(produced?.file == nil, "\(cut)")
        }
        // Reserved markers without a defined meaning.
        for marker: UInt8 in [0xC8, 0xDE, 0xDF, 0xF0, 0xFD, 0x02] {
            let produced = try? passed(plain.withSegment(marker, Self.hidden))
            #expect(produced?.file == nil, "\(marker)")
        }
    }

    // MARK: - Other formats

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: data.count >> $0) }
        return length + Array(type.utf8) + data + [0, 0, 0, 0]
    }

    @Test func chunksOfAPNGThatNobodyNeedsAreLeftOut() throws {
        let plain = try Sources.marked(.png(compression: 1), 64, 48)
        let more = ["tEXt", "zTXt", "iTXt", "tIME", "eXIf", "prVt", "caBX", "sPLT"].flatMap {
            Self.chunk($0, Self.hidden)
        }
        let file = Array(plain[..<33] + more + plain[33...] + Self.hidden)
        let produced = try passed(file).file
        expectNothingHidden(produced)
        #expect(produced == (try passed(plain).file))
        for cut in [plain.count - 1, plain.count - 13] {
            #expect((try? passed(Array(plain[..<cut])))?.file == nil)
        }
    }

    private static func riff(_ chunks: [UInt8]) -> [UInt8] {
        let length = chunks.count + 4
        return Array("RIFF".utf8) + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: length >> $0) }
            + Array("WEBP".utf8) + chunks
    }

    private static func webpChunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array(name.utf8) + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: data.count >> $0) }
            + data + [UInt8](repeating: 0, count: data.count % 2)
    }

    /// The pixel chunk alone: libvips wraps it in others.
    private static func webpPixels(_ file: [UInt8]) throws -> [UInt8] {
        let start = try #require(file.firstRange(of: Array("VP8 ".utf8))).lowerBound
        let length = file[(start + 4)..<(start + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
        return Array(file[start..<(start + 8 + length + length % 2)])
    }

    @Test func chunksOfAWebPThatNobodyNeedsAreLeftOut() throws {
        let plain = try Sources.marked(.webp(quality: 90), 64, 48)
        let pixels = try Self.webpPixels(plain)
        let more = ["EXIF", "XMP ", "HIDE"].flatMap { Self.webpChunk($0, Self.hidden) }
        let head = Self.webpChunk("VP8X", [0x0C, 0, 0, 0, 63, 0, 0, 47, 0, 0])
        for file in [Self.riff(pixels + more), Self.riff(head + pixels + more)] {
            let produced = try #require(try passed(file + Self.hidden).file)
            expectNothingHidden(produced)
            #expect(try decode(produced).samples == decode(plain).samples)
            if produced[12...].starts(with: Array("VP8X".utf8)) { #expect(produced[20] == 0) }
            let length = produced[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(length + 8 == produced.count)
        }
        #expect((try? passed(Array(plain.dropLast(8))))?.file == nil)
    }

    private static let gif: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    private static let gifImage: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
    private static func gifExtension(_ label: UInt8, _ name: String, _ data: [UInt8]) -> [UInt8] {
        let head = name.isEmpty ? [] : [UInt8(name.utf8.count)] + Array(name.utf8)
        return [0x21, label] + head + [UInt8(data.count)] + data + [0]
    }

    @Test func commentsOfAGIFAreLeftOut() throws {
        let loops = Self.gifExtension(0xFF, "NETSCAPE2.0", [1, 0, 0])
        let more =
            Self.gifExtension(0xFE, "", Self.hidden)
            + Self.gifExtension(0xFF, "XMP DataXMP", Self.hidden)
        let delay = Self.gifExtension(0xF9, "", [0, 9, 0, 0])
        let frame = delay + Self.gifImage
        let file = Self.gif + more + loops + frame + more + frame + [0x3B] + Self.hidden
        let produced = try #require(try passed(file, allFrames: true).file)
        #expect(produced == Self.gif + loops + frame + frame + [0x3B])
        // For a still image it is decoded, unless its format is named.
        #expect(try passed(file).file == nil)
        let named = PassThrough(formats: [.gif], isUnchanged: false, metadata: .nothing)
        #expect(try passed(file, named).file == produced)
        #expect((try? passed(Array(file.dropLast(7)), allFrames: true))?.file == nil)
    }

    /// Formats without a metadata-stripping pass are decoded, unless all metadata is kept.
    @Test func othersPassOnlyWithAllTheyHave() throws {
        let tiff = try Sources.marked(.tiff(predicts: false), 64, 48)
        #expect(try passed(tiff).file == nil)
        let named = PassThrough(formats: [.tiff], isUnchanged: false, metadata: .copyright)
        #expect(try passed(tiff, named).file == nil)
        let all = PassThrough(formats: [.tiff], isUnchanged: false, metadata: .all)
        #expect(try passed(tiff, all).file == tiff)
        let jpeg = try Self.jpeg()
        #expect(try passed(jpeg, all).file == nil)
    }

    // MARK: - SVG

    private static let drawings = PassThrough(
        formats: [.svg], isUnchanged: false, metadata: .nothing)

    @Test(
        arguments: [
            ("width='40' height='30px'", "40×30"), ("viewBox='0 0 80, 20'", "80×20"),
            ("width='40' viewBox='0 0 80 20'", "40×10"), ("", "300×150"),
            ("width='50%' height='9em'", "300×150"), ("width='-1' height='nan'", "300×150"),
            ("width='1e9' height='1'", "32767×1"), ("a=\"width='3'\" width='7' height='8'", "7×8"),
        ])
    func anSVGPassesUndrawn(attributes: String, size: String) throws {
        let file = Array(
            "<?xml version='1.0'?><svg xmlns='http://w3.org/2000/svg' \(attributes)></svg>".utf8)
        for family in FormatFamily.allCases {
            let produced = try passed(file, Self.drawings, by: family)
            #expect(produced.file == file && produced.info.format == .svg)
            let side = produced.info.size
            if size.hasPrefix("32767") {
                #expect(side.height == 1 && side.width <= 32_767 && side.width > 10_000)
            } else {
                #expect("\(side.width)×\(side.height)" == size)
            }
        }
        let header = try decode(file, .header)
        #expect(header.image.info.format == .svg)
        #expect(failure(file)?.code == .unsupportedFormat)
    }

    @Test func aCompressedSVGIsInflated() throws {
        let text = "<svg width='4' height='3'>" + String(repeating: " ", count: 9_999) + "</svg>"
        let script =
            "import sys, gzip\nsys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read()))"
        func packed(_ bytes: [UInt8]) throws -> [UInt8] {
            try Tool.run(["python3", "-c", script], input: bytes)
        }
        let file = try packed(Array(text.utf8))
        #expect(try passed(file, Self.drawings).file == Array(text.utf8))
        #expect(try decode(file, .header).image.info.size == PixelSize(width: 4, height: 3))
        // Not a drawing, damaged, or larger than permitted.
        let bomb = try packed([UInt8](repeating: 0x20, count: 17 << 20) + Array(text.utf8))
        var damaged = file
        damaged[damaged.count / 2] ^= 0x55
        let other = try packed(Array("plain text".utf8))
        for bytes in [other, bomb, damaged, Array(file.dropLast(9))] {
            #expect(throws: ImageError.self) { try passed(bytes, Self.drawings) }
        }
    }

    // MARK: - Reductions

    /// A file passes through only if no reduction is needed; a rotated one counts with its
    /// displayed size.
    @Test func whatIsReducedIsDecoded() throws {
        let file = try Self.jpeg()
        let turned = file.withEXIF(orientation: 6)
        func passes(_ file: [UInt8], _ need: DecodeNeed) throws -> Bool {
            try passed(
                file, PassThrough(isUnchanged: true, metadata: .all), need: need
            ).file == file
        }
        #expect(try passes(file, .area(64 * 48)))
        #expect(try !passes(file, .area(64 * 48 - 1)))
        #expect(try passes(file, .cover(PixelSize(width: 64, height: 48), .fit)))
        #expect(try !passes(file, .cover(PixelSize(width: 63, height: 48), .fit)))
        #expect(try passes(turned, .cover(PixelSize(width: 48, height: 64), .fit)))
        #expect(try !passes(turned, .cover(PixelSize(width: 64, height: 48), .fit)))
    }

    // MARK: - Damage

    /// With any byte changed or any part missing, nothing is read out of bounds, and the output
    /// contains at most what the file contains.
    @Test(arguments: ["jpeg", "png", "webp", "gif"])
    func damagedFilesAreReadToTheirEndOnly(format: String) throws {
        let file: [UInt8] =
            switch format {
            case "jpeg":
                try Sources.marked(.jpeg(quality: 60), 24, 16).withSegment(0xE1, Self.hidden)
            case "png": try Sources.marked(.png(compression: 1), 24, 16)
            case "webp": try Sources.marked(.webp(quality: 60), 24, 16)
            default: Self.gif + Self.gifImage + [0x3B]
            }
        for place in file.indices {
            for byte in [0, 0x7F, 0xFF] as [UInt8] {
                var damaged = file
                damaged[place] = byte
                if let produced = try? passed(damaged).file {
                    #expect(produced.count <= damaged.count + 64)
                    if format == "jpeg" { expectNothingHidden(produced) }
                }
            }
        }
    }
}
