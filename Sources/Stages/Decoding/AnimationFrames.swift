import Deflate
import Model
import Synchronization
import Vips

extension DecodeJob {
    /// Composes all displayed frames of an animation in one block: 8-bit RGBA in sRGB with straight
    /// alpha, each of the size of the canvas, or reduced if that takes too much memory.
    ///
    /// - Returns: nil for an image with fewer than two frames.
    /// - Throws: `limitExceeded` for too many frames, pixels, or shared bytes needed by each frame;
    ///   `badImageData` if frames are missing; `cancelled`; the errors of `output`.
    func allFrames(of source: SourceImage) throws -> DecodedImage.Frame? {
        guard source.decoder.format.traits.input?.pages == .frames else { return nil }
        let lacksFrames = lacksFrames(source)
        if lacksFrames { try source.missing?.note() }
        guard source.pages > 1 || lacksFrames else { return nil }
        try limits.check(
            composedPixels: ImageLimits.product(source.storedSize.area, source.pages))
        let unreduced = limits.pixelBytesMax / 4
        let stated = FrameReduction(
            of: source, frames: source.pages, for: work.need, bytes: unreduced)
        try limits.check(frames: source.pages, of: stated.size)
        guard
            var reader = try FrameReader(
                of: source, noting: source.missing, limits, framesMax: source.pages)
        else { return nil }
        let map = reader.map
        guard source.missing != nil || !lacksFrames else {
            throw ImageError(
                .badImageData,
                "only \(map.frames.count) frames are present: request one of them by its number")
        }
        guard map.frames.count > 1 else { return nil }
        try limits.check(composedPixels: map.pixelCount)
        let reduction = FrameReduction(
            of: source, frames: map.frames.count, for: work.need, bytes: unreduced)
        try limits.check(frames: map.frames.count, of: reduction.size)
        // A PNG contains the profile in compressed form.
        let profile = try source.openHeader().withProfile { $0.count } ?? 0
        try limits.check(shared: max(map.sharedBytes, profile), frames: map.frames.count)
        return try write(&reader, reduction, of: source)
    }

    /// Returns whether the file declares more frames than are complete. libvips doesn't count a
    /// truncated frame of a GIF.
    private func lacksFrames(_ source: SourceImage) -> Bool {
        let bytes = input.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(bytes, framesMax: limits.pagesMax), map.end != .whole else {
            return false
        }
        let file = HeaderBytes(bytes)
        var end = map.frames.last?.parts.last?.upperBound ?? 0
        switch map.format {
        case .gif:
            while file.byte(end) == 0 { end += 1 }
            // A block before a frame, or a frame.
            return source.pages > max(1, map.frames.count) || file.byte(end) == 0x2C
                || file.byte(end) == 0x21 && file.byte(end + 1) ?? 0xF9 == 0xF9
        case .webp:
            end += end % 2
            return map.frames.count < source.pages || file.byte(end + 3) == nil
                || file.has("ANMF", at: end)
        default: return map.frames.count < source.pages
        }
    }

    /// Composes the frames one after the other. Their pixels are converted to 8-bit sRGB, so a
    /// profile isn't kept.
    private func write(
        _ reader: inout FrameReader, _ reduction: FrameReduction, of source: SourceImage
    ) throws -> DecodedImage.Frame {
        let kept = try RetainedMetadata(of: source, work.keeps.intersection([.rights, .metadata]))
        let (size, map) = (reduction.size, reader.map)
        var layout = PixelLayout(bands: .rgba, size: size, stride: 4 * size.width)
        layout.orientation = source.orientation
        layout.animation = AnimationProperties(
            durations: map.frames.map { UInt32(clamping: $0.duration) }, loops: map.loops,
            plays: map.plays)
        guard let count = layout.pixelByteCount, let one = layout.bytes(ofFrame: 0)?.count else {
            throw ImageError(.internalError, "the frames have no size")
        }
        return try output.frame(layout, bytes: count, with: kept) { memory in
            for index in map.frames.indices {
                guard !cancellation.isCancelled else { throw ImageError.cancelled }
                let pixels = try reader.pixels(
                    of: index, in: input, limits: limits, cancellation: cancellation)
                reduction.write(
                    pixels, to: UnsafeMutableRawBufferPointer(rebasing: memory[(index * one)...]))
            }
        }
    }
}

