import Model
import TestKit
import Testing

/// Slightly damaged files by Pillow, which is made to show them, too.
@Suite struct DamagedReferenceTests {
    /// Rows that Pillow reads from the damaged file as from the whole one are shown; a file of
    /// which only the end marker is missing is whole. Rounding of JPEG colors may differ.
    @Test(arguments: [
        ("jpeg", true, 3), ("png", true, 0), ("png-sum", true, 0), ("jpeg-end", false, 3),
        ("gif-end", false, 0),
    ])
    func rowsThatAnotherReaderShowsAreShown(kind: String, isDamaged: Bool, most: Int) throws {
        let folder = TemporaryDirectory()
        let (file, raw) = (folder.file("damaged"), folder.file("raw"))
        let script = RepositoryRoot.file("Tests/Images/damaged.py")
        let numbers = try Tool.run(["python3", script, kind, file, raw]).split { $0 <= 0x20 }
            .compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        try #require(numbers.count == 3)
        let (width, height, rows) = (numbers[0], numbers[1], numbers[2])
        let bytes = try #require(FileBytes.read(file))
        let wanted = try #require(FileBytes.read(raw))
        if isDamaged { #expect(failure(bytes)?.code == .badImageData) }
        let decoded = try decode(bytes, showsDamaged: isDamaged)
        #expect(decoded.image.isDamaged == isDamaged)
        try #require(decoded.image.info.size == PixelSize(width: width, height: height))
        #expect(isDamaged || rows == height)
        // A decoder may hold the last incomplete rows back.
        let compared = rows < height ? rows - 16 : height
        try #require(compared >= height / 4)
        var largest = 0
        for y in 0..<compared {
            for x in 0..<width {
                let start = 3 * (y * width + x)
                let found = try decoded.pixel(x, y)
                for (sample, right) in zip(found, wanted[start..<start + 3]) {
                    largest = max(largest, abs(Int(sample) - Int(right)))
                }
            }
        }
        #expect(largest <= most, "\(compared) rows")
    }
}
