import Animation
import Deflate
import ImageModel
import Messages
import StageContract
import Synchronization
import Vips

/// All frames of an animation as they are shown, one behind the other in one block: 8-bit RGBA in
/// sRGB, alpha straight, each as large as the canvas, or reduced where that takes too much memory.
struct AllFrames {
    private let source: SourceImage
    private let limits: ImageLimits
    private let reduction: FrameReduction
    private var reader: FrameReader

    /// - Parameters:
    ///   - need: what is needed of each frame.
    ///   - missing: of a source whose decoder is one of beginnings; is told where frames are
    ///     missing.
    /// - Returns: nil for what has no frames, or but one.
    /// - Throws: `limitExceeded` for too many frames, or too many bytes of their pixels, or too
    ///   much that each of them needs; `badImageData` where frames are missing.
    init?(
        of source: SourceImage, for need: DecodeNeed, _ limits: ImageLimits,
        _ missing: MissingPixels? = nil
    ) throws(ImageError) {
        guard source.decoder.format.traits.input?.pages == .frames else { return nil }
        let lacksFrames = Self.lacksFrames(source, limits)
        if lacksFrames { try missing?.noteFrame() }
        guard source.pages > 1 || lacksFrames else { return nil }
        try limits.check(composed: source.pages, of: source.storedSize)
        let stated = FrameReduction(
            of: source, frames: source.pages, for: need, bytes: limits.unreducedBytes)
        try limits.check(frames: source.pages, of: stated.size)
        let found = try FrameReader(
            of: source, by: source.decoder, limits, framesMax: source.pages)
        guard let found else { return nil }
        guard missing != nil || !lacksFrames else {
            throw ImageError(
                .badImageData,
                "\(found.map.frames.count) frames are there, and others are missing: "
                    + "ask for one of these by its number")
        }
        guard found.map.frames.count > 1 else { return nil }
        try limits.check(composedPixels: found.map.pixelCount)
        reduction = FrameReduction(
            of: source, frames: found.map.frames.count, for: need, bytes: limits.unreducedBytes)
        try limits.check(frames: found.map.frames.count, of: reduction.size)
        // A PNG has it packed.
        let profile = try source.openHeader().withProfile { $0.count } ?? 0
        try limits.check(
            shared: max(found.map.sharedBytes, profile), frames: found.map.frames.count)
        (self.source, self.limits, reader) = (source, limits, found)
    }

    /// Whether the file has more frames than are there as a whole. libvips does not count a frame
    /// of a GIF that is cut off.
    private static func lacksFrames(_ source: SourceImage, _ limits: ImageLimits) -> Bool {
        let bytes = source.bytes.bindMemory(to: UInt8.self).span
        guard let map = AnimationMap(bytes, framesMax: limits.pagesMax), map.end != .whole else {
            return false
        }
        let file = HeaderBytes(bytes)
        var end = map.frames.last?.parts.last?.upperBound ?? 0
        switch map.format {
        case .gif:
            while file.byte(end) == 0 { end += 1 }
            // What stands in front of a frame, or a frame.
            return source.pages > max(1, map.frames.count) || file.byte(end) == 0x2C
                || file.byte(end) == 0x21 && file.byte(end + 1) ?? 0xF9 == 0xF9
        case .webp:
            end += end % 2
            return map.frames.count < source.pages || file.byte(end + 3) == nil
                || file.has("ANMF", at: end)
        default: return map.frames.count < source.pages
        }
    }

