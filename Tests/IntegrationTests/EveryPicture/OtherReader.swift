/// Independent decoders, which share no code with Imagebus. Their output is read by Pillow, and
/// converted to sRGB by LittleCMS if it has a profile.
enum OtherReader: String {
    /// Pillow alone.
    case pillow
    /// The example program of libheif. It doesn't accept sequence brands, so it gets their first
    /// image.
    case heifConvert
    /// The example program of libavif.
    case avifdec
    /// The program of libjxl, with the colors and the profile of the file.
    case djxl
    /// MuPDF, for PDF and SVG.
    case mutool

    /// The permitted difference between mean values, of 255. Pillow uses the same JPEG decoder;
    /// others upsample chroma or antialias edges differently.
    var tolerance: Double {
        switch self {
        case .pillow: 0.3
        case .heifConvert, .djxl: 1
        case .avifdec, .mutool: 1.5
        }
    }

    /// Reads the first image of a file. With `isPQ` its samples are PQ (BT.2100) in BT.2020, which
    /// none of the programs supports.
    func read(_ path: String, isPQ: Bool = false) throws -> ReadImage {
        let folder = TemporaryDirectory()
        switch self {
        case .pillow: return try ReadImage(path)
        case .heifConvert:
            guard var bytes = FileBytes.read(path) else { throw StackFailure("no \(path)") }
            if bytes.dropFirst(8).starts(with: "msf1".utf8) {
                bytes.replaceSubrange(8..<12, with: "mif1".utf8)
            }
            let file = folder.write(bytes, to: "a.heic")
            if isPQ {
                // JPEG output has different greens, and Pillow truncates 16-bit samples. libheif
                // stores its 10 bits as the high bits, so that white is 65,472.
                try Tool.run(["heif-convert", file, folder.file("b.png")])
                try Tool.run([
                    "convert-im6.q16", folder.file("b.png"), "-evaluate", "multiply",
                    "1.000962", "-depth", "8", "PNG24:" + folder.file("c.png"),
                ])
                return try ReadImage(folder.file("c.png"), isPQ: true)
            }
            // Writing a PNG fails if libpng rejects the profile.
            try Tool.run(["heif-convert", "-q", "100", file, folder.file("b.jpg")])
            return try ReadImage(folder.file("b.jpg"), isPQ: isPQ)
        case .avifdec:
            try Tool.run(["avifdec", "-d", "8", path, folder.file("b.png")])
            return try ReadImage(folder.file("b.png"), isPQ: isPQ)
        case .djxl:
            let profile = folder.file("b.icc")
            try Tool.run(
                ["djxl", "--orig_icc_out=\(profile)", path, folder.file("b.ppm")])
            return try ReadImage(
                folder.file("b.ppm"), profile: isPQ ? "" : profile, isPQ: isPQ)
        case .mutool:
            let isDrawing = path.hasSuffix(".svg")
            try Tool.run(
                ["mutool", "draw", "-q", "-c", isDrawing ? "rgba" : "rgb"]
                    + ["-o", folder.file("b.png"), path, "1"])
            return try ReadImage(folder.file("b.png"))
        }
    }
}

/// Properties of a file as read by Pillow.
struct ReadImage {
    let size: String
    let frames: Int
    /// The mean values, from 0 to 255, of red, green and blue multiplied by alpha, and of alpha, in
    /// the four quarters, row by row.
    let means: [Double]

    init(_ path: String, profile: String = "", isPQ: Bool = false) throws {
        let output = try JSONValue(
            parsing: Tool.run(
                ["python3", "-c", Self.script, path, profile, isPQ ? "pq" : "plain"]))
        guard let size = output["size"]?.text, let frames = output["frames"]?.integer,
            let means = output["means"]?.array
        else { throw StackFailure("\(path): \(output)") }
        (self.size, self.frames) = (size, frames)
        self.means = means.compactMap { if case .number(let mean) = $0 { mean } else { nil } }
    }

    /// The largest difference between mean values; 255 if their number differs.
    func difference(from other: ReadImage) -> Double {
        guard means.count == 16, other.means.count == 16 else { return 255 }
        return zip(means, other.means).map { abs($0 - $1) }.max() ?? 255
    }

    /// Pillow finds additional images in a JPEG with a gain map, and ignores the orientation in
    /// XMP.
    private static let script = """
        import io, json, re, sys
        from PIL import Image, ImageCms, ImageMath, ImageOps
        path, profile, kind = sys.argv[1:4]
        def light(sample):
            power = sample ** (32 / 2523)
            part = max(power - 3424 / 4096, 0) / (2413 / 128 - 2392 / 128 * power)
            return 10000 / 203 * part ** (16384 / 2610)
        def coded(linear):
            return 12.92 * linear if linear <= .0031308 else 1.055 * linear ** (1 / 2.4) - .055
        def standard(image):
            # Pillow's tables give whole numbers: a part of 32,768 of white for each.
            table = [min(round(32768 * light(s / 255)), 2 ** 30) for s in range(256)]
            r, g, b = (Image.frombytes('I', image.size, b''.join(
                table[s].to_bytes(4, sys.byteorder) for s in band.tobytes()))
                for band in image.split())
            curve = [round(255 * coded(s / 65535)) for s in range(65536)]
            rows = ((1.660491, -.587641, -.07285), (-.12455, 1.1329, -.008349),
                    (-.018151, -.100579, 1.11873))
            made = []
            for x, y, z in rows:
                band = ImageMath.eval(
                    'convert(min(max((x * r + y * g + z * b) * 2, 0), 65535), "I")',
                    x=x, y=y, z=z, r=r.convert('F'), g=g.convert('F'), b=b.convert('F'))
                made.append(band.point(curve, 'L'))
            return Image.merge('RGB', made)
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
        gamma = image.info.get('gamma')
        if gamma and kind != 'pq' and not icc and image.info.get('chromaticity') == (
                .3127, .329, .64, .33, .3, .6, .15, .06):
            # A power beside the primaries of sRGB; Pillow leaves samples as they are.
            curve = [round(255 * coded((s / 255) ** (1 / gamma))) for s in range(256)]
            same = list(range(256)) if image.mode == 'RGBA' else []
            image = image.point(curve * 3 + same)
        if kind == 'pq':
            image = standard(image.convert('RGB'))
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
