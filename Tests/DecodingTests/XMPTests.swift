import Model
import StageKit
import TestKit
import Testing
import Vips

@testable import Decoding

/// An orientation stated only in XMP.
@Suite struct XMPTests {
    private static let tiff = "xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\""

    @Test(arguments: [
        ("<rdf:Description \(tiff) tiff:Orientation=\"3\"/>", 3),
        ("<rdf:Description \(tiff) tiff:Orientation = '8' />", 8),
        ("<rdf:Description \(tiff)><tiff:Orientation>6</tiff:Orientation>", 6),
        ("<rdf:Description \(tiff)><tiff:Orientation>\n 2 \n</tiff:Orientation>", 2),
        ("<x t:Orientation=\"5\" xmlns:t = 'http://ns.adobe.com/tiff/1.0/'/>", 5),
        ("<x \(tiff) a:tiff:Orientation=\"2\" xtiff:Orientation=\"2\" tiff:Orientation=\"7\"/>", 7),
        ("<x \(tiff) tiff:Orientation=\"0\" tiff:Orientation=\"4\"/>", 4),
    ])
    func itIsRead(packet: String, orientation: Int) {
        #expect(read(Array(packet.utf8)) == orientation)
    }

    @Test(arguments: [
        "", "tiff:Orientation=\"3\"", "<x other:Orientation=\"3\" \(tiff)/>", "\(tiff)",
        "<x \(tiff) tiff:Orientation", "<x \(tiff) tiff:Orientation=",
        "<x \(tiff) tiff:Orientation=\"",
        "<x \(tiff) tiff:Orientation=\"3", "<x \(tiff) tiff:Orientation=\"33\"/>",
        "<x \(tiff) tiff:Orientation=\"9\"/>", "<x \(tiff) tiff:Orientation=\"0\"/>",
        "<x \(tiff) tiff:Orientation=\"-3\"/>", "<x \(tiff) tiff:Orientation>3",
        "<x \(tiff) tiff:Orientations=\"3\"/>", "http://ns.adobe.com/tiff/1.0/",
        "=\"http://ns.adobe.com/tiff/1.0/\" :Orientation=\"3\"",
        "'http://ns.adobe.com/tiff/1.0/' tiff:Orientation='3'",
    ])
    func whatSaysNothingIsNothing(packet: String) {
        #expect(read(Array(packet.utf8)) == nil)
    }

    /// Every truncation of a valid packet, and packets with any byte changed.
    @Test func damagedPacketsAreReadToTheirEndOnly() {
        let sound = Array("<x \(Self.tiff) tiff:Orientation=\"3\"/>".utf8)
        for end in sound.indices { #expect(read(Array(sound[..<end])) ?? 3 == 3) }
        for place in sound.indices {
            for byte in [0, 0x20, 0x22, 0x3A, 0x3C, 0xFF] as [UInt8] {
                var damaged = sound
                damaged[place] = byte
                #expect((1...8).contains(read(damaged) ?? 1))
            }
        }
    }

    /// The property must be in the first 64 KiB, however often it starts there.
    @Test func aPacketIsSearchedForABoundedPart() {
        let begun = Array(String(repeating: "tiff:Orientation=", count: 4000).utf8)
        let head = Array("<x \(Self.tiff) ".utf8)
        let stated = Array(" tiff:Orientation=\"3\"/>".utf8)
        #expect(read(head + begun.prefix(60_000) + stated) == 3)
        #expect(read(head + begun + stated) == nil)
    }

    @Test(arguments: OrientationTests.displayed)
    func imagesComeAsXMPSaysWhereEXIFSaysNothing(orientation: Int, quarters: [Int]) throws {
        let stored = try Sources.marked(.jpeg(quality: 95), 40, 24)
        let packet = "<x \(Self.tiff) tiff:Orientation=\"\(orientation)\"/>"
        let size = Orientation(exif: orientation).displayed(PixelSize(width: 40, height: 24))
        let decoded = try decode(stored.withXMP(packet))
        try #require(decoded.image.info.size == size)
        let found = try (0..<4).map { quarter in
            try decoded.pixel(
                size.width * (1 + 2 * (quarter % 2)) / 4, size.height * (1 + 2 * (quarter / 2)) / 4
            )[1] < 60
        }
        #expect(found == quarters.map { $0 == 0 })
    }

    @Test(arguments: [1, 3, 6])
    func whatEXIFSaysCounts(orientation: Int) throws {
        let stored = try Sources.marked(.jpeg(quality: 95), 40, 24)
        let both = stored.withXMP("<x \(Self.tiff) tiff:Orientation=\"8\"/>")
            .withEXIF(orientation: orientation)
        let (found, wanted) = (
            try decode(both), try decode(stored.withEXIF(orientation: orientation))
        )
        #expect(found.layout == wanted.layout)
    }

    /// `TestJFIF.jpg` is rotated once by its XMP: its last pixel becomes the first.
    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    func aPhotographThatOnlyXMPTurnsIsTurnedOnce() throws {
        let bytes = try Fixtures.read("images/TestJFIF.jpg")
        let name = Array("tiff:Orientation=\"3\"".utf8)
        let place = try #require(
            bytes.indices.prefix(20_000).first { bytes[$0...].starts(with: name) })
        var upright = bytes
        upright[place + name.count - 2] = UInt8(ascii: "1")
        let need = DecodeNeed.cover(PixelSize(width: 500, height: 500), .fit)
        let (turned, stored) = (try decode(bytes, need), try decode(upright, need))
        let size = try #require(turned.plane?.size)
        #expect(stored.plane?.size == size)
        for (x, y) in [(0, 0), (30, 50), (size.width / 3, size.height / 3), (400, 20)] {
            let there = try stored.pixel(size.width - 1 - x, size.height - 1 - y)
            #expect(try turned.pixel(x, y) == there)
        }
        #expect(turned.samples != stored.samples)
    }

    private func read(_ packet: [UInt8]) -> Int? {
        packet.withUnsafeBytes { XMPOrientation.read($0) }
    }
}
