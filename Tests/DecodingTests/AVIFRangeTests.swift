import Model
import TestKit
import Testing

/// AVIF samples with limited range, alpha or color encodings other than the default, and tiles in
/// unusual order.
@Suite struct AVIFRangeTests {
    /// Quantizing to limited range loses one step.
    @Test(arguments: [("grey", 1), ("alpha", 0), ("grid", 0)])
    func everySampleIsThatOfThePicture(kind: String, most: Int) throws {
        let folder = TemporaryDirectory()
        let (file, raw) = (folder.file("a.avif"), folder.file("raw"))
        let script = RepositoryRoot.file("Tests/Images/avif_ranges.py")
        let size = try Tool.run(["python3", script, kind, file, raw]).split { $0 <= 0x20 }
            .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        let wanted = try #require(FileBytes.read(raw))
        let decoded = try decode(try #require(FileBytes.read(file)))
        #expect(decoded.image.info.size == PixelSize(width: size[0], height: size[1]))
        #expect(decoded.image.info.hasAlpha == (kind == "alpha"))
        var differences = [0, 0, 0, 0]
        for index in stride(from: 0, to: wanted.count, by: 4) {
            let pixel = try decoded.pixel(index / 4 % size[0], index / 4 / size[0])
            for (band, sample) in (pixel + [255]).prefix(4).enumerated() {
                let difference = abs(Int(sample) - Int(wanted[index + band]))
                differences[band] = max(differences[band], difference)
            }
        }
        #expect(differences.allSatisfy { $0 <= most }, "\(differences)")
    }
}
