import AVIF
import CodecSupport
import Model
import Synchronization
import Vips
import Zimg

/// AVIF with libavif: the first frame of a sequence, or the primary image of other files.
struct AVIFDecoder: FormatDecoder {
    let format = ImageFormat.avif
    let turnsPixels = true

    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        try image(of: bytes).header(bytes)
    }

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        try image(of: bytes).open(bytes, at: scale)
    }

    private func image(of bytes: UnsafeRawBufferPointer) -> AVIFFrame {
        AVIFFrame(of: .still(of: bytes), 0, CancellationFlag())
    }

    /// Writes the planes coded by AV1.
    func writePlanes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits,
        to output: some OutputSpace, with kept: RetainedMetadata, _ cancellation: CancellationFlag
    ) throws -> DecodedImage.Frame? {
        guard let planes = AVIFPlanes(source, limits: limits) else { return nil }
        return try planes.write(to: output, with: kept, cancellation)
    }
}

/// HEIC and other HEIF images with libheif: the primary image of the file. Files that contain AVIF,
/// regardless of their major brand, are decoded as such.
struct HEIFDecoder: FormatDecoder {
    let format: ImageFormat
    let loaders = [VipsLoader.heif]
    let turnsPixels = true

    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        if let avif = avif(bytes) { return try avif.header(bytes) }
        return try .load(bytes, by: .heif)
    }

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        if let avif = avif(bytes) { return try avif.open(bytes, at: scale) }
        return try .load(bytes, by: .heif)
    }

    /// Returns nil for files that libavif can't read, such as HEVC images.
    private func avif(_ bytes: UnsafeRawBufferPointer) -> AVIFDecoder? {
        guard HeaderBytes(Span(_unsafeBytes: bytes)).hasAVIFBrand else { return nil }
        let decoder = AVIFDecoder()
        return (try? decoder.header(bytes)) == nil ? nil : decoder
    }

    /// Returns nil, because Debian's libheif converts each image to RGB.
    func writePlanes(
        of source: SourceImage, at scale: DecodeScale, limits: ImageLimits,
        to output: some OutputSpace, with kept: RetainedMetadata, _ cancellation: CancellationFlag
    ) throws -> DecodedImage.Frame? {
        guard format.traits.input?.hasPlanes == true else { return nil }
        return try avif(source.bytes)?.writePlanes(
            of: source, at: scale, limits: limits, to: output, with: kept, cancellation)
    }
}

/// Opens the displayed image of an AVIF file, or one of its frames, like other decoders, so that
/// its colors are converted in the same way. Its file is the complete one.
struct AVIFFrame: FormatDecoder {
    let format = ImageFormat.avif
    let turnsPixels = true
    private let frames: AVIFFrames
    private let index: Int
    private let cancellation: CancellationFlag

    init(of frames: AVIFFrames, _ index: Int, _ cancellation: CancellationFlag) {
        (self.frames, self.index, self.cancellation) = (frames, index, cancellation)
    }

    func header(_ bytes: UnsafeRawBufferPointer) throws -> VipsImage {
        let header = try frames.header(in: bytes)
        let size = try header.picture.displayedSize
        return try .blank(
            width: size.width, height: size.height, bands: header.picture.bands,
            bytesPerBand: header.picture.sampleBytes
        ).described(by: header)
    }

    func open(_ bytes: UnsafeRawBufferPointer, at scale: DecodeScale) throws -> VipsImage {
        let header = try frames.header(in: bytes)
        let picture = header.picture
        let pixels = try frames.pixels(of: index, header, in: bytes, cancellation)
        let whole = try VipsImage.pixels(
            pixels, PixelSize(width: picture.width, height: picture.height), bands: picture.bands,
            bytesPerBand: picture.sampleBytes)
        let part = try picture.displayedPart
        let seen = try whole.extracted(
            left: part.x, top: part.y, width: part.width, height: part.height)
        return try picture.orientation.apply(to: seen).described(by: header)
    }
}

extension AVIFPicture {
    /// The rotation and mirroring after cropping.
    var orientation: Orientation {
        Orientation.upright.turned(quarters: quarterTurns).flipped(
            horizontally: mirroring == .horizontal, vertically: mirroring == .vertical)
    }

