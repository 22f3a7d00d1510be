import Model
import StageKit
import TestKit
import Testing
import Vips

@testable import Decoding

/// EXIF written by cameras.
@Suite struct ExifFactTests {
    /// EXIF of a camera, a lens and a location, made by Pillow 13.0 (`Image.Exif().tobytes()`),
    /// which writes a question mark for non-ASCII characters.
    private static let pillow = ExternalFiles.bytes(
        """
        RXhpZgAATU0AKgAAAAgABwEPAAIAAAANAAAAYgEQAAIAAAAoAAAAcAESAAMAAAABAAYAAAE7AAIAAAAFAAAAmIKY
        AAIAAAAPAAAAnodpAAQAAAABAAAAroglAAQAAAABAAAB9gAAAABDYW0/cmEgIkEgKEIAAE1vZGVsICgxLCBBU0NJ
        SSwgMiBjb21wb25lbnRzLCA5IGJ5dGVzKQBBbhtuAAA/IDIwMjQgU29tZW9uZQAAAAaCmgAFAAAAAQAAAPyCnQAF
        AAAAAQAAAQSIJwADAAAAAQFAAACQAwACAAAAFAAAAQySCgAFAAAAAQAAASCkNAACAAAAzgAAASgAAAAAAAAAAQAA
        APoAAAAOAAAABTIwMjQ6MDU6MDYgMDc6MDg6MDkAAAAARwAAAAJMZW5zIHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4
        eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4
        eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4
        eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4AAAGAAEAAgAAAAJTAAAAAAIABQAA
        AAMAAAJEAAMAAgAAAAJFAAAAAAQABQAAAAMAAAJcAAUAAQAAAAEBAAAAAAYABQAAAAEAAAJ0AAAAAAAAACEAAAAB
        AAAAMwAAAAEAAAmBAAAAZAAAAJcAAAABAAAADAAAAAEAAANFAAAAGQAAABkAAAAC
        """)

    private static func jpeg(_ exif: [UInt8]) throws -> [UInt8] {
        try Sources.marked(.jpeg(quality: 90), 40, 24).withSegment(0xE1, exif)
    }

    /// The EXIF with one text replaced by another of the same length.
    private static func replacing(_ old: String, _ new: [UInt8]) throws -> [UInt8] {
        var bytes = pillow
        let text = Array(old.utf8)
        try #require(text.count == new.count)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: text) })
        bytes.replaceSubrange(place..<(place + new.count), with: new)
        return bytes
    }

    @Test func fieldsAreThoseThatPillowWrote() throws {
        let found = try properties(of: Self.jpeg(Self.pillow), RequestedProperties([.exif, .gps]))
        #expect(
            found.exif == [
                .make: "Cam?ra \"A (B", .model: "Model (1, ASCII, 2 components, 9 bytes)",
                .lens: "Lens " + String(repeating: "x", count: 123),
                .dateTaken: "2024:05:06 07:08:09", .exposureSeconds: "0.004", .aperture: "2.8",
                .iso: "320", .focalLengthMillimetres: "35.5", .artist: "An\u{1B}n",
                .copyright: "? 2024 Someone", .latitude: "-33.856758", .longitude: "151.2093",
                .altitudeMetres: "-12.5",
            ])
        #expect(found.orientation == nil, "it was not asked for")
    }

    /// The location is returned only if requested.
    @Test(arguments: [FactKinds.exif, .gps, .header, [.header, .exif]])
    func onlyWhatIsAskedForComes(kinds: FactKinds) throws {
        let found = try properties(of: Self.jpeg(Self.pillow), RequestedProperties(kinds))
        let places: Set<ExifField> = [.latitude, .longitude, .altitudeMetres]
        let fields = Set(found.exif.keys)
        #expect(fields.isDisjoint(with: places) == !kinds.contains(.gps))
        #expect(fields.subtracting(places).isEmpty == !kinds.contains(.exif))
        #expect((found.orientation == 6) == kinds.contains(.header))
    }

    @Test func textsAreUTF8OrNotThere() throws {
        let named = try Self.replacing("Cam?ra", Array("Camér".utf8))
        #expect(
            try properties(of: Self.jpeg(named), RequestedProperties(.exif)).exif[.make]
                == "Camér \"A (B")
        let broken = try Self.replacing("? 2024", [0xFF] + Array(" 2024".utf8))
        let found = try properties(of: Self.jpeg(broken), RequestedProperties(.exif))
        #expect(found.exif[.copyright]?.contains("\u{FF}") != true)
        #expect(found.exif[.make] != nil)
    }

    /// Changes each byte and truncates at each position: the result has only texts within the
    /// limits.
    @Test func damagedEXIFIsSurvived() throws {
        var seed: UInt64 = 9
        for _ in 0..<60 {
            var bytes = Self.pillow
            for _ in 0..<4 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1
                let place = 6 + Int(seed >> 33) % (bytes.count - 6)
                bytes[place] = UInt8(truncatingIfNeeded: seed >> 50)
            }
            let found = try properties(of: Self.jpeg(bytes), RequestedProperties([.exif, .gps]))
            #expect(found.exif.values.allSatisfy { $0.utf8.count <= ExifField.valueBytesMax })
        }
    }

    /// According to Pillow 13.0 with pillow-heif: a Canon EOS R8, 1/80 s, f/5.6, ISO 400.
    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    func theCameraOfAPhotographIsThatOfPillow() throws {
        let bytes = try Fixtures.read("images/TestHDR.heic")
        let found = try properties(of: bytes, RequestedProperties([.exif, .gps]))
        #expect(
            found.exif == [
                .make: "Canon", .model: "Canon EOS R8", .lens: "RF24mm F1.8 MACRO IS STM",
                .dateTaken: "2022:07:04 21:17:16", .exposureSeconds: "0.0125", .aperture: "5.6",
                .iso: "400", .focalLengthMillimetres: "24",
            ])
    }

    // MARK: - Entries

    @Test(arguments: [
        ("Canon (Canon, ASCII, 6 components, 6 bytes)", "Canon"),
        ("A (B (A (B, ASCII, 5 components, 5 bytes)", "A (B"),
        (" (, ASCII, 1 components, 1 bytes)", ""),
    ])
    func textsEndWhereTheEntrySays(stored: String, text: String) {
        #expect(ExifEntry(Array(stored.utf8)).text.map { Array($0) } == Array(text.utf8))
    }

    @Test(arguments: [
        ("28/5 (f/5.6, Rational, 1 components, 8 bytes)", [5.6]),
        ("400 (400, Short, 1 components, 2 bytes)", [400]),
        ("33/1 51/1 2433/100 (33, 51, 24.33, Rational, 3 components, 24 bytes)", [33, 51, 24.33]),
        ("1/0 7 (x)", [7]), ("", []), ("x/y 1/ /2 nan inf (", []),
    ])
    func numbersAreThoseBeforeTheWords(stored: String, numbers: [Double]) {
        #expect(ExifEntry(Array(stored.utf8)).numbers == numbers)
    }
}
