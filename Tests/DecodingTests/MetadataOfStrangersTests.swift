import TestKit
import Testing

@testable import Decoding

/// XMP packets and ICC profiles with corrupted bytes: reading always ends and returns only possible
/// values.
@Suite struct MetadataOfStrangersTests {
    private static let count = 20_000

    private static let packets = [
        "<x xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" tiff:Orientation=\"3\"/>",
        "<x xmlns:t='http://ns.adobe.com/tiff/1.0/'><t:Orientation> 6 </t:Orientation></x>",
        "<x xmlns:tiff = \"http://ns.adobe.com/tiff/1.0/\" tiff:Orientation = '8'>",
    ].map { Array($0.utf8) }

    @Test func aPacketHasAnOrientationThatThereIsOrNone() {
        let read = { (bytes: [UInt8]) in bytes.withUnsafeBytes { XMPOrientation.read($0) } }
        #expect(Self.packets.map(read) == [3, 6, 8])
        var found = 0
        for packet in Self.mutations(of: Self.packets, seed: 1) {
            guard let orientation = read(packet) else { continue }
            #expect((1...8).contains(orientation))
            found += 1
        }
        #expect((1..<Self.count).contains(found), "some are unharmed, some are not: \(found)")
    }

    @Test func aProfileHasANameWithinItOrNone() {
        let profiles = [
            Self.profile(Self.text("desc", Array("sRGB plain".utf8) + [0], count: 11)),
            Self.profile(Self.languages("sRGB")),
        ]
        let read = { (bytes: [UInt8]) in bytes.withUnsafeBytes { ProfileName.read($0) } }
        #expect(profiles.map(read) == ["sRGB plain", "sRGB"].map { Array($0.utf8) })
        var found = 0
        for profile in Self.mutations(of: profiles, seed: 2) {
            guard let name = read(profile) else { continue }
            #expect(name.count <= 3 * profile.count)
            found += 1
        }
        #expect((1..<Self.count).contains(found), "some are unharmed, some are not: \(found)")
    }

    /// Changes one to four bytes, often to boundary values; some inputs are truncated, or have a
    /// part duplicated.
    private static func mutations(of inputs: [[UInt8]], seed: UInt64) -> [[UInt8]] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            var bytes = inputs[number % inputs.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] =
                    [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random)
                    ?? UInt8.random(in: 0...255, using: &random)
            }
            let place = Int.random(in: 0..<bytes.count, using: &random)
            if random.happens(20) { bytes.removeSubrange(place...) }
            if random.happens(20) { bytes += bytes.prefix(place) }
            return bytes
        }
    }

    /// A header, one tag, and its data (ICC.1:2022, 7.2 and 7.3).
    private static func profile(_ name: [UInt8]) -> [UInt8] {
        let start = number(144) + number(name.count)
        return [UInt8](repeating: 0, count: 128) + number(1) + Array("desc".utf8) + start + name
    }

    private static func text(_ type: String, _ text: [UInt8], count: Int) -> [UInt8] {
        Array(type.utf8) + number(0) + number(count) + text
    }

    /// One name in UTF-16 (10.15).
    private static func languages(_ name: String) -> [UInt8] {
        var units: [UInt8] = []
        for byte in name.utf8 { units += [0, byte] }
        let head = Array("mluc".utf8) + number(0) + number(1) + number(12)
        let language = Array("enUS".utf8) + number(units.count) + number(28)
        return head + language + units
    }

    private static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