    /// The displayed area; an impossible one is an error.
    fileprivate var displayedPart: Part {
        get throws(VipsError) {
            guard isCropped else { return whole }
            guard let part else {
                throw VipsError(kind: .corrupt, operation: "avif", text: "invalid clap property")
            }
            return part
        }
    }

    /// Cropped, then rotated, then mirrored (AV1 Image File Format, 2.3.2; MIAF, 7.3.6.7).
    fileprivate var displayedSize: PixelSize {
        get throws(VipsError) {
            let part = try displayedPart
            return orientation.displayed(PixelSize(width: part.width, height: part.height))
        }
    }
}

extension VipsImage {
    private static let (codedWidth, codedHeight) = ("coded-width", "coded-height")

    /// The decoded size of a cropped image, if the decoder provides it.
    var codedSize: PixelSize? {
        guard let width = number(Self.codedWidth), let height = number(Self.codedHeight) else {
            return nil
        }
        return PixelSize(width: width, height: height)
    }

    fileprivate func described(by header: AVIFFrames.Header) throws(VipsError) -> VipsImage {
        let picture = header.picture
        let image = try embedding(profile: header.profile, xmp: header.xmp)
            .embedding(exif: header.exif)
            .stating(picture.width, as: Self.codedWidth)
            .stating(picture.height, as: Self.codedHeight)
        return picture.depth > 8 ? try image.stating(picture.depth, as: "heif-bitdepth") : image
    }
}

/// The displayed images of an AVIF file: the frames of a sequence with random access, or the
/// primary image as one frame. The reader is kept between frames, because frames depend on others.
final class AVIFFrames: Sendable {
    /// The properties that are known before decoding.
    struct Header {
        /// The picture's format, and numeric color information if there is no profile.
        let picture: AVIFPicture
        /// The ICC profile, EXIF and XMP; empty if absent.
        let profile, exif, xmp: [UInt8]
    }

    /// The coded size of each frame.
    let size: PixelSize
    /// Whether libavif's time for the header is bounded.
    private let hasFewItems: Bool
    private let source: AVIFReader.Source
    private let patches: [AVIFReader.Patch]
    private let reader = Mutex<AVIFReader?>(nil)

    /// Returns the still representation of a file: the first frame of a sequence, unless libavif
    /// finds no frames and there is a primary image.
    static func still(of file: UnsafeRawBufferPointer) -> AVIFFrames {
        let header = HeaderBytes(Span(_unsafeBytes: file))
        guard header.hasPrimaryItem else { return AVIFFrames(of: file) }
        let frames = AVIFFrames(of: file, header.avifSequence == nil ? .image : .sequence)
        let isKnown = frames.source == .image || (try? frames.header(in: file)) != nil
        return isKnown ? frames : AVIFFrames(of: file, .image)
    }

    /// Creates frames for a file without reading it yet.
    init(of file: UnsafeRawBufferPointer, _ source: AVIFReader.Source = .sequence) {
        let header = HeaderBytes(Span(_unsafeBytes: file))
        self.source = source
        hasFewItems = header.hasFewItems
        size = header.heifSize ?? PixelSize(width: 0, height: 0)
        patches = AVIFPatches(header, ofTracks: source == .sequence).all.map {
            AVIFReader.Patch(offset: $0.offset, bytes: $0.bytes)
        }
    }

    /// Returns the header, which applies to all frames.
    func header(in file: UnsafeRawBufferPointer) throws -> Header {
        try withReader(file) { reader in
            Header(
                picture: reader.picture, profile: reader.profile, exif: reader.exif,
                xmp: reader.xmp)
        }
    }

