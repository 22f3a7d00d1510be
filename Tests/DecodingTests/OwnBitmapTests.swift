import Model
import TestKit
import Testing

/// Rare kinds of bitmaps, with headers built by the tests.
@Suite struct OwnBitmapTests {
    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A Windows 3 header, truncated to `length` bytes.
    private static func header(
        _ width: Int, _ height: Int, depth: Int, compression: Int = 0, colors: Int = 0,
        length: Int = 40
    ) -> [UInt8] {
        let fields =
            little(length, 4) + little(width, 4) + little(height, 4) + little(1, 2)
            + little(depth, 2) + little(compression, 4) + little(0, 12) + little(colors, 4)
            + little(0, 4)
        return Array(fields.prefix(length))
    }

    /// A file whose rows start `gap` bytes after the headers.
    private static func bmp(_ headers: [UInt8], _ rows: [UInt8], gap: Int = 0) -> [UInt8] {
        let start = 14 + headers.count + gap
        return Array("BM".utf8) + little(start + rows.count, 4) + little(0, 4) + little(start, 4)
            + headers + [UInt8](repeating: 0x77, count: gap) + rows
    }

    private static func icon(_ image: [UInt8], type: Int = 1) -> [UInt8] {
        little(0, 2) + little(type, 2) + little(1, 2) + [0, 0, 0, 0] + little(1, 2) + little(0, 2)
            + little(image.count, 4) + little(22, 4) + image
    }

    private func pixels(_ file: [UInt8], _ count: Int) throws -> [[UInt8]] {
        let decoded = try decode(file)
        return try (0..<count).map { try decoded.pixel($0, 0) }
    }

    @Test func aPaletteDoesNotChangeMasks() throws {
        let masks = [0xF800, 0x7E0, 0x1F].flatMap { Self.little($0, 4) }
        let palette = [UInt8](repeating: 0xAA, count: 8)
        let header = Self.header(2, 1, depth: 16, compression: 3, colors: 2) + masks + palette
        let file = Self.bmp(header, Self.little(0xF81F, 2) + Self.little(0x07E0, 2))
        #expect(try pixels(file, 2) == [[255, 0, 255], [0, 255, 0]])
    }

    @Test(arguments: [0, 5, 100])
    func rowsLieWhereTheFileSays(gap: Int) throws {
        let file = Self.bmp(Self.header(1, 1, depth: 24), [30, 20, 10, 0], gap: gap)
        #expect(try pixels(file, 1) == [[10, 20, 30]])
    }

    /// OS/2 1 with three colors instead of 256, and an OS/2 2 header that ends after the depth.
    @Test func shortHeadersAndPalettesOfOS2() throws {
        let colors: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        let core = Self.little(12, 4) + Self.little(2, 2) + Self.little(1, 2) + [1, 0, 8, 0]
        let first = Self.bmp(core + colors, [2, 7, 0, 0])
        #expect(
            try pixels(first, 2) == [[9, 8, 7], [0, 0, 0]], "a color that is missing is black")
        let long = Self.header(1, 1, depth: 24, length: 16)
        #expect(try pixels(Self.bmp(long, [30, 20, 10, 0]), 1) == [[10, 20, 30]])
    }

    @Test func twoBitsAndWideMasks() throws {
        let palette: [UInt8] = [0, 0, 0, 0, 9, 8, 7, 0, 6, 5, 4, 0, 3, 2, 1, 0]
        let two = Self.bmp(Self.header(4, 1, depth: 2) + palette, [0b00_01_10_11, 0, 0, 0])
        #expect(try pixels(two, 4) == [[0, 0, 0], [7, 8, 9], [4, 5, 6], [1, 2, 3]])
        let masks = [0x3FF0_0000, 0xFFC00, 0x3FF].flatMap { Self.little($0, 4) }
        let wide = Self.header(1, 1, depth: 32, compression: 3) + masks
        let word = 1_023 << 20 | 512 << 10
        #expect(try pixels(Self.bmp(wide, Self.little(word, 4)), 1) == [[255, 128, 0]])
    }

    /// An alpha channel that is 0 everywhere is ignored.
    @Test func alphaOfSixteenBits() throws {
        let masks = [0xF00, 0xF0, 0xF, 0xF000].flatMap { Self.little($0, 4) }
        let header = Self.header(2, 1, depth: 16, compression: 6) + masks
        let seen = Self.bmp(header, Self.little(0x8F00, 2) + Self.little(0xF0F0, 2))
        #expect(try pixels(seen, 2) == [[255, 0, 0, 136], [0, 255, 0, 255]])
        let unseen = Self.bmp(header, Self.little(0x0F00, 2) + Self.little(0x00F0, 2))
        #expect(try pixels(unseen, 2) == [[255, 0, 0, 255], [0, 255, 0, 255]])
    }

    @Test(arguments: [1, 2])
    func anIconAndACursorOfOneBitKeepTheirPalette(type: Int) throws {
        let palette: [UInt8] = [10, 200, 30, 0, 90, 60, 240, 0]
        let image =
            Self.header(3, 2, depth: 1) + palette + [0b0100_0000, 0, 0, 0] + [0b0010_0000, 0, 0, 0]
        let file = Self.icon(image, type: type)
        #expect(
            try pixels(file, 3) == [[30, 200, 10, 255], [240, 60, 90, 255], [30, 200, 10, 0]])
        #expect(try decode(file).image.info.format == .ico)
    }

    /// At 32 bits, the mask applies only without alpha; it may be missing.
    @Test func theMaskCountsWithoutAlpha() throws {
        let header = Self.header(2, 2, depth: 32)
        let mask: [UInt8] = [0b0100_0000, 0, 0, 0]
        let empty = Self.icon(header + [3, 2, 1, 0, 6, 5, 4, 0] + mask)
        #expect(try pixels(empty, 2) == [[1, 2, 3, 255], [4, 5, 6, 0]])
        let alpha = Self.icon(header + [3, 2, 1, 9, 6, 5, 4, 255] + mask)
        #expect(try pixels(alpha, 2) == [[1, 2, 3, 9], [4, 5, 6, 255]])
        let unmasked = Self.icon(header + [3, 2, 1, 0, 6, 5, 4, 0])
        #expect(try pixels(unmasked, 2) == [[1, 2, 3, 255], [4, 5, 6, 255]])
    }

    /// An uncompressed TGA starts like a cursor without images.
    @Test func aTGAIsNoCursor() {
        let file: [UInt8] = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 24, 0, 1, 2, 3]
        #expect(ImageFormat(file: file.span) == .undefined)
        #expect(failure(file)?.code == .badImageData)
    }
}
