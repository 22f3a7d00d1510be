import Model
import StageKit
import TestKit
import Testing
import Vips

@testable import Decoding

/// EXIF, XMP and IPTC that are kept with pixels.
@Suite struct KeptMetadataTests {
    private static let thumbnail = Array("PICTURE OF OTHER PIXELS".utf8)

    /// EXIF with an orientation, an artist, a copyright, a camera and a location, followed by a
    /// thumbnail.
    private static func exif(isBig: Bool, textBehind: Bool = false) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isBig ? little.reversed() : little
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
                + [UInt8](repeating: 0, count: 4 - value.count)
        }
        let first = 8 + 2 + 5 * 12 + 4
        let texts = Array("Ada Lovelace\0".utf8) + [0] + Array("(c) Ada\0".utf8)
        let place = first + texts.count
        let second = place + 2 + 12 + 4
        let picture = second + 2 + 2 * 12 + 4
        let head: [UInt8] = isBig ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
        var produced = head + number(8, 4) + number(5, 2)
        produced += entry(0x010F, 2, 4, Array("Cam\0".utf8))
        produced += entry(0x0112, 3, 1, number(6, 2))
        produced += entry(0x013B, 2, 13, number(first, 4))
        produced += entry(0x8298, 2, 8, number(first + 14, 4))
        produced += entry(0x8825, 4, 1, number(place, 4))
        produced += number(second, 4) + texts
        produced += number(1, 2) + entry(1, 2, 2, Array("N\0".utf8)) + number(0, 4)
        produced += number(2, 2) + entry(0x0201, 4, 1, number(picture, 4))
        produced += entry(0x0202, 4, 1, number(thumbnail.count, 4)) + number(0, 4) + thumbnail
        return produced + (textBehind ? Array("behind".utf8) : [])
    }

    private func block(_ bytes: [UInt8]) -> ExifBlock? { bytes.withUnsafeBytes { ExifBlock($0) } }

    /// The EXIF as read by Pillow: tag numbers and values, including the location.
    private func tags(_ exif: [UInt8]) throws -> String {
        let folder = TestKit.TemporaryDirectory()
        let output = try Tool.run([
            "python3", "-c",
            """
            import sys; from PIL import Image
            exif = Image.Exif(); exif.load(b'Exif\\0\\0' + open(sys.argv[1], 'rb').read())
            print({k: v for k, v in sorted(exif.items()) if k != 0x8825}, exif.get_ifd(0x8825))
            """, folder.write(exif, to: "a"),
        ])
        return String(decoding: output, as: UTF8.self)
    }

    private static func holds(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }

    @Test(arguments: [false, true])
    func allOfItIsUprightAndWithoutItsThumbnail(isBig: Bool) throws {
        let before = Self.exif(isBig: isBig)
        #expect(try tags(before).contains("274: 6"))
        let after = try #require(block(before)).upright()
        #expect(
            try tags(after) == "{271: 'Cam', 274: 1, 315: 'Ada Lovelace', 33432: '(c) Ada'} "
                + "{1: 'N'}\n")
        #expect(after.count == before.count - Self.thumbnail.count)
        #expect(!Self.holds(after, Array("PICTURE".utf8)))
        // Data after the thumbnail keeps its offset.
        let longer = try #require(block(Self.exif(isBig: isBig, textBehind: true))).upright()
        #expect(longer.count == before.count + 6 && Self.holds(longer, Array("behind".utf8)))
        #expect(!Self.holds(longer, Array("PICTURE".utf8)))
    }

    @Test(arguments: [false, true])
    func rightsAreABlockOfTheirOwn(isBig: Bool) throws {
        let rights = try #require(block(Self.exif(isBig: isBig))?.rights())
        #expect(try tags(rights) == "{315: 'Ada Lovelace', 33432: '(c) Ada'} {}\n")
        let without = Self.exif(isBig: isBig).map { $0 == 0x98 || $0 == 0x3B ? 0x99 : $0 }
        #expect(block(without)?.rights() == nil)
    }

    /// Every truncation of a valid block, and blocks with any byte changed.
    @Test func damagedBlocksAreReadToTheirEndOnly() {
        for isBig in [false, true] {
            let sound = Self.exif(isBig: isBig, textBehind: true)
            for end in sound.indices { _ = block(Array(sound[..<end]))?.upright() }
            for place in sound.indices {
                for byte in [0, 1, 8, 0x7F, 0xFF] as [UInt8] {
                    var damaged = sound
                    damaged[place] = byte
                    #expect(block(damaged)?.upright().count ?? 0 <= sound.count)
                    #expect(block(damaged)?.rights()?.count ?? 0 < 9000)
                }
            }
        }
    }

    // MARK: - XMP

    private static let packet = Array(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description
         xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6" a:Secret="s">
        <dc:creator><rdf:Seq><rdf:li>Ada &amp; Co</rdf:li><rdf:li>Bob</rdf:li></rdf:Seq>
        </dc:creator>
        <dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© Ada</rdf:li></rdf:Alt></dc:rights>
        </rdf:Description></rdf:RDF></x:xmpmeta>
        """.utf8)

    private func rights(_ packet: [UInt8]) -> [UInt8]? {
        packet.withUnsafeBytes { XMPRights.read($0) }
    }

    /// The items of each property as found by an XML parser.
    private func items(_ packet: [UInt8]) throws -> String {
        let output = try Tool.run(
            [
                "python3", "-c",
                """
                import sys, xml.etree.ElementTree as E
                root = E.fromstring(sys.stdin.buffer.read().decode())
                print([(p.tag.split('}')[1], [i.text for i in p.iter() if i.tag.endswith('}li')])
                       for d in root.iter() if d.tag.endswith('Description') for p in d])
                """,
            ], input: packet)
        return String(decoding: output, as: UTF8.self)
    }

    @Test func rightsOfXMPAreAPacketOfTheirOwn() throws {
        let produced = try #require(rights(Self.packet))
        #expect(
            try items(produced) == "[('creator', ['Ada & Co', 'Bob']), ('rights', ['© Ada'])]\n")
        #expect(!Self.holds(produced, Array("Secret".utf8)))
        #expect(rights(Array("<x>nothing</x>".utf8)) == nil)
        for end in Self.packet.indices { _ = rights(Array(Self.packet[..<end])) }
    }

    @Test func xmpIsUpright() {
        let upright = Self.packet.withUnsafeBytes { XMPOrientation.upright($0) }
        #expect(upright?.withUnsafeBytes { XMPOrientation.read($0) } == 1)
        #expect(upright?.count == Self.packet.count)
        let long = Self.packet + [UInt8](repeating: 0x20, count: 1 << 16)
        #expect(long.withUnsafeBytes { XMPOrientation.upright($0) } == nil)
    }

    // MARK: - IPTC

    /// City, by-line and copyright notice.
    private static let records: [UInt8] =
        [0x1C, 2, 90, 0, 4] + Array("Rome".utf8) + [0x1C, 2, 80, 0, 3] + Array("Ada".utf8)
        + [0x1C, 2, 116, 0, 5] + Array("(c) A".utf8)
    private static let rightsRecords = Array(records.dropFirst(9))

    private static func photoshop(_ records: [UInt8]) -> [UInt8] {
        let other = Array("8BIM".utf8) + [4, 0x0C, 1, 0x78, 0, 0, 0, 3, 9, 9, 9, 0]
        return Array("Photoshop 3.0\0".utf8) + other + Array("8BIM".utf8)
            + [4, 4, 0, 0, 0, 0, 0, UInt8(records.count)] + records
    }

    @Test func recordsAreFoundByThemselvesAndInResources() {
        for bytes in [Self.records, Self.photoshop(Self.records)] {
            let found = bytes.withUnsafeBytes { IPTCRecords($0) }
            #expect(found?.all == Self.records)
            #expect(found?.rights == Self.rightsRecords)
            for end in bytes.indices {
                _ = Array(bytes[..<end]).withUnsafeBytes { IPTCRecords($0)?.rights }
            }
        }
        #expect([UInt8](repeating: 1, count: 40).withUnsafeBytes { IPTCRecords($0) } == nil)
    }

    // MARK: - The stage

    private func parts(_ file: [UInt8], _ keeps: KeptParts) throws -> [EmbeddedMetadata.Kind:
        [UInt8]]
    {
        let decoded = try decode(file, keeping: keeps)
        let found = try #require(decoded.layout).embeddedMetadata
        return Dictionary(
            uniqueKeysWithValues: found.map {
                ($0.kind, Array(decoded.samples[$0.offset..<($0.offset + $0.length)]))
            })
    }

    @Test func whatIsAskedForComesBesideThePixels() throws {
        let file = try Sources.marked(.jpeg(quality: 90), 64, 48)
            .withSegment(0xED, Self.photoshop(Self.records))
            .withSegment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Self.packet)
            .withSegment(0xE1, Array("Exif\0\0".utf8) + Self.exif(isBig: true))
        #expect(try parts(file, []).isEmpty)
        #expect(try parts(file, .profile).isEmpty)
        let all = try parts(file, .metadata)
        #expect(all[.exif] == block(Self.exif(isBig: true))?.upright())
        #expect(all[.xmp]?.count == Self.packet.count)
        #expect(all[.iptc] == Self.records)
        let rights = try parts(file, .rights)
        #expect(rights[.exif] == block(Self.exif(isBig: true))?.rights())
        #expect(rights[.iptc] == Self.rightsRecords)
        let secret = Array("Secret".utf8)
        #expect(Self.holds(all[.xmp] ?? [], secret) && !Self.holds(rights[.xmp] ?? secret, secret))
    }
}