    /// Returns the pixels of a frame, as written by `AVIFReader`.
    ///
    /// - Parameters:
    ///   - file: The same bytes as in previous calls.
    ///   - header: The header of the file.
    func pixels(
        of index: Int, _ header: Header, in file: UnsafeRawBufferPointer,
        _ cancellation: CancellationFlag
    ) throws -> ZeroedBytes {
        try withReader(file) { reader in
            try reader.decode(index, in: file) { cancellation.isCancelled }
            guard reader.picture.isLike(header.picture) else {
                throw CodecError(kind: .corrupt, text: "a frame differs from its header")
            }
            let picture = header.picture
            let pixels = ZeroedBytes(
                count: picture.width * picture.height * picture.bands * picture.sampleBytes)
            try reader.copy(to: pixels.bytes, bands: picture.bands)
            return pixels
        }
    }

    /// Opens a reader for exclusive use; no frame is decoded yet.
    func open(_ file: UnsafeRawBufferPointer) throws(CodecError) -> AVIFReader {
        try AVIFReader(
            file, source, patches: patches, pixelsMax: AVIFReader.pixelsMost,
            framesMax: ImageLimits.ofWorkers.pagesMax)
    }

    /// Calls `body` with the reader. After an error the reader is discarded, because its state may
    /// be damaged.
    private func withReader<Value>(
        _ file: UnsafeRawBufferPointer, _ body: (inout AVIFReader) throws -> Value
    ) throws -> Value {
        guard size.area ?? .max <= AVIFReader.pixelsMost else {
            throw VipsError(kind: .tooLarge, operation: "avif", text: "an image of \(size)")
        }
        guard hasFewItems else {
            throw VipsError(kind: .tooLarge, operation: "avif", text: "too many items")
        }
        do {
            var taken: AVIFReader
            if let kept = reader.withLock({ $0.take() }) {
                taken = kept
            } else {
                taken = try open(file)
            }
            let value = try body(&taken)
            keep(taken)
            return value
        } catch let error as CodecError {
            throw VipsError(error, operation: "avif")
        }
    }

    private func keep(_ last: consuming AVIFReader) {
        var last = Optional(last)
        reader.withLock { $0 = last.take() }
    }
}

extension AVIFPicture {
    /// RGB, with alpha if present.
    var bands: Int { hasAlpha ? 4 : 3 }

    /// The size of an RGB sample.
    var sampleBytes: Int { depth > 8 ? 2 : 1 }

    /// Returns whether a frame has the format stated in the header.
    fileprivate func isLike(_ stated: AVIFPicture) -> Bool {
        (width, height, depth, hasAlpha)
            == (stated.width, stated.height, stated.depth, stated.hasAlpha)
    }
}

/// A decoded AVIF with planes that represent sRGB.
struct AVIFPlanes: ~Copyable, PlanarImage {
    private let reader: AVIFReader
    let layout: PixelLayout
    let byteCount: Int
    /// The conversion of the file's planes to the layout's; nil if they are identical.
    private let conversion: ZimgConversion?

    /// Returns nil for images that planes can't represent and for damaged ones: the pixel decoder
    /// reports the error.
    init?(_ source: SourceImage, limits: ImageLimits) {
        guard !source.needsProfile, source.header.bands == 3, source.header.bytesPerBand == 1,
            var reader = try? AVIFFrames.still(of: source.bytes).open(source.bytes)
        else { return nil }
        let (picture, orientation) = (reader.picture, reader.picture.orientation)
        guard let colors = AVIFColors(picture), !picture.isCropped,
            orientation.displayed(PixelSize(width: picture.width, height: picture.height))
                == source.storedSize
        else { return nil }
        var (planes, end): ([PixelPlane], Int) = ([], 0)
        for index in 0..<picture.chroma.planeCount {
            let plane = Self.plane(index, of: picture, at: end)
            planes.append(plane)
            end += plane.stride * Self.paddedRows(index, of: picture)
        }
        guard end <= limits.pixelBytesMax,
            (try? reader.decode(0, in: source.bytes) { false }) != nil, reader.picture == picture
        else { return nil }
        self.reader = reader
        layout = PixelLayout(planes: planes, orientation: orientation)
        conversion = colors.conversion(of: picture)
        byteCount = end
    }