    /// Composes one frame after the other.
    ///
    /// - Parameters:
    ///   - keeps: what is wanted beside the pixels. Their profile has been applied, and they have
    ///     8 bits.
    ///   - cancellation: looked at between frames.
    /// - Throws: `badImageData`, `limitExceeded`, `cancelled`, what `output` throws.
    mutating func write(
        to output: some OutputSpace, keeping keeps: KeptParts, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        let kept = try KeptBytes(of: source, keeps.intersection([.rights, .metadata]))
        let layout = layout
        guard let count = layout.pixelByteCount, let one = layout.bytes(ofFrame: 0)?.count else {
            throw ImageError(.internalError, "the frames have no size")
        }
        let block = try output.reserve(count + kept.byteCount)
        do throws(ImageError) {
            for index in reader.map.frames.indices {
                guard !cancellation.isCancelled else { throw .cancelled }
                let pixels = try reader.pixels(
                    of: index, in: source.bytes, limits: limits, cancellation: cancellation)
                reduction.write(
                    pixels,
                    to: UnsafeMutableRawBufferPointer(rebasing: block.bytes[(index * one)...]))
            }
        } catch {
            output.discard(block)
            throw error
        }
        return block.frame(layout, pixelBytes: count, with: kept)
    }

    private var layout: PixelLayout {
        let size = reduction.size
        var layout = PixelLayout(bands: .rgba, size: size, stride: 4 * size.width)
        layout.orientation = source.orientation
        layout.animation = AnimationFacts(
            durations: reader.map.frames.map { UInt32(clamping: $0.duration) },
            loops: reader.map.loops, plays: reader.map.plays)
        return layout
    }
}

/// By how much the frames of an animation are made smaller as they are decoded, so that all of them
/// fit into memory: each pixel is the mean of a square of pixels of the canvas.
struct FrameReduction {
    /// Of a reduced frame, as it is stored.
    let size: PixelSize
    private let canvas: PixelSize
    /// Pixels of the canvas on each side of a square.
    private let shrink: Int

    /// No larger than it must be: small animations are decoded as they are.
    ///
    /// - Parameters:
    ///   - need: what each frame has to cover after it.
    ///   - bytes: what the pixels of all frames should take at most.
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

    /// Writes a frame, which is RGBA of 8 bits, alpha straight: transparent pixels add no color.
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

extension ImageLimits {
    /// Bytes of all frames of an animation beyond which they are reduced.
    var unreducedBytes: Int { pixelBytesMax / 4 }
}

/// The frames of one animated file as they are shown, in any order. It keeps the canvas between two
/// of them, or what the codec keeps, so those in order are decoded once each.
struct FrameReader {
    let map: AnimationMap
    private let decoder: any FormatDecoder
    /// Of a format whose codec makes frames of others.
    private let sequence: AVIFFrames?
    private var canvas: FrameCanvas

    /// Frames have the size of the whole image, at whatever scale a still one would be decoded: the
    /// limits of that hold before its canvas is made.
    ///
    /// - Parameters:
    ///   - decoder: of whole files; that of the source may be of beginnings.
    ///   - framesMax: frames that are looked for at most.
    /// - Returns: nil for what has no frames of its own.
    /// - Throws: `limitExceeded`.
    init?(
        of source: SourceImage, by decoder: any FormatDecoder, _ limits: ImageLimits,
        framesMax: Int
    ) throws(ImageError) {
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
        if sequence != nil { map.spreadFrames() }
        (self.map, self.decoder, self.canvas) = (map, decoder, FrameCanvas(map))
    }

    /// The canvas with that frame: 8-bit RGBA in sRGB, alpha straight.
    ///
    /// - Parameters:
    ///   - index: one of the frames of the map.
    ///   - file: the same bytes as before.
    /// - Throws: `badImageData`, `limitExceeded`, `cancelled`.
    mutating func pixels(
        of index: Int, in file: UnsafeRawBufferPointer, limits: ImageLimits,
        cancellation: CancellationFlag
    ) throws(ImageError) -> [UInt8] {
        try limits.check(composedPixels: canvas.decodedPixels(for: index))
        let (files, map, decoder) = (FrameFile(file, map), map, decoder)
        let sequence = sequence
        if let sequence { try limits.check(coded: sequence.size) }
        return try canvas.show(index) { index throws(ImageError) in
            let frame = map.frames[index]
            guard !cancellation.isCancelled else { throw .cancelled }
            guard frame.area.size.isPositive else { return [] }
            if let sequence {
                let one = AVIFFrame(of: sequence, index, cancellation)
                return try Self.pixels(file, as: frame.area.size, by: one, limits, cancellation)
            }
            return try files.bytes(of: frame).withBytes { bytes throws(ImageError) in
                try Self.pixels(
                    bytes, as: frame.area.size, by: decoder, limits, cancellation)
            }
        }
    }

