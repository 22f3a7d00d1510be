import TestKit

/// Programs that read images and share no code of ours. What they make is read by Pillow, and
/// converted to sRGB by LittleCMS where there is a profile.
enum OtherReader: String {
    /// Pillow alone.
    case pillow
    /// The example of libheif. It knows no sequence by its brand, whose first image it is given.
    case heifConvert
    /// The example of libavif.
    case avifdec
    /// That of libjxl, in the colours of the file, with a profile of them.
    case djxl
    /// MuPDF, for PDF and SVG.
    case mutool

    /// How far a mean of another reader may be from ours, of 255. Pillow has the same decoders of
    /// JPEG; others enlarge chroma or cover edges in ways of their own.
    var tolerance: Double {
        switch self {
        case .pillow: 0.3
        case .heifConvert, .djxl: 1
        case .avifdec, .mutool: 1.5
        }
    }

    /// Reads the first image of a file.
    func read(_ path: String) throws -> ReadImage {
        let folder = TemporaryDirectory()
        switch self {
        case .pillow: return try ReadImage(path)
        case .heifConvert:
            guard var bytes = FileBytes.read(path) else { throw StackFailure("no \(path)") }
            if bytes.dropFirst(8).starts(with: "msf1".utf8) {
                bytes.replaceSubrange(8..<12, with: "mif1".utf8)
            }
            let file = folder.write(bytes, to: "a.heic")
            // It fails to write a PNG where libpng dislikes the profile.
            try Tool.run(["heif-convert", "-q", "100", file, folder.file("b.jpg")])
            return try ReadImage(folder.file("b.jpg"))
        case .avifdec:
            try Tool.run(["avifdec", "-d", "8", path, folder.file("b.png")])
            return try ReadImage(folder.file("b.png"))
        case .djxl:
            let profile = folder.file("b.icc")
            try Tool.run(
                ["djxl", "--orig_icc_out=\(profile)", path, folder.file("b.ppm")])
            return try ReadImage(folder.file("b.ppm"), profile: profile)
        case .mutool:
            let isDrawing = path.hasSuffix(".svg")
            try Tool.run(
                ["mutool", "draw", "-q", "-c", isDrawing ? "rgba" : "rgb"]
                    + ["-o", folder.file("b.png"), path, "1"])
            return try ReadImage(folder.file("b.png"))
        }
    }
}

/// What Pillow says of a file.
struct ReadImage {
    let size: String
    let frames: Int
    /// Of red, green and blue, each times its alpha, and of alpha, from 0 to 255: in the four
    /// quarters, row by row.
    let means: [Double]

    init(_ path: String, profile: String = "") throws {
        let said = try JSONValue(
            parsing: Tool.run(["python3", "-c", Self.script, path, profile]))
        guard let size = said["size"]?.text, let frames = said["frames"]?.integer,
            let means = said["means"]?.array
        else { throw StackFailure("\(path): \(said)") }
        (self.size, self.frames) = (size, frames)
        self.means = means.compactMap { if case .number(let mean) = $0 { mean } else { nil } }
    }

    /// The largest difference of a mean; 255 where there are not as many.
    func difference(from other: ReadImage) -> Double {
        guard means.count == 16, other.means.count == 16 else { return 255 }
        return zip(means, other.means).map { abs($0 - $1) }.max() ?? 255
    }

    /// Pillow finds more images in a JPEG with a gain map, and no orientation in XMP.
    private static let script = """
        import io, json, re, sys
        from PIL import Image, ImageCms, ImageOps
        path, profile = sys.argv[1:3]
        image = Image.open(path)
        frames = 1 if image.format == 'MPO' else getattr(image, 'n_frames', 1)
        image.seek(0)
        icc = image.info.get('icc_profile') or (profile and open(profile, 'rb').read())
        clear = 'transparency' in image.info
        turned = b'tiff:Orientation="3"' in open(path, 'rb').read(1 << 20)
        image = ImageOps.exif_transpose(image)
        if turned and image.getexif().get(0x112) is None:
            image = image.rotate(180)
        if image.mode in ('P', 'PA'):
            image = image.convert('RGBA' if clear or image.mode == 'PA' else 'RGB')
        if icc:
            alpha = image.getchannel('A') if image.mode in ('RGBA', 'LA') else None
            image = image.convert({'RGBA': 'RGB', 'LA': 'L'}.get(image.mode, image.mode))
            image = ImageCms.profileToProfile(
                image, ImageCms.ImageCmsProfile(io.BytesIO(icc)),
                ImageCms.createProfile('sRGB'), renderingIntent=1, outputMode='RGB')
            if alpha:
                image.putalpha(alpha)
        image = image.convert('RGBA').convert('RGBa')
        width, height = image.size
        means = []
        for top, bottom in ((0, height // 2), (height // 2, height)):
            for left, right in ((0, width // 2), (width // 2, width)):
                samples = image.crop((left, top, right, bottom)).tobytes()
                means += [sum(samples[band::4]) * 4 / len(samples) for band in range(4)]
        print(json.dumps({'size': f'{width}x{height}', 'frames': frames, 'means': means}))
        """
}