/// The downscaling of an animation's frames during decoding, so that all of them fit into memory:
/// each pixel is the mean of a square of canvas pixels.
struct FrameReduction {
    /// The stored size of a reduced frame.
    let size: PixelSize
    private let canvas: PixelSize
    /// The side length of a square in canvas pixels.
    private let shrink: Int

    /// Chooses the smallest sufficient reduction: small animations aren't reduced.
    ///
    /// - Parameters:
    ///   - need: What each reduced frame has to cover.
    ///   - bytes: The intended maximum size of all frames' pixels.
    init(of source: SourceImage, frames: Int, for need: DecodeNeed, bytes: Int) {
        canvas = source.storedSize
        let most = need.shrink(
            for: source.info.size,
            permitted: Array(1...max(1, min(64, canvas.width, canvas.height))))
        let (limit, stored) = (bytes / 4 / max(1, frames), canvas)
        shrink =
            (1...most).first { shrink in
                DecodeScale(1, over: shrink).size(stored).area.map { $0 <= limit } ?? false
            } ?? most
        size = DecodeScale(1, over: shrink).size(canvas)
    }

    /// Writes a reduced frame. Pixels are 8-bit RGBA with straight alpha: transparent ones don't
    /// contribute color.
    func write(_ pixels: [UInt8], to output: UnsafeMutableRawBufferPointer) {
        guard shrink > 1 else { return output.copyBytes(from: pixels) }
        for row in 0..<size.height {
            let rows = row * shrink..<min((row + 1) * shrink, canvas.height)
            for column in 0..<size.width {
                let columns = column * shrink..<min((column + 1) * shrink, canvas.width)
                let mean = mean(of: pixels, rows, columns)
                let place = 4 * (row * size.width + column)
                for band in 0..<4 { output[place + band] = UInt8(mean[band]) }
            }
        }
    }

    private func mean(
        of pixels: [UInt8], _ rows: Range<Int>, _ columns: Range<Int>
    ) -> SIMD4<Int32> {
        var sum = SIMD4<Int32>()
        for row in rows {
            for column in columns {
                let place = 4 * (row * canvas.width + column)
                let alpha = Int32(pixels[place + 3])
                sum &+= SIMD4(
                    Int32(pixels[place]) &* alpha, Int32(pixels[place + 1]) &* alpha,
                    Int32(pixels[place + 2]) &* alpha, alpha)
            }
        }
        let (alpha, count) = (sum[3], Int32(rows.count * columns.count))
        guard alpha > 0 else { return SIMD4() }
        var mean = (sum &+ alpha / 2) / alpha
        mean[3] = (alpha + count / 2) / count
        return mean
    }
}

/// Random access to the displayed frames of an animation. Keeps the canvas or the codec's state
/// between frames, so that sequential access decodes each frame only once.
struct FrameReader {
    let map: AnimationMap
    private let decoder: any FormatDecoder
    private let missing: MissingPixels?
    /// For formats whose codec predicts frames from others.
    private let sequence: AVIFFrames?
    private var canvas: FrameCanvas

    /// Frames have the size of the whole image, even if a still would be reduced, so its limits are
    /// checked before the canvas is allocated.
    ///
    /// - Parameters:
    ///   - missing: Notified if a frame lacks pixels; `nil` if its file must be whole.
    ///   - framesMax: The maximum number of frames to find.
    /// - Returns: nil for an image without frames.
    /// - Throws: `limitExceeded`.
    init?(
        of source: SourceImage, noting missing: MissingPixels?, _ limits: ImageLimits,
        framesMax: Int
    ) throws {
        let (file, canvas) = (source.bytes, source.storedSize)
        let bytes = file.bindMemory(to: UInt8.self).span
        guard var map = AnimationMap(bytes, framesMax: framesMax), !map.frames.isEmpty else {
            return nil
        }
        try limits.check(source, at: .whole)
        try limits.check(frames: 1, of: source.storedSize)
        try limits.checkMemory(source, at: .whole, composing: true)
        sequence = map.format == .avif ? AVIFFrames(of: file) : nil
        map.canvas = canvas
        if sequence != nil {
            // The whole canvas is rotated and cropped as the file specifies.
            let whole = PixelRect(x: 0, y: 0, size: canvas)
            for index in map.frames.indices { map.frames[index].area = whole }
        }
        (self.map, decoder, self.missing) = (map, source.decoder, missing)
        self.canvas = FrameCanvas(map)
    }