    private static func pixels(
        _ bytes: UnsafeRawBufferPointer, as size: PixelSize, by decoder: any FormatDecoder,
        _ limits: ImageLimits, _ cancellation: CancellationFlag
    ) throws(ImageError) -> [UInt8] {
        let source = try SourceImage(bytes, by: decoder)
        guard source.storedSize == size else {
            throw ImageError(.badImageData, "a frame has another size than its file says")
        }
        try limits.check(source, at: .whole)
        let pending = try source.pixels(at: .whole, cancellation: cancellation)
        let bands = Int(pending.bands.rawValue)
        let count = size.width * size.height
        let samples = try [UInt8].filled(bands * count) { memory throws(ImageError) in
            try ImageError.mapping { () throws(VipsError) in try pending.image.write(to: memory) }
        }
        return bands == 4 ? samples : rgba(samples, bands: bands, count: count)
    }

    private static func rgba(_ samples: [UInt8], bands: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 4 * count) { pixels, filled in
            for pixel in 0..<count {
                let (from, to) = (pixel * bands, pixel * 4)
                for band in 0..<3 { pixels[to + band] = samples[from + (bands < 3 ? 0 : band)] }
                pixels[to + 3] = bands == 2 ? samples[from + 1] : 255
            }
            filled = 4 * count
        }
    }
}

extension AnimationMap {
    /// Each frame is the canvas, which is turned and cut as the file says.
    fileprivate mutating func spreadFrames() {
        let whole = PixelRect(x: 0, y: 0, size: canvas)
        for index in frames.indices { frames[index].area = whole }
    }
}

extension [UInt8] {
    fileprivate func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try withUnsafeBufferPointer { buffer throws(Failure) in
            try body(UnsafeRawBufferPointer(buffer))
        }
    }

    fileprivate static func filled<Failure: Error>(
        _ count: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBufferPointer { buffer throws(Failure) in
            try body(UnsafeMutableRawBufferPointer(buffer))
        }
        return bytes
    }
}

/// Still images made of the parts of an animated file: one frame's area each, which any decoder of
/// the format reads. So frames are decoded by the libraries that decode still images.
struct FrameFile {
    private let file: UnsafeRawBufferPointer
    private let map: AnimationMap

    /// - Parameter file: the bytes of which the map was made; must not change meanwhile.
    init(_ file: UnsafeRawBufferPointer, _ map: AnimationMap) {
        (self.file, self.map) = (file, map)
    }

    /// The file of one frame.
    func bytes(of frame: FrameRecord) -> [UInt8] {
        switch map.format {
        case .gif: gif(frame)
        case .png: png(frame)
        default: webP(frame)
        }
    }

    /// Header, screen as large as the frame, global colours, and the frame in its corner.
    private func gif(_ frame: FrameRecord) -> [UInt8] {
        var bytes = Array("GIF89a".utf8)
        let size = little(frame.area.size.width, 2) + little(frame.area.size.height, 2)
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
        Self.append("IHDR", size + file[24..<29], to: &bytes)
        for part in map.shared { bytes += file[part] }
        for part in frame.parts { Self.append("IDAT", Array(file[part]), to: &bytes) }
        Self.append("IEND", [], to: &bytes)
        return bytes
    }

    private static func append(_ kind: String, _ body: [UInt8], to bytes: inout [UInt8]) {
        let content = Array(kind.utf8) + body
        let sum = content.withUnsafeBytes { CRC32.of($0) }
        bytes += big(body.count) + content + big(Int(sum))
    }

