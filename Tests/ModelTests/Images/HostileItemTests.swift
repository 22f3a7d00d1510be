import Model
import Testing

/// HEIF files whose boxes describe too many items.
@Suite struct HostileItemTests {
    private func file(_ boxes: [UInt8]) -> [UInt8] {
        box("ftyp", Array("avif\0\0\0\0avifmif1".utf8)) + box("meta", [0, 0, 0, 0] + boxes)
    }

    private func hasFewItems(_ bytes: [UInt8]) -> Bool { HeaderBytes(bytes.span).hasFewItems }

    @Test(arguments: ["iinf", "iloc", "iref"])
    func whatIsSaidOfItemsIsBounded(type: String) {
        #expect(hasFewItems(file(box(type, [UInt8](repeating: 0, count: 100_000)))))
        #expect(!hasFewItems(file(box(type, [UInt8](repeating: 0, count: 200_000)))))
        // Bytes of the items themselves are not counted.
        #expect(hasFewItems(file(box("idat", [UInt8](repeating: 0, count: 200_000)))))
    }

    @Test func propertiesAndTracksCountAsWell() {
        let many = [UInt8](repeating: 0, count: 70_000)
        #expect(!hasFewItems(file(box("iprp", box("ipma", many) + box("ipma", many)))))
        let track = box("trak", box("meta", [0, 0, 0, 0] + box("iinf", many)))
        #expect(hasFewItems(box("moov", track)))
        #expect(!hasFewItems(box("moov", track + track)))
        // Ignored boxes could hide others.
        let empty = (0..<300).flatMap { _ in box("free", []) }
        #expect(!hasFewItems(file(empty)))
    }

    /// If tiles are listed repeatedly, patching their locations would grow with each repetition.
    @Test func tilesThatAreNamedTwiceAreLeftAlone() {
        let extents = [UInt8](repeating: 0, count: 45 * 100)
        func entry(_ item: Int, _ count: Int, _ bytes: [UInt8]) -> [UInt8] {
            big(item, 2) + [UInt8](repeating: 0, count: 4 + 15) + big(count, 2) + bytes
        }
        func file(repeats: Int) -> [UInt8] {
            let more = (0..<2 * repeats).flatMap { entry(1 + $0 % 2, 0, []) }
            let entries = entry(1, 100, extents) + entry(2, 100, extents) + more
            let count = 2 + 2 * repeats
            let tiles = (0..<count).flatMap { big(2 - $0 % 2, 2) }
            let derived = big(9, 2) + big(count, 2) + tiles
            return self.file(
                box("iloc", [1, 0, 0, 0, 0xFF, 0xFF] + big(count, 2) + entries)
                    + box("iref", [0, 0, 0, 0] + box("dimg", derived)))
        }
        func patched(_ bytes: [UInt8]) -> Int {
            AVIFPatches(HeaderBytes(bytes.span), ofTracks: false).all.reduce(0) {
                $0 + $1.bytes.count
            }
        }
        #expect(patched(file(repeats: 0)) == 2 * (4 + 15 + 2 + extents.count))
        #expect(patched(file(repeats: 40)) == 0)
    }
}
