import Model
import TestKit
import Vips

/// Files made by `avifenc`, an independent encoder.
enum AVIFFiles {
    /// Encodes the pixels with avifenc.
    ///
    /// - Parameter options: command line arguments in addition to a high quality.
    static func lanes(of image: TestImage, _ options: [String]) throws -> Lanes {
        let folder = TemporaryDirectory()
        folder.write(try image.png(), to: "a.png")
        return try encoded(folder, "a.png", options)
    }

    /// Encodes 4:2:0 planes with avifenc.
    ///
    /// - Parameter siting: the chroma location in Y4M terms: `jpeg`, `mpeg2`, `paldv`.
    static func lanes(
        ofPlanes planes: [UInt8], _ size: PixelSize, siting: String, _ options: [String]
    ) throws -> Lanes {
        let folder = TemporaryDirectory()
        let head =
            "YUV4MPEG2 W\(size.width) H\(size.height) F25:1 Ip A1:1 C420\(siting)"
            + " XCOLORRANGE=FULL\nFRAME\n"
        folder.write(Array(head.utf8) + planes, to: "a.y4m")
        return try encoded(folder, "a.y4m", options)
    }

    /// The pixels decoded by `avifdec`, an independent decoder; it applies no orientation.
    static func pixels(_ bytes: [UInt8]) throws -> TestImage {
        let folder = TemporaryDirectory()
        folder.write(bytes, to: "a.avif")
        try Tool.run(["avifdec", "-d", "8", folder.file("a.avif"), folder.file("a.png")])
        return try VipsWay.decoded(read(folder, "a.png"))
    }

    private static func encoded(
        _ folder: TemporaryDirectory, _ input: String, _ options: [String]
    ) throws -> Lanes {
        try Tool.run(
            ["avifenc", "-s", "9", "-j", "1", "--min", "2", "--max", "6"] + options
                + [folder.file(input), folder.file("a.avif")])
        return Lanes(bytes: try read(folder, "a.avif"))
    }

    private static func read(_ folder: TemporaryDirectory, _ name: String) throws -> [UInt8] {
        guard let bytes = FileBytes.read(folder.file(name)) else {
            throw StackFailure("there is no \(name)")
        }
        return bytes
    }
}

extension TestImage {
    /// A PNG of the samples.
    fileprivate func png() throws -> [UInt8] {
        try VipsLibrary().exclusively {
            try samples.withUnsafeBytes { pixels in
                try VipsImage.pixels(
                    pixels, width: size.width, height: size.height, bands: bands
                ).encoded(.png(compression: 1))
            }
        }
    }
}