    /// Returns the canvas after that frame: 8-bit RGBA in sRGB with straight alpha.
    ///
    /// - Parameters:
    ///   - index: The index of a frame in the map.
    ///   - file: The same bytes as in previous calls.
    /// - Throws: `badImageData`, `limitExceeded`, `cancelled`.
    mutating func pixels(
        of index: Int, in file: UnsafeRawBufferPointer, limits: ImageLimits,
        cancellation: CancellationFlag
    ) throws -> [UInt8] {
        try limits.check(composedPixels: canvas.decodedPixels(for: index))
        let (files, map, sequence) = (FrameFile(file, map), map, sequence)
        let (decoder, missing) = (decoder, missing)
        if let sequence { try limits.check(coded: sequence.size) }
        return try canvas.show(index) { index in
            let frame = map.frames[index]
            guard !cancellation.isCancelled else { throw ImageError.cancelled }
            guard frame.area.size.isPositive else { return [] }
            if let sequence {
                let one = AVIFFrame(of: sequence, index, cancellation)
                return try Self.pixels(file, of: frame, by: one, nil, limits, cancellation)
            }
            return try files.bytes(of: frame).withUnsafeBytes {
                try Self.pixels($0, of: frame, by: decoder, missing, limits, cancellation)
            }
        }
    }

    private static func pixels(
        _ bytes: UnsafeRawBufferPointer, of frame: FrameRecord, by decoder: any FormatDecoder,
        _ missing: MissingPixels?, _ limits: ImageLimits, _ cancellation: CancellationFlag
    ) throws -> [UInt8] {
        let source = try SourceImage(bytes, by: decoder, noting: missing)
        guard source.storedSize == frame.area.size else {
            throw ImageError(.badImageData, "the size of a frame differs from the one in the file")
        }
        try limits.check(source, at: .whole)
        return try rgba(source.pixels(at: .whole, cancellation: cancellation))
    }

    private static func rgba(_ pending: PendingPixels) throws -> [UInt8] {
        let bands = Int(pending.bands.rawValue)
        let count = pending.image.width * pending.image.height
        let samples = try pending.image.samples()
        guard bands < 4 else { return samples }
        return [UInt8](unsafeUninitializedCapacity: 4 * count) { pixels, filled in
            for pixel in 0..<count {
                let (from, to) = (pixel * bands, pixel * 4)
                for band in 0..<3 { pixels[to + band] = samples[from + (bands < 3 ? 0 : band)] }
                pixels[to + 3] = bands == 2 ? samples[from + 1] : 255
            }
            filled = 4 * count
        }
    }
}

/// Creates still images from parts of an animation: the area of one frame, in a form that any
/// decoder of the format accepts. So frames are decoded by the libraries for still images.
struct FrameFile {
    private let file: UnsafeRawBufferPointer
    private let map: AnimationMap

    /// - Parameter file: The bytes from which the map was created; must not change meanwhile.
    init(_ file: UnsafeRawBufferPointer, _ map: AnimationMap) {
        (self.file, self.map) = (file, map)
    }

    func bytes(of frame: FrameRecord) -> [UInt8] {
        switch map.format {
        case .gif: gif(frame)
        case .png: png(frame)
        default: webP(frame)
        }
    }

    /// Header, screen of the frame's size, global colors, and the frame at the origin.
    private func gif(_ frame: FrameRecord) -> [UInt8] {
        var bytes = Array("GIF89a".utf8)
        let sides = [frame.area.size.width, frame.area.size.height]
        let size = sides.flatMap { TIFFBytes.little($0, 2) }
        bytes += size + [file[10], 0, 0]
        for part in map.shared { bytes += file[part] }
        for part in frame.parts.dropLast() { bytes += file[part] }
        guard let image = frame.parts.last else { return bytes }
        bytes += [0x2C, 0, 0, 0, 0] + size + file[image.dropFirst(9)] + [0x3B]
        return bytes
    }

    private func png(_ frame: FrameRecord) -> [UInt8] {
        var bytes: [UInt8] = Array(file[..<8])
        let size = big(frame.area.size.width) + big(frame.area.size.height)
        bytes += CRC32.pngChunk("IHDR", size + file[24..<29])
        for part in map.shared { bytes += file[part] }
        for part in frame.parts { bytes += CRC32.pngChunk("IDAT", Array(file[part])) }
        return bytes + CRC32.pngChunk("IEND", [])
    }

