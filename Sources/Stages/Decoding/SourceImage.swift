import ImageModel
import Vips

/// Encoded bytes whose header has been read.
struct SourceImage {
    let bytes: UnsafeRawBufferPointer
    let format: ImageFormat
    let header: VipsHeader
    /// Its colours mean sRGB only after a conversion by the profile that it has.
    let needsProfile: Bool
    /// As EXIF has it, else as XMP does.
    let orientation: Orientation

    /// Knows the format by the first bytes, never by what a server said.
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        let format = ImageFormat.sniff(bytes, tail: bytes.suffix(100))
        guard format != .undefined else { throw .notAnImage }
        guard format.isDecodable else { throw .unsupported(format) }
        self.bytes = bytes
        self.format = format
        let image = try Self.open(bytes, format, reducedBy: 1)
        header = image.header
        needsProfile = image.withProfile { !SRGBProfile.matches($0) } ?? false
        let stated = header.orientation ?? image.withXMP { XMPOrientation.read($0) } ?? nil
        orientation = Orientation(exif: stated ?? 1)
    }

    /// Of the source as it will be displayed.
    var info: ImageInfo {
        ImageInfo(
            format: format, size: orientation.displayed(storedSize), pages: header.pages,
            hasAlpha: header.hasAlpha)
    }

    var storedSize: PixelSize { PixelSize(width: header.width, height: header.height) }

    /// By how much the decoder makes fewer pixels in each direction: the most that the need
    /// allows, of what the format's decoder does while it decodes. Never by more than a side has:
    /// libvips makes no pixels of it then, and ends the process when it is asked for them.
    func reduction(for need: DecodeNeed) -> Int {
        switch format {
        case .jpeg, .webp:
            let side = min(header.width, header.height)
            return need.shrink(for: info.size, permitted: [1, 2, 4, 8].filter { $0 <= side })
        default: return 1
        }
    }

    /// The image, nothing but its header read; JPEG and WebP are made smaller as they are decoded.
    func open(reducedBy reduction: Int) throws(ImageError) -> VipsImage {
        try Self.open(bytes, format, reducedBy: reduction)
    }

    private static func open(
        _ bytes: UnsafeRawBufferPointer, _ format: ImageFormat, reducedBy reduction: Int
    ) throws(ImageError) -> VipsImage {
        do {
            switch format {
            case .jpeg: return try VipsImage.jpeg(bytes, shrink: reduction)
            case .png: return try VipsImage.png(bytes)
            case .webp: return try VipsImage.webp(bytes, scale: 1 / Double(reduction))
            case .gif: return try VipsImage.gif(bytes)
            default: break
            }
        } catch {
            throw ImageError(decoding: error)
        }
        throw .unsupported(format)
    }
}
