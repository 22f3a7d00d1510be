import StageKit
import TestKit
import Vips

/// Files from independent encoders (libtiff, libheif, libjxl and others), all of the same pixels.
enum ExternalFiles {
    static let (width, height) = (48, 32)

    /// Colors of the four quarters, row by row.
    static let colors: [[Int]] = [[200, 40, 30], [30, 180, 60], [40, 60, 210], [220, 210, 60]]

    /// Alpha of the first quarter; the others are opaque.
    static let alpha = 100

    /// The center of each quarter of an image displayed at that size.
    static func middles(_ width: Int = width, _ height: Int = height) -> [(x: Int, y: Int)] {
        [1, 3].flatMap { y in [1, 3].map { x in (width * x / 4, height * y / 4) } }
    }

    /// The samples of all pixels; with more than three bands the fourth is alpha.
    static func samples(bands: Int = 3) -> [UInt8] {
        var samples: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let quarter = y / (height / 2) * 2 + x / (width / 2)
                let color = colors[quarter] + [quarter == 0 ? alpha : 255]
                samples += color.prefix(bands).map(UInt8.init)
            }
        }
        return samples
    }

    /// The same as a PNG from libvips.
    static func png(bands: Int = 3) throws -> [UInt8] {
        let samples = samples(bands: bands)
        return try Sources.encoded(.png(compression: 1), width, height, bands: bands) {
            x, y, band in
            Int(samples[(y * width + x) * bands + band])
        }
    }

    /// The same as a JPEG from libvips, with an EXIF orientation.
    static func jpeg(orientation: Int) throws -> [UInt8] {
        try Sources.encoded(.jpeg(quality: 95), width, height) { x, y, band in
            colors[y / (height / 2) * 2 + x / (width / 2)][band]
        }.withEXIF(orientation: orientation)
    }

    /// A TIFF of these samples by `raw2tiff`, rewritten by `tiffcp` with these arguments, and with
    /// tags set by `tiffset`.
    static func tiff(
        _ samples: [UInt8] = samples(), bands: Int = 3, colors: String = "rgb",
        depth: String = "byte", copied words: [String] = [], tags: [[String]] = []
    ) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (raw, plain) = (folder.write(samples, to: "a.raw"), folder.file("a.tif"))
        try Tool.run(
            ["raw2tiff", "-w", "\(width)", "-l", "\(height)", "-b", "\(bands)", "-d", depth]
                + ["-p", colors, raw, plain])
        for tag in tags { try Tool.run(["tiffset", "-s"] + tag + [plain]) }
        let copy = folder.file("b.tif")
        try Tool.run(["tiffcp"] + words + [plain, copy])
        return try read(copy)
    }

    /// A file with that many pages, each as made by `tiff`.
    static func tiff(pages: Int) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let page = folder.write(try tiff(), to: "a.tif")
        try Tool.run(["tiffcp"] + Array(repeating: page, count: pages) + [folder.file("b.tif")])
        return try read(folder.file("b.tif"))
    }

    /// A PNG or JPEG encoded by `heif-enc`.
    static func heif(_ source: [UInt8], isAVIF: Bool) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let input = folder.write(source, to: source.first == 0xFF ? "a.jpg" : "a.png")
        let output = folder.file("b")
        try Tool.run(["heif-enc", "-q", "95"] + (isAVIF ? ["-A"] : []) + ["-o", output, input])
        return try read(output)
    }

    /// A PNG, JPEG or PPM losslessly encoded by `cjxl`.
    static func jxl(_ source: [UInt8], named name: String = "a.png") throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let input = folder.write(source, to: name)
        try Tool.run(["cjxl", "-d", "0", input, folder.file("b.jxl")])
        return try read(folder.file("b.jxl"))
    }

    /// Each sample widened to 16 bits.
    static func doubled(_ samples: [UInt8]) -> [UInt8] { samples.flatMap { [$0, $0] } }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let bytes = FileBytes.read(path) else { throw StackFailure("there is no \(path)") }
        return bytes
    }
}

extension ExternalFiles {
    /// A BMP made by ImageMagick from a PNG with these arguments; `BMP2:`, `BMP3:` and `BMP:`
    /// select the version.
    static func bmp(_ source: [UInt8], _ words: [String], version: String) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (input, output) = (folder.write(source, to: "a.png"), folder.file("b.bmp"))
        try Tool.run(["convert", input] + words + [version + output])
        return try read(output)
    }

    /// An icon made by `icotool` from PNG files; those in `raw` are embedded as they are.
    static func icon(bitmaps: [[UInt8]], raw: [[UInt8]] = []) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let plain = bitmaps.enumerated().map { folder.write($1, to: "p\($0).png") }
        let whole = raw.enumerated().flatMap { ["-r", folder.write($1, to: "r\($0).png")] }
        let output = folder.file("a.ico")
        // Otherwise it chooses the lowest depth sufficient for the colors of each image.
        try Tool.run(["icotool", "-c", "-b", "32", "-o", output] + plain + whole)
        return try read(output)
    }

    /// A PNG converted by Pillow.
    static func pillow(_ source: [UInt8], as name: String, mode: String) throws -> [UInt8] {
        let folder = TemporaryDirectory()
        let (input, output) = (folder.write(source, to: "a.png"), folder.file(name))
        let script =
            "import sys; from PIL import Image; "
            + "Image.open(sys.argv[1]).convert(sys.argv[3]).save(sys.argv[2])"
        try Tool.run(["python3", "-c", script, input, output, mode])
        return try read(output)
    }

    /// A square PNG of one color.
    static func square(_ side: Int, _ color: [Int]) throws -> [UInt8] {
        try Sources.encoded(.png(compression: 1), side, side, bands: color.count) { _, _, band in
            color[band]
        }
    }
}