    /// In the extended form, which takes alpha of its own beside an image with loss.
    private func webP(_ frame: FrameRecord) -> [UInt8] {
        let (width, height) = (frame.area.size.width - 1, frame.area.size.height - 1)
        let flags: UInt8 = (frame.mayBeTransparent ? 0x10 : 0) | (map.shared.isEmpty ? 0 : 0x20)
        var body = Array("WEBPVP8X".utf8) + little(10, 4) + [flags, 0, 0, 0]
        body += little(width, 3) + little(height, 3)
        for part in map.shared + frame.parts {
            body += file[part]
            if part.count % 2 == 1 { body.append(0) }
        }
        return Array("RIFF".utf8) + little(body.count, 4) + body
    }
}

private func little(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}

private func big(_ number: Int) -> [UInt8] { little(number, 4).reversed() }

/// The animation of which a frame was decoded last, with its canvas: the next frame of the same
/// picture costs one frame. It is known again by its bytes, of which a copy is kept.
final class KeptAnimation: Sendable {
    /// Bytes of the file and of the canvas that are kept at most, each.
    private static let bytesMax = 64 << 20

    private struct Kept {
        let bytes: [UInt8]
        var reader: FrameReader
    }

    private let kept = Mutex<Kept?>(nil)

    /// The pixels of a frame as it is shown, in a block of `output`.
    ///
    /// - Throws: `badImageData`; `stepFailed` for a frame that is not there; `notSupported` for a
    ///   frame behind the first one of a format whose frames are not decoded; what `output` throws.
    func frame(
        _ index: Int, of source: SourceImage, _ limits: ImageLimits, _ parts: KeptBytes,
        to output: some OutputSpace, cancellation: CancellationFlag
    ) throws(ImageError) -> DecodedImage.Frame {
        guard var found = try take(source, limits) else {
            guard index == 0 else { throw .noFrame(index, of: source) }
            try limits.check(source, at: .whole)
            try limits.checkPixelBytes(source, at: .whole)
            return try source.pixels(at: .whole, cancellation: cancellation)
                .write(to: output, with: parts)
        }
        guard index < found.reader.map.frames.count else { throw .noFrame(index, of: source) }
        let pixels = try found.reader.pixels(
            of: index, in: source.bytes, limits: limits, cancellation: cancellation)
        let canvas = found.reader.map.canvas
        put(found, bytes: pixels.count)
        return try output.frame(pixels, of: canvas, with: parts)
    }

    /// What was kept of the same bytes, or a beginning; nil for what has no frames.
    private func take(
        _ source: SourceImage, _ limits: ImageLimits
    ) throws(ImageError) -> Kept? {
        let last = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        if let last, last.bytes.count == source.bytes.count,
            last.bytes.elementsEqual(source.bytes)
        {
            try limits.check(source, at: .whole)
            try limits.check(frames: 1, of: source.storedSize)
            return last
        }
        let reader = try FrameReader(
            of: source, by: source.decoder, limits, framesMax: limits.pagesMax)
        return reader.map { Kept(bytes: Array(source.bytes), reader: $0) }
    }

    private func put(_ found: Kept, bytes: Int) {
        guard found.bytes.count <= Self.bytesMax, bytes <= Self.bytesMax else { return }
        kept.withLock { $0 = found }
    }
}

extension ImageError {
    /// A frame that cannot be decoded of a source.
    fileprivate static func noFrame(_ index: Int, of source: SourceImage) -> ImageError {
        let name = source.decoder.format.name
        guard source.decoder.format.traits.input?.pages == .frames || source.pages == 1 else {
            return ImageError(
                .notSupported,
                "of a file in \(name) this version decodes the first image alone: ask for frame 0, "
                    + "or send the frames as GIF, APNG, WebP or AVIF")
        }
        return ImageError(
            .stepFailed,
            "there is no frame \(index): the image has \(source.pages), counted from 0")
    }
}
