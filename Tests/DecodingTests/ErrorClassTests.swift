import Model
import TestKit
import Testing

@testable import Decoding

/// Valid files that aren't decoded are unsupported, and broken ones are bad data: neither is an
/// internal error.
@Suite struct ErrorClassTests {
    /// A gray TIFF of 4×2 pixels, without the entry of one tag.
    private static func tiff(bits: UInt16 = 8, without tag: UInt16? = nil) -> [UInt8] {
        let all: [(tag: UInt16, value: UInt16)] = [
            (256, 4), (257, 2), (258, bits), (259, 1), (262, 1), (273, 8), (277, 1), (278, 2),
            (279, bits),
        ]
        let entries = all.filter { $0.tag != tag }
        let pixels = [UInt8](repeating: 0x5A, count: Int(bits))
        func bytes(_ value: UInt16) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
        var file = Array("II*\0".utf8) + bytes(8 + bits) + [0, 0] + pixels
        file += bytes(UInt16(entries.count))
        for (tag, value) in entries {
            file += bytes(tag) + bytes(3) + [1, 0, 0, 0] + bytes(value) + [0, 0]
        }
        return file + [0, 0, 0, 0]
    }

    /// Runs Python on a file, whose path is `sys.argv[1]`, and returns the output.
    private static func python(_ script: String, _ bytes: [UInt8]) throws -> String {
        let folder = TemporaryDirectory()
        let line = ["python3", "-c", script, folder.write(bytes, to: "file")]
        return String(decoding: try Tool.run(line), as: UTF8.self)
    }

    /// The file is valid: Pillow reads it.
    @Test func twelveBitsAreUnsupported() throws {
        let script = """
            import sys; from PIL import Image
            image = Image.open(sys.argv[1]); image.load(); print(image.mode, image.getpixel((0, 0)))
            """
        // The first 12 bits of 5A 5A, read as Pillow orders them.
        #expect(try Self.python(script, Self.tiff(bits: 12)) == "I;16 1445\n")
        #expect(try decode(Self.tiff()).image.info.size == PixelSize(width: 4, height: 2))
        for need in [DecodeNeed.header, .full] {
            #expect(failure(Self.tiff(bits: 12), need)?.code == .unsupportedFormat)
        }
    }

    @Test(arguments: [256, 257, 262, 273] as [UInt16])
    func aTIFFWithoutWhatItNeedsIsBadData(tag: UInt16) {
        #expect(failure(Self.tiff(without: tag))?.code == .badImageData)
    }

    @Test func aTIFFWithoutADirectoryIsBadData() {
        #expect(failure(Array("II*\0\0\0\0\0".utf8))?.code == .badImageData)
    }

    @Test func colorsOfPrintersInAJXLAreUnsupported() throws {
        guard let file = Fixtures.bytes("reports/jxl_cmyk_layers.jxl"),
            let path = Fixtures.path("reports/jxl_cmyk_layers.jxl")
        else { return }
        // libjxl finds no fault in the file.
        let found = String(decoding: try Tool.run(["jxlinfo", path]), as: UTF8.self)
        #expect(found.contains("CMYK"), "\(found)")
        #expect(failure(file)?.code == .unsupportedFormat)
    }

    /// The byte order mark of UTF-16 starts like a JPEG. Other readers agree on what it is.
    @Test func aTextInUTF16IsNotAJPEG() throws {
        let text: [UInt8] = [0xFF, 0xFE] + "<svg/>".utf8.flatMap { [$0, 0] }
        let script = """
            import sys; import xml.etree.ElementTree as tree; from PIL import Image
            print(tree.parse(sys.argv[1]).getroot().tag)
            try:
                Image.open(sys.argv[1])
            except Image.UnidentifiedImageError:
                print('unknown')
            """
        #expect(try Self.python(script, text) == "svg\nunknown\n")
        let error = failure(text)
        #expect(error?.code == .badImageData)
        #expect(error?.message.contains("not an image in a known format") == true)
    }
}
