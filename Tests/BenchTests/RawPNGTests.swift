import Testing

@testable import imagebus_bench

@Suite struct RawPNGTests {
    /// The check values from the examples of the two standards.
    @Test func theChecksumsAreThoseOfTheStandards() {
        var adler = Adler32()
        adler.add(Array("Wikipedia".utf8))
        #expect(adler.value == 0x11E6_0398)
        #expect(CRC32.of(Array("123456789".utf8)[...]) == 0xCBF4_3926)
    }

    @Test func chunksHaveTheirLengths() throws {
        let bytes = RawPNG(width: 2, height: 3) { y, row in
            for index in row.indices { row[index] = UInt8(y * 10 + index) }
        }.bytes
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        var place = 8
        var names: [String] = []
        while place < bytes.count {
            let length = bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
            names.append(String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self))
            place += 12 + length
        }
        #expect(place == bytes.count)
        #expect(names == ["IHDR", "IDAT", "IEND"])
        // zlib's two bytes, three rows of a block header, a filter and 6 bytes each, a checksum.
        #expect(bytes.count == 8 + 25 + (12 + 2 + 3 * (5 + 7) + 4) + 12)
    }

    @Test func aRowLongerThanABlockIsCut() {
        let width = 30_000
        let bytes = RawPNG(width: width, height: 1) { _, row in row[0] = 9 }.bytes
        #expect(bytes.count == 8 + 25 + (12 + 2 + 2 * 5 + 1 + width * 3 + 4) + 12)
    }
}
