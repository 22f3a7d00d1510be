import Model
import TestKit
import Testing

/// Colors that a file declares by numbers, compared with Chromium 156's rendering of the same
/// files.
@Suite struct StatedColorTests {
    private static let samples = [[200, 30, 40], [20, 180, 60], [128, 64, 32], [25, 25, 25]]

    /// A PNG of the samples, with chunks before its pixels.
    private static func png(_ chunks: [(name: String, content: [UInt8])]) throws -> [UInt8] {
        let script = """
            import sys, zlib, struct
            def chunk(kind, body):
                both = kind + body
                return struct.pack('>I', len(body)) + both + struct.pack('>I', zlib.crc32(both))
            out = b'\\x89PNG\\r\\n\\x1a\\n'
            out += chunk(b'IHDR', struct.pack('>IIBBBBB', 4, 1, 8, 2, 0, 0, 0))
            for word in sys.argv[2:]:
                name, content = word.split(':')
                out += chunk(name.encode(), bytes.fromhex(content))
            row = b'\\0' + bytes(map(int, sys.argv[1].split()))
            out += chunk(b'IDAT', zlib.compress(row)) + chunk(b'IEND', b'')
            sys.stdout.buffer.write(out)
            """
        let numbers = samples.flatMap(\.self).map { "\($0)" }.joined(separator: " ")
        let words = chunks.map { "\($0.name):" + $0.content.map(hexadecimal).joined() }
        return try Tool.run(["python3", "-c", script, numbers] + words)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private static func big(_ numbers: Int...) -> [UInt8] {
        numbers.flatMap { number in [24, 16, 8, 0].map { UInt8(number >> $0 & 255) } }
    }

    private static let p3 = big(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000)

    private func expect(_ decoded: Decoded, _ wanted: [[Int]], within tolerance: Int) throws {
        for (x, wanted) in wanted.enumerated() {
            let pixel = try decoded.pixel(x, 0)
            let isNear = zip(pixel, wanted).allSatisfy { abs(Int($0) - $1) <= tolerance }
            #expect(isNear, "\(pixel) for \(wanted)")
        }
    }

    @Test(
        arguments: [
            ([12, 13], [[218, 0, 27], [0, 183, 31], [138, 59, 21], [25, 25, 25]]),
            ([9, 13], [[249, 0, 29], [0, 190, 14], [155, 49, 20], [25, 25, 25]]),
            ([9, 1], [[246, 0, 8], [0, 186, 0], [148, 35, 2], [12, 12, 12]]),
            ([1, 8], [[229, 96, 110], [79, 219, 133], [188, 137, 99], [88, 88, 88]]),
            ([1, 4], [[201, 24, 35], [12, 181, 57], [129, 62, 26], [18, 18, 18]]),
            ([10, 13], [[255, 0, 68], [0, 242, 0], [201, 0, 38], [25, 25, 25]]),
            ([1, 17], [[200, 13, 23], [5, 177, 44], [118, 48, 15], [9, 9, 9]]),
            ([6, 13], [[195, 42, 39], [48, 177, 59], [125, 65, 31], [25, 25, 25]]),
            ([12, 2], samples), ([2, 8], samples), ([1, 13], samples), ([1, 9], samples),
        ] as [([UInt8], [[Int]])])
    func aPNGOfCodePoints(numbers: [UInt8], wanted: [[Int]]) throws {
        let file = try Self.png([("cICP", numbers + [0, 1])])
        try expect(decode(file), wanted, within: 1)
        let other = try Self.png([
            ("cICP", numbers + [0, 1]), ("gAMA", Self.big(80_000)), ("cHRM", Self.p3),
        ])
        if !numbers.contains(2) { try expect(decode(other), wanted, within: 1) }
    }

    /// A gamma near 1/2.2 alone means sRGB, chromaticities alone have no effect, and sRGB overrides
    /// both.
    @Test(arguments: [
        (
            100_000, false, false,
            [[229, 96, 110], [79, 219, 133], [188, 137, 99], [88, 88, 88]]
        ),
        (50_000, false, false, [[206, 31, 43], [18, 187, 67], [137, 71, 34], [25, 25, 25]]),
        (45_455, false, false, samples), (46_000, false, false, samples),
        (45_455, true, false, [[220, 0, 19], [0, 185, 24], [139, 57, 11], [18, 18, 18]]),
        (0, true, false, samples), (100_000, true, true, samples),
    ])
    func aPNGOfGammaAndChromaticities(
        gamma: Int, hasP3: Bool, isSRGB: Bool, wanted: [[Int]]
    ) throws {
        var chunks: [(String, [UInt8])] = isSRGB ? [("sRGB", [0])] : []
        if gamma > 0 { chunks.append(("gAMA", Self.big(gamma))) }
        if hasP3 { chunks.append(("cHRM", Self.p3)) }
        try expect(decode(Self.png(chunks)), wanted, within: 1)
    }

    /// Camera transfer curves are treated as sRGB's, unlike in a PNG.
    @Test(arguments: [
        ("12/1/6", [[218, 0, 27], [0, 183, 31], [138, 58, 20], [25, 25, 25]]),
        ("9/14/9", [[249, 0, 27], [0, 191, 13], [154, 50, 20], [25, 25, 25]]),
        ("2/8/6", [[229, 96, 110], [79, 219, 133], [188, 136, 98], [88, 88, 88]]),
        ("1/1/1", samples), ("2/2/6", samples),
    ])
    func anAVIFOfCodePoints(numbers: String, wanted: [[Int]]) throws {
        let folder = TemporaryDirectory()
        let input = folder.write(try Self.png([]), to: "a.png")
        let output = folder.file("a.avif")
        try Tool.run([
            "avifenc", "--cicp", numbers, "-r", "full", "-y", "444", "--min", "0", "--max", "0",
            input, output,
        ])
        try expect(decode(try #require(FileBytes.read(output))), wanted, within: 3)
    }

    /// libjxl creates a profile from the enumerated color space of a JPEG XL.
    @Test(arguments: [
        ("RGB_D65_DCI_Rel_SRG", [[218, 0, 27], [0, 183, 31], [138, 59, 21], [25, 25, 25]]),
        ("RGB_D65_202_Rel_SRG", [[249, 0, 29], [0, 190, 14], [155, 49, 20], [25, 25, 25]]),
        (
            "RGB_D65_SRG_Rel_Lin",
            [[229, 96, 110], [79, 219, 133], [188, 137, 99], [88, 88, 88]]
        ),
        (
            "RGB_D65_SRG_Rel_g0.4545",
            [[201, 24, 35], [12, 181, 57], [129, 62, 26], [18, 18, 18]]
        ),
    ])
    func aJPEGXLOfEnumeratedColors(space: String, wanted: [[Int]]) throws {
        let folder = TemporaryDirectory()
        let input = folder.write(try Self.png([]), to: "a.png")
        let output = folder.file("a.jxl")
        try Tool.run(["cjxl", input, output, "-d", "0", "-x", "color_space=\(space)"])
        try expect(decode(try #require(FileBytes.read(output))), wanted, within: 2)
    }

    /// The kept profile is equivalent to the numbers: Little CMS produces the same colors from it.
    @Test func theColorsAreKeptWithAProfile() throws {
        let file = try Self.png([("cICP", [12, 13, 0, 1])])
        let kept = try decode(file, keeping: [.profile])
        let plain = Self.samples.flatMap { $0.map { UInt8($0) } }
        #expect(Array(kept.samples.prefix(12)) == plain)
        let profile = try #require(kept.layout?.embeddedMetadata.first { $0.kind == .profile })
        let folder = TemporaryDirectory()
        let bytes = Array(kept.samples[profile.offset..<(try #require(profile.end))])
        let produced = try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import Image, ImageCms
            im = Image.frombytes('RGB', (4, 1), open(sys.argv[1], 'rb').read())
            made = ImageCms.profileToProfile(
                im, sys.argv[2], ImageCms.createProfile('sRGB'), renderingIntent=1)
            sys.stdout.buffer.write(made.tobytes())
            """, folder.write(plain, to: "s"), folder.write(bytes, to: "p.icc"),
        ])
        let converted = try decode(file).samples
        #expect(zip(produced, converted).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }
}