    /// In the extended format, which allows a separate alpha chunk for a lossy image.
    private func webP(_ frame: FrameRecord) -> [UInt8] {
        let (width, height) = (frame.area.size.width - 1, frame.area.size.height - 1)
        let flags: UInt8 = (frame.mayBeTransparent ? 0x10 : 0) | (map.shared.isEmpty ? 0 : 0x20)
        var body = Array("WEBPVP8X".utf8) + TIFFBytes.little(10, 4) + [flags, 0, 0, 0]
        body += TIFFBytes.little(width, 3) + TIFFBytes.little(height, 3)
        for part in map.shared + frame.parts {
            body += file[part]
            if part.count % 2 == 1 { body.append(0) }
        }
        return Array("RIFF".utf8) + TIFFBytes.little(body.count, 4) + body
    }
}

private func big(_ number: Int) -> [UInt8] { TIFFBytes.little(number, 4).reversed() }

/// Caches the most recent animation with its canvas, so that the next frame of the same image takes
/// only one frame to decode. The image is identified by its bytes, of which a copy is kept.
final class AnimationCache: Sendable {
    /// The maximum size of the cached file, and of the canvas, in bytes.
    private static let bytesMax = 64 << 20

    private struct CachedAnimation {
        let bytes: [UInt8]
        var reader: FrameReader
    }

    private let cached = Mutex<CachedAnimation?>(nil)

    /// Writes the pixels of a displayed frame to a block of `output`.
    ///
    /// - Throws: `badImageData`; `stepFailed` for a nonexistent frame; `notSupported` for a frame
    ///   after the first one if the format's frames are not decoded; the errors of `output`.
    func frame(
        _ index: Int, of source: SourceImage, _ limits: ImageLimits, _ metadata: RetainedMetadata,
        to output: some OutputSpace, cancellation: CancellationFlag
    ) throws -> DecodedImage.Frame {
        guard var found = try obtain(source, limits) else {
            guard index == 0 else { throw ImageError.noFrame(index, of: source) }
            try limits.check(source, at: .whole)
            try limits.checkPixelBytes(source, at: .whole)
            return try source.pixels(at: .whole, cancellation: cancellation)
                .write(to: output, with: metadata)
        }
        guard index < found.reader.map.frames.count else {
            throw ImageError.noFrame(index, of: source)
        }
        let pixels = try found.reader.pixels(
            of: index, in: source.bytes, limits: limits, cancellation: cancellation)
        let canvas = found.reader.map.canvas
        put(found, bytes: pixels.count)
        return try output.frame(pixels, of: canvas, with: metadata)
    }

    /// Removes and returns the animation with the same bytes, or creates it; `nil` for an image
    /// without frames.
    private func obtain(_ source: SourceImage, _ limits: ImageLimits) throws -> CachedAnimation? {
        let last = cached.withLock { cached in
            defer { cached = nil }
            return cached
        }
        if let last, last.bytes.count == source.bytes.count,
            last.bytes.elementsEqual(source.bytes)
        {
            try limits.check(source, at: .whole)
            try limits.check(frames: 1, of: source.storedSize)
            return last
        }
        let reader = try FrameReader(
            of: source, noting: source.missing, limits, framesMax: limits.pagesMax)
        return reader.map { CachedAnimation(bytes: Array(source.bytes), reader: $0) }
    }

    /// Caches an animation whose canvas has that many bytes, unless it is too large.
    private func put(_ found: CachedAnimation, bytes: Int) {
        guard found.bytes.count <= Self.bytesMax, bytes <= Self.bytesMax else { return }
        cached.withLock { $0 = found }
    }
}

extension ImageError {
    /// The error for a frame that can't be decoded.
    fileprivate static func noFrame(_ index: Int, of source: SourceImage) -> ImageError {
        let name = source.decoder.format.name
        guard source.decoder.format.traits.input?.pages == .frames || source.pages == 1 else {
            return ImageError(
                .notSupported,
                "this version decodes only the first image of a \(name) file: request frame 0, "
                    + "or send the frames as GIF, APNG, WebP or AVIF")
        }
        return ImageError(
            .stepFailed,
            "frame \(index) does not exist: the image has \(source.pages), numbered from 0")
    }
}
