import Model
import TestKit
import Testing

/// Every file of the folder of public bug reports, decoded and compared with Chromium 156.
@Suite(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
struct ReportedFileTests {
    /// An image as another reader shows it: the mean of each channel, and red, green, blue and
    /// alpha at 10, 30 and 80 percent of both sides; nil for pixels that aren't compared.
    struct Picture: Sendable {
        let size: PixelSize
        let means: [Double]
        let points: [[Int]?]

        init(_ width: Int, _ height: Int, _ means: [Double], _ points: [[Int]?]) {
            size = PixelSize(width: width, height: height)
            (self.means, self.points) = (means, points)
        }

        /// Parses the last column of `reports.txt`.
        init?(_ text: String) {
            let words = text.split(separator: " ")
            guard words.count > 1 else { return nil }
            let sides = words[0].split(separator: "x").compactMap { Int($0) }
            let means = words[1].split(separator: ",").compactMap { Double($0) }
            let points = words[2...].map { point -> [Int]? in
                point == "-" ? nil : point.split(separator: ",").compactMap { Int($0) }
            }
            guard sides.count == 2, means.count == 4,
                points.allSatisfy({ $0.map { $0.count == 4 } ?? true })
            else { return nil }
            self.init(sides[0], sides[1], means, points)
        }
    }

    enum Right: Sendable {
        /// The picture that `chromium-reference.txt` states for the file, or for one that looks the
        /// same.
        case drawn(like: String?)
        /// The picture of another reader, because Chromium's doesn't exist or isn't right.
        case picture(Picture)
        /// A decode error, with this part of its message.
        case refused(ErrorCode, saying: String?)

        /// Parses the second and the last column of `reports.txt`.
        init?(_ text: String, picture: String) {
            let parts = text.split(separator: ": ", maxSplits: 1).map(String.init)
            let words = text.split(separator: " ").map(String.init)
            if let code = ErrorCode.allCases.first(where: { $0.rule.name == parts.first }) {
                self = .refused(code, saying: parts.count > 1 ? parts[1] : nil)
            } else if let picture = Picture(picture) {
                self = .picture(picture)
            } else if picture == "-", words.first == "Chromium" {
                self = .drawn(like: words.count > 1 ? words.last : nil)
            } else {
                return nil
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let right: Right
        /// The number of frames or images; nil if the file ends before its last frame.
        let frames: Int?
        /// Whether pixels are missing or wrong, so that the image is shown only on request.
        let isDamaged: Bool
        /// The permitted difference between samples: more for lossy formats, whose decoders
        /// upsample chroma differently.
        let tolerance: Int
        let family: FormatFamily
        var testDescription: String { name }

        /// Parses a line of `reports.txt`.
        init?(_ line: Substring) {
            let columns = line.split(separator: " | ").map(String.init)
            guard columns.count == 5, let right = Right(columns[1], picture: columns[4]) else {
                return nil
            }
            (name, self.right) = (columns[0], right)
            (frames, isDamaged) = (Int(columns[2]), columns[3] == "damaged")
            let isLossy = [".jpg", ".avif", ".avifs", ".tif"].contains { columns[0].hasSuffix($0) }
            tolerance = isLossy ? 8 : 4
            var isDrawn = columns[0].hasSuffix(".svg")
            if case .refused = right { isDrawn = false }
            family = isDrawn ? .vector : .raster
        }
    }

    /// The lines of the table that `scripts/sweep --reports` reads, too. One that can't be parsed
    /// is left out, so that its file has no row.
    static let rows: [Row] = {
        let text = FileBytes.text(RepositoryRoot.file("Tests/Sweep/reports.txt")) ?? ""
        let lines = text.split(separator: "\n    ").joined(separator: " ")
        return lines.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { Row($0) }
    }()

    @Test func everyFileHasARow() throws {
        let folder = try #require(Fixtures.folder)
        let files = DirectoryEntries.names("\(folder)/reports").filter {
            !$0.hasSuffix(".md") && !$0.hasSuffix(".txt")
        }
        #expect(Set(files) == Set(Self.rows.map(\.name)) && files.count == Self.rows.count)
    }

    @Test(arguments: rows)
    func aReportedFileIsWhatItMustBe(row: Row) throws {
        let bytes = try Fixtures.read("reports/\(row.name)")
        switch row.right {
        case .refused(let code, let text):
            let error = failure(bytes, by: row.family)
            #expect(error?.code == code)
            if let text { #expect(error?.message.contains(text) == true) }
        case .picture(let picture):
            try expect(picture, of: bytes, row)
        case .drawn(let other):
            let drawing = try #require(try Self.drawings()[other ?? row.name])
            try expect(drawing, of: bytes, row)
        }
    }

    private func expect(_ picture: Picture, of bytes: [UInt8], _ row: Row) throws {
        if row.isDamaged { #expect(failure(bytes)?.code == .badImageData) }
        let decoded = try decode(bytes, by: row.family, showsDamaged: row.isDamaged)
        #expect(decoded.image.isDamaged == row.isDamaged)
        let size = decoded.image.info.size
        try #require(size == picture.size)
        if let frames = row.frames { #expect(decoded.image.info.pages == frames) }
        for (percent, wanted) in zip([10, 30, 80], picture.points) {
            // A browser draws nothing for missing pixels, but they may be gray.
            guard let wanted, !row.isDamaged || wanted[3] > 0 else { continue }
            let found = try Self.shown(
                decoded.pixel(size.width * percent / 100, size.height * percent / 100))
            let isNear = zip(Self.premultiplied(found), Self.premultiplied(wanted)).allSatisfy {
                abs($0 - $1) <= row.tolerance
            }
            #expect(isNear, "at \(percent) %: \(found), \(wanted)")
        }
        guard !picture.means.isEmpty, !row.isDamaged else { return }
        let means = try Self.means(of: decoded)
        #expect(zip(means, picture.means).allSatisfy { abs($0 - $1) <= 3 }, "\(means)")
    }

    /// A GIF frame without size takes its time and draws nothing; the one behind it is drawn.
    @Test func framesBehindOneOfNoSizeAreNotLost() throws {
        let bytes = try Fixtures.read("reports/zeroframe.gif")
        for (frame, color) in [(0, [255, 0, 0]), (1, [255, 0, 0]), (2, [0, 0, 255])] {
            let decoded = try decode(bytes, frame: frame)
            #expect(try Self.shown(decoded.pixel(7, 7)) == [255, 0, 0, 255])
            #expect(try Self.shown(decoded.pixel(25, 15)) == color + [255], "frame \(frame)")
        }
    }

    // MARK: - Readings

    /// The readable lines of `chromium-reference.txt`, by file name.
    private static func drawings() throws -> [String: Picture] {
        let text = try String(
            decoding: Fixtures.read("reports/chromium-reference.txt"), as: UTF8.self)
        var drawings: [String: Picture] = [:]
        for line in text.split(separator: "\n") {
            // The path, `ok`, the size, `mean`, and the numbers.
            let words = line.split(separator: " ", maxSplits: 4)
            guard words.count == 5, words[1] == "ok" else { continue }
            let sides = words[2].split(separator: "x").compactMap { Int($0) }
            let numbers = words[4].split { !$0.isNumber && $0 != "." }.compactMap { Double($0) }
            guard sides.count == 2, numbers.count == 16 else { continue }
            let points = stride(from: 4, to: 16, by: 4).map { start in
                numbers[start..<start + 4].map { Int($0) }
            }
            let name = words[0].split(separator: "/").last.map { String($0) } ?? ""
            drawings[name] = Picture(sides[0], sides[1], Array(numbers[..<4]), points)
        }
        return drawings
    }

    /// Red, green, blue and alpha as on a canvas, where transparent pixels have no color.
    private static func shown(_ pixel: [UInt8]) -> [Int] {
        let samples = pixel.map { Int($0) }
        let alpha = samples.count % 2 == 0 ? samples[samples.count - 1] : 255
        guard alpha > 0 else { return [0, 0, 0, 0] }
        return (samples.count < 3 ? [samples[0], samples[0], samples[0]] : Array(samples[..<3]))
            + [alpha]
    }

    private static func premultiplied(_ pixel: [Int]) -> [Int] {
        pixel[..<3].map { $0 * pixel[3] / 255 } + [pixel[3]]
    }

    /// The mean of each channel. A sample of the pixels is enough for large images.
    private static func means(of decoded: Decoded) throws -> [Double] {
        let size = decoded.image.info.size
        var step = 1
        while size.width * size.height / (step * step) > 10_000 { step += 1 }
        var (sums, count) = ([0, 0, 0, 0], 0)
        for y in stride(from: 0, to: size.height, by: step) {
            for x in stride(from: 0, to: size.width, by: step) {
                count += 1
                for (band, sample) in try shown(decoded.pixel(x, y)).enumerated() {
                    sums[band] += sample
                }
            }
        }
        return sums.map { Double($0) / Double(count) }
    }
}
