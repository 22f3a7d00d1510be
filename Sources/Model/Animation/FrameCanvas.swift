/// The composited pixels of an animation: 8-bit RGBA, straight alpha, rows without padding.
///
/// Frames can be requested in any order. Sequential access decodes one frame at a time; random
/// access starts from the nearest preceding frame that hides everything below it. Frames that leave
/// nothing on the canvas are not decoded on the way.
package struct FrameCanvas: Sendable {
    private let map: AnimationMap
    /// The canvas before `next` is drawn.
    private var base: [UInt8]
    private var next = 0

    /// An empty canvas.
    package init(_ map: AnimationMap) {
        self.map = map
        base = []
        base = blank
    }

    private var blank: [UInt8] {
        [UInt8](repeating: 0, count: 4 * map.canvas.width * map.canvas.height)
    }

    /// Returns the canvas as it is displayed with the given frame.
    ///
    /// - Parameters:
    ///   - index: a frame of the map.
    ///   - decode: returns the pixels of a frame's area in the format of the canvas. It is called
    ///     in frame order, last for the requested frame.
    package mutating func show<Failure: Error>(
        _ index: Int, decode: (Int) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let frame = map.frames[index]
        // Nothing drawn before is visible, so the canvas can be kept for other frames.
        guard !frame.hides(map.canvas) else {
            var shown = blank
            draw(try decode(index), frame, onto: &shown)
            if frame.disposal == .keep { (base, next) = (shown, index + 1) }
            return shown
        }
        try prepare(for: index, decode)
        let pixels = try decode(index)
        guard frame.disposal == .keep else {
            var shown = base
            draw(pixels, frame, onto: &shown)
            return shown
        }
        draw(pixels, frame, onto: &base)
        next = index + 1
        return base
    }

    /// The number of pixels decoded to display a frame, including earlier frames that aren't drawn
    /// yet.
    package func decodedPixels(for index: Int) -> Int {
        let isAlone = map.frames[index].hides(map.canvas)
        let start = isAlone ? index : map.start(of: index, drawn: next)
        let behind = map.frames[start..<index].filter { $0.disposal == .keep }
        return (behind + [map.frames[index]]).reduce(0) { $0 + $1.pixelCount }
    }

    /// Draws everything that is visible beneath a frame.
    private mutating func prepare<Failure: Error>(
        for index: Int, _ decode: (Int) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        let start = map.start(of: index, drawn: next)
        if next != start { (base, next) = (blank, start) }
        while next < index {
            let frame = map.frames[next]
            switch frame.disposal {
            case .keep: draw(try decode(next), frame, onto: &base)
            case .clear: clear(frame.area)
            case .restore: break
            }
            next += 1
        }
    }

    private func draw(_ pixels: [UInt8], _ frame: FrameRecord, onto canvas: inout [UInt8]) {
        guard let seen = frame.area.intersection(with: map.canvas) else { return }
        let count = 4 * seen.size.width
        for row in 0..<seen.size.height {
            let source = 4 * (row * frame.area.size.width)
            let target = 4 * ((seen.y + row) * map.canvas.width + seen.x)
            if frame.blending == .replace || !frame.mayBeTransparent {
                canvas.replaceSubrange(
                    target..<target + count, with: pixels[source..<source + count])
            } else {
                blend(pixels[source..<source + count], onto: &canvas, at: target)
            }
        }
    }

    private func blend(_ row: ArraySlice<UInt8>, onto canvas: inout [UInt8], at start: Int) {
        row.withUnsafeBufferPointer { over in
            canvas.withUnsafeMutableBufferPointer { under in
                for offset in stride(from: 0, to: over.count, by: 4) where over[offset + 3] > 0 {
                    let pixel = UnsafeMutableBufferPointer(
                        rebasing: under[start + offset..<start + offset + 4])
                    guard over[offset + 3] < 255, pixel[3] > 0 else {
                        for band in 0..<4 { pixel[band] = over[offset + band] }
                        continue
                    }
                    StraightAlpha.blend(
                        UnsafeBufferPointer(rebasing: over[offset..<offset + 4]), over: pixel)
                }
            }
        }
    }

    private mutating func clear(_ area: PixelRect) {
        guard let seen = area.intersection(with: map.canvas) else { return }
        for row in seen.y..<seen.y + seen.size.height {
            let start = 4 * (row * map.canvas.width + seen.x)
            for offset in start..<start + 4 * seen.size.width { base[offset] = 0 }
        }
    }
}

/// Composites one pixel over another, both with straight alpha (W3C Compositing and Blending Level
/// 1, source over). Results are truncated, as the reference decoders of the formats do.
private enum StraightAlpha {
    static func blend(
        _ over: UnsafeBufferPointer<UInt8>, over pixel: UnsafeMutableBufferPointer<UInt8>
    ) {
        let (above, below) = (Int(over[3]), Int(pixel[3]))
        // In units of 1/255², like `share`.
        let share = below * (255 - above)
        let alpha = 255 * above + share
        for band in 0..<3 {
            let color = 255 * above * Int(over[band]) + share * Int(pixel[band])
            pixel[band] = UInt8(color / alpha)
        }
        pixel[3] = UInt8(alpha / 255)
    }
}
