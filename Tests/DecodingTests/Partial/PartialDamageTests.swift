import Model
import TestKit
import Testing

/// Partial files that are also damaged.
@Suite struct PartialDamageTests {
    /// The rows before the damage are shown.
    @Test(arguments: [PartialFile.png, .transparent, .lossless, .baseline])
    func damageBehindARowHidesNoRow(file: PartialFile) throws {
        var bytes = try file.bytes()
        let sound = try partial(bytes.part(50))
        let damage = bytes.count * 55 / 100
        bytes.replaceSubrange(damage..<damage + 40, with: repeatElement(0x5A, count: 40))
        let found = try partial(bytes.part(90))
        try #require(found.isShown)
        #expect(found.samples.prefix(20 * file.stride) == sound.samples.prefix(20 * file.stride))
    }

    @Test(arguments: PartialFile.allCases)
    func anyDamageGivesAnImageOrNothingOrATypedError(file: PartialFile) throws {
        var chance = SeededGenerator(seed: 20_261_125)
        let sound = try file.bytes()
        for _ in 0..<60 {
            var bytes = sound.part(Int.random(in: 5...100, using: &chance))
            for _ in 0..<Int.random(in: 1...6, using: &chance) {
                let isInHeader = Bool.random(using: &chance)
                let place = Int.random(
                    in: 0..<(isInHeader ? 700 : bytes.count), using: &chance)
                guard bytes.indices.contains(place) else { continue }
                bytes[place] = UInt8.random(in: .min ... .max, using: &chance)
            }
            do throws(ImageError) {
                _ = try imageError { try partial(bytes) }
            } catch {
                let usual: [ErrorCode] = [.badImageData, .unsupportedFormat, .limitExceeded]
                #expect(usual.contains(error.code), "\(error): \(error.details)")
            }
        }
    }
}
