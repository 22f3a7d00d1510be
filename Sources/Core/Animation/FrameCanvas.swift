import ImageModel

/// The pixels of one animation, frame upon frame: 8-bit RGBA, alpha straight, rows without gaps.
///
/// Any frame can be asked for at any time. Those in order cost one frame each; another one is drawn
/// from the nearest frame before it that hides all that was there. A frame that leaves nothing
/// behind is not even decoded on the way.
package struct FrameCanvas: Sendable {
    private let map: AnimationMap
    /// What is there before `next` is drawn.
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

    /// The canvas as it is shown with that frame.
    ///
    /// - Parameters:
    ///   - index: one of the frames of the map.
    ///   - decode: the pixels of a frame's area, in the form of the canvas. It is asked in order,
    ///     for that frame last.
    package mutating func show<Failure: Error>(
        _ index: Int, decode: (Int) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let frame = map.frames[index]
        // Nothing of what was drawn is seen: it may stay as it is for other frames.
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

    /// Pixels of the frames that are decoded for one: those behind it that are not there yet, too.
    package func decodedPixels(for index: Int) -> Int {
        let isAlone = map.frames[index].hides(map.canvas)
        let start = isAlone ? index : map.start(of: index, drawn: next)
        let behind = map.frames[start..<index].filter { $0.disposal == .keep }
        return (behind + [map.frames[index]]).reduce(0) { $0 + $1.pixelCount }
    }

    /// Draws what is seen behind a frame.
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

/// One pixel over another, both with alpha that the colours are not multiplied by (W3C
/// Compositing and Blending Level 1, source over). What is left behind the point is cut off, as the
/// readers of the formats do.
private enum StraightAlpha {
    static func blend(
        _ over: UnsafeBufferPointer<UInt8>, over pixel: UnsafeMutableBufferPointer<UInt8>
    ) {
        let (above, below) = (Int(over[3]), Int(pixel[3]))
        // In 255ths of 255ths, as is `share`.
        let share = below * (255 - above)
        let alpha = 255 * above + share
        for band in 0..<3 {
            let colour = 255 * above * Int(over[band]) + share * Int(pixel[band])
            pixel[band] = UInt8(colour / alpha)
        }
        pixel[3] = UInt8(alpha / 255)
    }
}
