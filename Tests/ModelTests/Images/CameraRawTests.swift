import Model
import Testing

/// Distinguishes TIFF files from camera RAW files.
@Suite struct CameraRawTests {
    struct Entry {
        let tag: Int
        var isLong = false
        let value: Int
    }

    private static let width = Entry(tag: 256, value: 640)
    private static let thumbnail = Entry(tag: 254, isLong: true, value: 1)
    private static let subdirectories = Entry(tag: 330, isLong: true, value: 4_000)

    @Test(
        arguments: [
            ([width, Entry(tag: 50_706, isLong: true, value: 0x0104)], .raw),
            ([thumbnail, width, subdirectories], .raw),
            ([width, Entry(tag: 262, value: 32_803)], .raw),
            ([width, Entry(tag: 262, value: 34_892)], .raw),
            ([width, Entry(tag: 262, value: 2)], .tiff), ([thumbnail, width], .tiff),
            ([width, subdirectories], .tiff), ([], .tiff),
            ([Entry(tag: 254, isLong: true, value: 2), width, subdirectories], .tiff),
        ] as [([Entry], ImageFormat)])
    func theFirstDirectoryTellsThem(entries: [Entry], format: ImageFormat) {
        for isLittle in [true, false] {
            for start in [8, 200] {
                let file = Self.file(entries, at: start, isLittle)
                #expect(Self.format(of: file) == format)
                // A file without a directory is left to the TIFF decoder.
                #expect(Self.format(of: Array(file.prefix(start + 1))) == .tiff)
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func pagesAreCountedUpToALimit(isLittle: Bool, isBig: Bool) {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] {
            isLittle ? little(value, count) : big(value, count)
        }
        let (word, count, entry) = isBig ? (8, 8, 20) : (4, 2, 12)
        func file(pages: Int, lastNext: Int = 0) -> [UInt8] {
            let start = 2 * word
            let size = count + entry + word
            let head = Array((isLittle ? "II" : "MM").utf8) + bytes(isBig ? 43 : 42, 2)
            var file = isBig ? head + bytes(8, 2) + bytes(0, 2) : head
            file += bytes(start, word)
            for page in 1...pages {
                file += bytes(1, count) + [UInt8](repeating: 7, count: entry)
                file += bytes(page < pages ? start + page * size : lastNext, word)
            }
            return file
        }
        func pages(_ file: [UInt8], upTo most: Int) -> Int? {
            ImageFormat.tiff.pages(of: file.span, upTo: most)
        }
        #expect(pages(file(pages: 5), upTo: 100) == 5)
        #expect(pages(file(pages: 5), upTo: 3) == 3)
        #expect(pages(file(pages: 5, lastNext: 2 * word), upTo: 100) == 5, "a circle")
        #expect(pages(file(pages: 5, lastNext: 1 << 30), upTo: 100) == 5)
        #expect(pages(Array(file(pages: 5).dropLast(word)), upTo: 100) == 5)
        #expect(pages(Array("II*\0".utf8), upTo: 100) == 0)
        let gif = Array("GIF89a".utf8)
        #expect(ImageFormat.gif.pages(of: gif.span, upTo: 9) == nil)
    }

    /// libtiff rejects these as well: "Can not read TIFF directory".
    @Test(arguments: [true, false])
    func aDirectoryThatIsCutOffSaysNoSize(isLittle: Bool) {
        let entries = [Self.width, Entry(tag: 257, value: 480), Entry(tag: 258, value: 8)]
        let file = Self.file(entries, at: 8, isLittle)
        let end = 10 + 12 * entries.count
        for count in 0...file.count {
            let size = ImageHeader(Array(file.prefix(count)).span)?.size
            #expect(size == (count < end ? nil : PixelSize(width: 640, height: 480)), "\(count)")
        }
    }

    @Test func otherFilesAreWhatTheirSignatureSays() {
        #expect(Self.format(of: Array("GIF89a".utf8)) == .gif)
        #expect(Self.format(of: Array("<svg></svg>".utf8)) == .svg)
        #expect(Self.format(of: []) == .undefined)
    }

    private static func format(of file: [UInt8]) -> ImageFormat { ImageFormat(file: file.span) }

    private static func file(_ entries: [Entry], at start: Int, _ isLittle: Bool) -> [UInt8] {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] {
            isLittle ? little(value, count) : big(value, count)
        }
        var file = isLittle ? Array("II*\0".utf8) : Array("MM\0*".utf8)
        file += bytes(start, 4)
        file += [UInt8](repeating: 0x55, count: start - 8)
        file += bytes(entries.count, 2)
        for entry in entries {
            file += bytes(entry.tag, 2) + bytes(entry.isLong ? 4 : 3, 2) + bytes(1, 4)
            file += entry.isLong ? bytes(entry.value, 4) : bytes(entry.value, 2) + [0, 0]
        }
        return file + bytes(0, 4)
    }
}
