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

        init(_ width: Int, _ height: Int, _ means: [Double] = [], _ points: [[Int]?] = []) {
            size = PixelSize(width: width, height: height)
            (self.means, self.points) = (means, points)
        }
    }

    enum Right: Sendable {
        /// The picture that `chromium-reference.txt` states for the file, or for one that looks the
        /// same.
        case drawn(like: String? = nil)
        /// The picture of another reader, because Chromium's doesn't exist or isn't right.
        case picture(Picture)
        /// A decode error, with this part of its message.
        case refused(ErrorCode, saying: String? = nil)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let right: Right
        /// The number of frames or images; nil if the file ends before its last frame.
        var frames: Int?
        /// Whether pixels are missing or wrong, so that the image is shown only on request.
        var isDamaged = false
        /// The permitted difference between samples: more for lossy formats, whose decoders
        /// upsample chroma differently.
        var tolerance: Int
        var family = FormatFamily.raster
        var testDescription: String { name }

        init(
            _ name: String, _ right: Right = .drawn(), frames: Int? = 1, isDamaged: Bool = false,
            by family: FormatFamily = .raster
        ) {
            (self.name, self.right, self.frames) = (name, right, frames)
            (self.isDamaged, self.family) = (isDamaged, family)
            let isLossy = [".jpg", ".avif", ".avifs", ".tif"].contains { name.hasSuffix($0) }
            tolerance = isLossy ? 8 : 4
        }
    }

    /// The picture of most files, at a quality without visible loss.
    private static let photo = Picture(
        240, 160, [137.1, 128.2, 118.4, 255],
        [[207, 22, 237, 255], [220, 30, 40, 255], [21, 199, 59, 255]])

    static let rows: [Row] = [
        // 12 bits, by tiffinfo.
        Row("12bit.cropped.tif", .refused(.unsupportedFormat)),
        Row("a10_imir.avif"),
        Row("alpha.png"),
        Row("apng_cut.png", frames: nil),
        Row("apng_p2.png", .drawn(like: "apng_cut.png"), frames: 4),
        Row("avif_p3_444.avif"),
        // Chromium takes the full range of its alpha for limited.
        Row("avif_prem.avif", .drawn(like: "alpha.png")),
        Row("badcrc.png", isDamaged: true),
        Row("cicp_p3.png"),
        // By its color planes: the depth track isn't alpha.
        Row(
            "colors-animated-8bpc-depth-exif-xmp.avif",
            .picture(
                Picture(150, 150, [0, 0, 0, 255], [[Int]](repeating: [0, 0, 0, 255], count: 3))),
            frames: 5),
        // `var()` is ignored (SEMANTICS §11.19).
        Row(
            "css.svg",
            .picture(
                Picture(
                    40, 40, [127.5, 0, 127.5, 255],
                    [[255, 0, 255, 255], [255, 0, 255, 255], [0, 0, 0, 255]])),
            by: .vector),
        Row("cur.cur"),
        Row("cut60.gif", frames: nil),
        Row("fox.profile0.8bpc.yuv420.monochrome.avif"),
        Row("gama1.png"),
        Row("hd120.gif", frames: 120),
        Row("ico1.ico"),
        Row("iec_rotated.jpg"),
        // Chromium doesn't draw its last rows, which are present.
        Row("jnoeoi.jpg", .picture(photo)),
        Row("jtrunc.jpg", isDamaged: true),
        // CMYK, by jxlinfo.
        Row("jxl_cmyk_layers.jxl", .refused(.unsupportedFormat)),
        Row("kimono.rotate90.avif"),
        Row("loop_2.gif", .drawn(like: "zeroframe.gif"), frames: 3),
        Row("p3.png"),
        Row("pal8os2sp.bmp"),
        Row("rgb16-565pal.bmp"),
        Row("rgb_grayprof.jpg"),
        Row("sample-xyb.jpg"),
        // By avifdec, with the tiles in the order of `dimg`.
        Row(
            "sofa_grid1x5_420_reversed_dimg_order.avif",
            .picture(
                Picture(
                    1_024, 770, [97.4, 93.4, 91.3, 255],
                    [[99, 107, 109, 255], [2, 12, 38, 255], [30, 34, 37, 255]]))),
        // By avifdec: its AV1 header says full range, which Chromium takes for limited.
        Row(
            "star-8bpc.avifs",
            .picture(
                Picture(
                    159, 159, [99.7, 94, 71.3, 255], [[16, 16, 16, 255], nil, [16, 16, 16, 255]])),
            frames: 5),
        Row("stillcut.gif", isDamaged: true),
        Row("syntax_num_frames_invalid.png"),
        Row("t_pb.tif", .refused(.badImageData)),
        // By Pillow; Chromium draws no TIFF.
        Row(
            "t_ycc.tif",
            .picture(
                Picture(
                    240, 160, [136.1, 128.3, 117.1, 255],
                    [[204, 25, 227, 255], [219, 30, 38, 255], [19, 200, 59, 255]]))),
        Row("trunc.png", isDamaged: true),
        // Not a JPEG, although it begins with FF. Chromium draws it.
        Row("u16.svg", .refused(.badImageData, saying: "not an image in a known format")),
        // By Pillow. Single pixels are as different as neighboring ones.
        Row("webtoon.jpg", .picture(Picture(690, 25_000, [126.8, 127.3, 126.9, 255]))),
        Row("zeroframe.gif", frames: 3),
    ]

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
