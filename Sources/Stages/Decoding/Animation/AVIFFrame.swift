import AVIF
import ImageModel
import StageContract
import Vips

/// Opens what is displayed of an AVIF, or one of its frames, as other decoders open an image, so
/// its colours are converted as those of any other. Its file is the whole one.
struct AVIFFrame: FormatDecoder {
    let format = ImageFormat.avif
    let loaders: [VipsLoader] = []
    let turnsPixels = true
    private let frames: AVIFFrames
    private let index: Int
    private let cancellation: CancellationFlag

    init(of frames: AVIFFrames, _ index: Int, _ cancellation: CancellationFlag) {
        (self.frames, self.index, self.cancellation) = (frames, index, cancellation)
    }

    func header(_ bytes: UnsafeRawBufferPointer) throws(VipsError) -> VipsImage {
        let header = try frames.header(in: bytes)
        let size = try header.picture.displayedSize
        return try .blank(
            width: size.width, height: size.height, bands: header.picture.bands,
            bytesPerBand: header.picture.sampleBytes
        ).described(by: header)
    }

    func open(
        _ bytes: UnsafeRawBufferPointer, at scale: DecodeScale
    ) throws(VipsError) -> VipsImage {
        let header = try frames.header(in: bytes)
        let picture = header.picture
        let pixels = try frames.pixels(of: index, header, in: bytes, cancellation)
        let whole = try VipsImage.pixels(
            UnsafeRawBufferPointer(pixels.bytes), width: picture.width, height: picture.height,
            bands: picture.bands, bytesPerBand: picture.sampleBytes, owner: pixels)
        let part = try picture.displayedPart
        let seen = try whole.extracted(
            left: part.x, top: part.y, width: part.width, height: part.height)
        return try picture.orientation.apply(to: seen).described(by: header)
    }
}

extension AVIFPicture {
    /// How it is turned, once it is cut.
    var orientation: Orientation {
        Orientation.upright.turned(quarters: quarterTurns).flipped(
            horizontally: mirroring == .horizontal, vertically: mirroring == .vertical)
    }

    /// What is left of the picture; a part that cannot be is damage.
    fileprivate var displayedPart: Part {
        get throws(VipsError) {
            guard isCropped else { return whole }
            guard let part else {
                throw VipsError(kind: .corrupt, operation: "avif", text: "an impossible clap")
            }
            return part
        }
    }

    /// Cropped, then turned, then mirrored (AV1 Image File Format, 2.3.2; MIAF, 7.3.6.7).
    fileprivate var displayedSize: PixelSize {
        get throws(VipsError) {
            let part = try displayedPart
            return orientation.displayed(PixelSize(width: part.width, height: part.height))
        }
    }
}

extension VipsImage {
    private static let (codedWidth, codedHeight) = ("coded-width", "coded-height")

    /// What is decoded of an image that is cropped, as far as its decoder says so.
    var codedSize: PixelSize? {
        guard let width = number(Self.codedWidth), let height = number(Self.codedHeight) else {
            return nil
        }
        return PixelSize(width: width, height: height)
    }

    fileprivate func described(by header: AVIFFrames.Header) throws(VipsError) -> VipsImage {
        let picture = header.picture
        let image = try enclosing(profile: header.profile, xmp: header.xmp)
            .enclosing(exif: header.exif)
            .stating(picture.width, as: Self.codedWidth)
            .stating(picture.height, as: Self.codedHeight)
        return picture.depth > 8 ? try image.stating(picture.depth, as: "heif-bitdepth") : image
    }
}
