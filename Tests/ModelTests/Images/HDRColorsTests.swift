import Model
import TestKit
import Testing

/// High-dynamic-range properties stated by files.
@Suite struct HDRColorsTests {
    private func stored(_ bytes: [UInt8], _ format: ImageFormat) -> HDRColors? {
        format.traits.statedColors?(HeaderBytes(bytes.span)).flatMap { HDRColors($0) }
    }

    private static func png(_ cicp: [UInt8], in place: String = "cICP") -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 0, 1, 0, 0, 0, 1, 16, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4]
            + Array(place.utf8) + cicp + [0, 0, 0, 0]
    }

    @Test func aPNGSaysItInAChunk() {
        let found = stored(Self.png([9, 16, 0, 1]), .png)
        #expect(found == HDRColors(primaries: .bt2020, transfer: .pq))
        #expect(stored(Self.png([12, 18, 0, 1]), .png)?.transfer == .hlg)
        for other: [UInt8] in [[9, 16, 0, 0], [9, 16, 9, 1], [9, 13, 0, 1], [2, 16, 0, 1], [9]] {
            #expect(stored(Self.png(other), .png) == nil, "\(other)")
        }
        #expect(stored(Self.png([9, 16, 0, 1], in: "cICQ"), .png) == nil)
        #expect(stored(Self.png([9, 16, 0, 1], in: "IDAT"), .png) == nil)
    }

    /// The second property belongs to the primary item, the first to another one.
    private func heif(primary: UInt8) -> [UInt8] {
        let plain: [UInt8] = Array("nclx".utf8) + [0, 1, 0, 13, 0, 6, 0x80]
        let high: [UInt8] = Array("nclx".utf8) + [0, 9, 0, 18, 0, 9, 0]
        let container = box("ipco", box("colr", plain) + box("colr", high))
        let association = box("ipma", [0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 1, 1, 0, 2, 1, 2])
        return box(
            "meta",
            [0, 0, 0, 0] + box("pitm", [0, 0, 0, 0, 0, primary])
                + box("iprp", container + association))
    }

    @Test func aHEIFSaysItOfItsPrimaryItem() {
        #expect(stored(heif(primary: 1), .heic) == nil)
        #expect(
            stored(heif(primary: 2), .avif) == HDRColors(primaries: .bt2020, transfer: .hlg))
        #expect(stored(Array(heif(primary: 2).dropLast(30)), .heif) == nil)
    }

    /// A profile of these tags, each of which begins with its name.
    private func profile(_ tags: [(name: String, content: [UInt8])]) -> [UInt8] {
        var table: [UInt8] = [0, 0, 0, UInt8(tags.count)]
        var contents: [UInt8] = []
        for tag in tags {
            let start = 132 + 12 * tags.count + contents.count
            table += Array(tag.name.utf8) + big(start) + big(0)
            contents += tag.content
        }
        return [UInt8](repeating: 0, count: 128) + table + contents
    }

    @Test func aProfileSaysItByNumbers() {
        let numbers = Array("cicp".utf8) + [0, 0, 0, 0, 12, 16, 0, 1]
        let bytes = profile([("cicp", numbers)])
        #expect(
            HDRColors(profile: HeaderBytes(bytes.span))
                == HDRColors(primaries: .displayP3, transfer: .pq))
        let plain = profile([("cicp", Array("cicp".utf8) + [0, 0, 0, 0, 1, 13, 0, 1])])
        #expect(HDRColors(profile: HeaderBytes(plain.span)) == nil)
        for count in 0..<bytes.count {
            let part = Array(bytes.prefix(count))
            _ = HDRColors(profile: HeaderBytes(part.span))
        }
    }

    /// Points of PQ (SMPTE ST 2084, 5.2) and of a plain power function.
    @Test(arguments: [true, false])
    func aProfileSaysItByItsCurve(isPQ: Bool) throws {
        let script = """
            import struct, sys
            def pq(x):
                p = x ** (32 / 2523)
                return (max(p - 3424 / 4096, 0) / (2413 / 128 - 2392 / 128 * p)) ** (16384 / 2610)
            curve = pq if sys.argv[1] == 'true' else (lambda x: x ** 2.2)
            points = [round(65535 * curve(i / 1023)) for i in range(1024)]
            sys.stdout.buffer.write(b'curv' + struct.pack('>II1024H', 0, 1024, *points))
            """
        let curve = try Tool.run(["python3", "-c", script, "\(isPQ)"])
        // 0.6734 in 65,536ths, as in BT.2020.
        let red: [UInt8] = Array("XYZ ".utf8) + [0, 0, 0, 0, 0, 0, 0xAC, 0x64] + [0, 0, 0, 0]
        let bytes = profile([("rXYZ", red), ("rTRC", curve)])
        let wanted = isPQ ? HDRColors(primaries: .bt2020, transfer: .pq) : nil
        #expect(HDRColors(profile: HeaderBytes(bytes.span)) == wanted)
    }
}