    consuming func write(
        to memory: UnsafeMutableRawBufferPointer, _ cancellation: CancellationFlag
    ) throws {
        guard let conversion else { return try copy(to: memory) }
        // Samples beyond odd columns and rows are read but don't affect the displayed image.
        let stored = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
        defer { stored.deallocate() }
        stored.initializeMemory(as: UInt8.self, repeating: 0)
        try copy(to: stored)
        do throws(CodecError) {
            try ZimgGraph(conversion).process(
                from: parts(of: stored).map(\.source), to: parts(of: memory),
                isCancelled: { cancellation.isCancelled })
        } catch {
            // The conversion doesn't depend on the file, so zimg must support it.
            guard error.kind == .unsupported else { throw error }
            throw CodecError(kind: .internal, text: error.text)
        }
    }

    private borrowing func copy(to memory: UnsafeMutableRawBufferPointer) throws {
        for (index, part) in parts(of: memory).enumerated() {
            do {
                try reader.copy(plane: index, to: part.memory, stride: part.stride)
            } catch {
                throw ImageError(.internalError, "the planes of the image could not be read")
            }
        }
    }

    /// Returns the location of each plane in memory for all of them.
    private borrowing func parts(of memory: UnsafeMutableRawBufferPointer) -> [SampleTarget] {
        let ends = layout.planes.dropFirst().map(\.offset) + [byteCount]
        return zip(layout.planes, ends).map { plane, end in
            SampleTarget(
                memory: UnsafeMutableRawBufferPointer(rebasing: memory[plane.offset..<end]),
                stride: plane.stride)
        }
    }

    /// Half of an odd number of columns includes half a chroma sample.
    private static func plane(_ index: Int, of picture: AVIFPicture, at offset: Int) -> PixelPlane {
        let size = picture.size(ofPlane: index)
        let (across, down) =
            index == 0 ? (0, 0) : (picture.chroma.horizontalLog2, picture.chroma.verticalLog2)
        return PixelPlane(
            bands: .gray, offset: offset, size: PixelSize(width: size.width, height: size.height),
            stride: PixelPlane.stride(size.width + 1),
            activeWidth: Double(picture.width) / Double(1 << across),
            activeHeight: Double(picture.height) / Double(1 << down))
    }

    /// zimg requires even numbers of rows if chroma is subsampled vertically.
    private static func paddedRows(_ index: Int, of picture: AVIFPicture) -> Int {
        let rows = picture.size(ofPlane: index).height
        return index == 0 && picture.chroma.verticalLog2 == 1 ? rows + rows % 2 : rows
    }
}

/// The color encoding of an AVIF's planes, if it is sRGB and can be converted to JFIF planes.
struct AVIFColors {
    private let matrix: ZimgFormat.Matrix

    /// Returns nil for alpha, gray, more than 8 bits, and colors that JFIF planes can't represent.
    /// Unspecified values default to BT.601 and sRGB.
    init?(_ picture: AVIFPicture) {
        guard picture.depth == 8, !picture.hasAlpha, picture.chroma != .gray,
            picture.hasProfile || Self.isSRGB(picture)
        else { return nil }
        switch picture.matrix {
        case 2, 5, 6: matrix = .bt601
        case 1: matrix = .bt709
        default: return nil
        }
    }

    /// BT.709 has the primaries of sRGB, and the transfer functions of BT.709 and BT.601 are
    /// displayed as sRGB in practice (ITU-T H.273, tables 2 and 3).
    private static func isSRGB(_ picture: AVIFPicture) -> Bool {
        [1, 2].contains(picture.primaries) && [1, 2, 6, 13].contains(picture.transfer)
    }

    /// Returns the conversion to full-range BT.601 with centered chroma; nil if it isn't needed.
    func conversion(of picture: AVIFPicture) -> ZimgConversion? {
        let (across, down) = (picture.chroma.horizontalLog2, picture.chroma.verticalLog2)
        let target = ZimgFormat(
            width: (picture.width + across) & ~across, height: (picture.height + down) & ~down,
            planes: .yCbCr(picture.chroma))
        var source = target
        source.matrix = matrix
        source.range = picture.isLimited ? .limited : .full
        source.planes = .yCbCr(
            picture.chroma, siting: picture.chroma == .yuv444 ? .center : picture.siting)
        return source == target
            ? nil : ZimgConversion(from: source, to: target, filter: .bilinear)
    }
}
