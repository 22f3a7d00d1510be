import Model
import Testing

@Suite struct ImageFormatTests {
    private static func box(_ brand: String, _ size: [UInt8] = [0, 0, 0, 0x18]) -> [UInt8] {
        size + Array("ftyp\(brand)".utf8)
    }

    private static func ebml(_ type: String) -> [UInt8] {
        [0x1A, 0x45, 0xDF, 0xA3, 0x9F, 0x42, 0x86, 0x81, 1, 0x42, 0xF7, 0x81, 1, 0x42, 0x82, 0x84]
            + Array(type.utf8)
    }

    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], .jpeg), ([0xFF, 0xD8], .jpeg), ([0xFF, 0x0A, 0x00], .jxl),
            ([0xFF], .undefined), ([0xFF, 0xFE, 0x3C, 0x00, 0x73, 0x00], .undefined),
            ([0x89, 0x50, 0x4E, 0x47], .png), (Array("GIF89a".utf8), .gif),
            (Array("II*\0".utf8), .tiff), (Array("MM\0*".utf8), .tiff), (Array("BM".utf8), .bmp),
            (Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBPVP8 ".utf8), .webp),
            (Array("RIFF\u{1}\u{2}\u{3}\u{4}WEB".utf8), .undefined),
            (Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVE".utf8), .undefined),
            (box("heic"), .heic), (box("heix"), .heic), (box("hevc"), .heic), (box("hevx"), .heic),
            (box("mif1"), .heif), (box("msf1"), .heif), (box("avif"), .avif), (box("avis"), .avif),
            (box("mp42"), .mp4), (box("isom"), .mp4), (box("qt  "), .mov), (box("crx "), .raw),
            (box("wxyz"), .undefined), (Array(box("heic").dropLast()), .undefined),
            ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
            (Array("%PDF-1.7".utf8), .pdf), (Array("%PNG".utf8), .undefined), ([], .undefined),
            ([0xFF, 0x4F, 0xFF, 0x51], .jpeg2000),
            ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jpeg2000),
            (Array("II+\0\u{8}\0\0\0".utf8), .tiff), (Array("MM\0+\0\u{8}\0\0".utf8), .tiff),
            (Array("II*\0\u{10}\0\0\0CR\u{2}\0".utf8), .raw), (Array("IIU\0".utf8), .raw),
            (Array("IIRO\u{8}\0\0\0".utf8), .raw), (Array("FUJIFILMCCD-RAW ".utf8), .raw),
            (Array("8BPS\0\u{1}".utf8), .psd), ([0x76, 0x2F, 0x31, 0x01], .exr),
            (Array("qoif\0".utf8), .qoi),
            ([0, 0, 1, 0, 2, 0], .ico), (ebml("webm"), .webm), (ebml("matroska"), .mkv),
            (ebml("other"), .undefined), (Array("I am a text".utf8), .undefined),
            (Array("MM.".utf8), .undefined), (Array("Bytes".utf8), .undefined),
            ([0x00], .undefined), (Array("hello".utf8), .undefined),
        ] as [([UInt8], ImageFormat)])
    func theFirstBytesTellTheFormat(head: [UInt8], format: ImageFormat) {
        #expect(ImageFormat.sniff(head, tail: [] as [UInt8]) == format)
        let longer = head + [UInt8](repeating: 0x41, count: 200)
        if head.count >= 12 { #expect(ImageFormat.sniff(longer, tail: longer) == format) }
    }

    @Test func anSVGIsKnownByItsEnd() {
        let head = Array("<?xml version".utf8)
        func sniff(_ tail: String) -> ImageFormat {
            ImageFormat.sniff(head, tail: Array(tail.utf8))
        }
        #expect(sniff("<g/></svg>") == .svg)
        #expect(sniff("</svg>\n<!-- end -->") == .svg)
        #expect(sniff("</svg" + String(repeating: " ", count: 20)) == .undefined)
        #expect(sniff("</svg>" + String(repeating: " ", count: 94)) == .svg)
        #expect(sniff("</svg>" + String(repeating: " ", count: 95)) == .undefined)
        #expect(sniff("") == .undefined)
        #expect(ImageFormat.sniff(Array("svg".utf8), tail: Array("</svg>".utf8)) == .undefined)
    }

    @Test(
        arguments: [
            "<svg>", "<svg xmlns='http://www.w3.org/2000/svg'/>", "\u{FEFF}<svg ", " \n\t<svg>",
            "<?xml version=\"1.0\"?><svg>", "<?xml version='1.0'?>\r\n<!-- by -- hand --->\n<svg\n",
            "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"a>b\"><svg>",
            "<!DOCTYPE svg [<!ENTITY a '>'> <!ENTITY b \"]\">]><svg>", "<s:svg xmlns:s='x'>",
            "<?xml?><!--\(String(repeating: " x", count: 2_000))--><svg>",
        ])
    func anSVGIsKnownByItsFirstElement(text: String) {
        #expect(ImageFormat.sniff(Array(text.utf8), tail: []) == .svg)
        #expect(ImageFormat(file: Array(text.utf8).span) == .svg)
    }

    @Test(
        arguments: [
            "<svgz>", "<svg", "<SVG>", "<html><svg>", "<!-- <svg> -->", "<?xml?><!-- <svg>",
            "<!DOCTYPE svg [<svg>", "<!DOCTYPE svg '<svg>", "< svg>", "svg>", "<", "<?", "<:>",
            "<!--\(String(repeating: "x", count: 5_000))--><svg>", "x<svg>",
        ])
    func whatHasAnotherFirstElementIsNoSVG(text: String) {
        #expect(ImageFormat.sniff(Array(text.utf8), tail: []) == .undefined)
        #expect(ImageFormat(file: Array(text.utf8).span) == .undefined)
    }

    @Test func numbersAreThoseOfUpstream() {
        let upstream: [ImageFormat] = [
            .undefined, .jpeg, .png, .gif, .tiff, .webp, .heic, .heif, .pdf, .svg, .bmp, .raw,
        ]
        #expect(upstream.map(\.rawValue) == Array(-1...10))
        let ours: [ImageFormat] = [
            .avif, .jxl, .jpeg2000, .psd, .exr, .ico, .mp4, .mov, .webm, .mkv, .qoi,
        ]
        #expect(ours.map(\.rawValue) == Array(100...110))
        #expect(ImageFormat.pam.rawValue == 111)
        #expect(ImageFormat.allCases == upstream + ours + [.pam])
    }

    @Test func namesLeadBack() {
        for format in ImageFormat.allCases where format != .undefined {
            #expect(ImageFormat(name: format.name) == format)
            #expect(ImageFormat(name: format.name.uppercased()) == format)
        }
        #expect(ImageFormat(name: "jpg") == .jpeg)
        #expect(ImageFormat(name: "undefined") == nil)
        #expect(ImageFormat(name: "") == nil)
    }
}
