import Animation
import ImageModel
import Messages
import StageContract
import Vips

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
