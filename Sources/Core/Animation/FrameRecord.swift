package import ImageModel

/// One frame of an animation as its file says: where its pixels are, and what is done with them.
package struct FrameRecord: Hashable, Sendable {
    /// What happens to the canvas once the frame was shown, before the next one is drawn.
    package enum Disposal: Hashable, Sendable {
        /// It stays as it is.
        case keep
        /// The area of the frame becomes transparent.
        case clear
        /// It is again as it was before the frame was drawn.
        case restore
    }

    /// How the pixels of the frame come onto the canvas.
    package enum Blending: Hashable, Sendable {
        /// In place of what was there, alpha included.
        case replace
        /// Over what was there.
        case over
    }

    /// Where its pixels lie on the canvas. A GIF may have some outside: these are not drawn; or
    /// none at all.
    package var area: PixelRect
    /// Pixels of it as it is decoded, of which some may lie beside the canvas.
    package var pixelCount: Int { max(0, area.size.width) * max(0, area.size.height) }
    /// How long it is shown, in microseconds (`FrameTiming`).
    package var duration: Int
    package var disposal: Disposal
    package var blending: Blending
    /// Whether some of its pixels may be transparent.
    package var mayBeTransparent: Bool
    /// Where its encoded pixels lie in the file, in order; what else a range holds depends on the
    /// format.
    package var parts: [Range<Int>]

    package init(
        area: PixelRect, duration: Int, disposal: Disposal, blending: Blending,
        mayBeTransparent: Bool, parts: [Range<Int>]
    ) {
        (self.area, self.duration, self.parts) = (area, duration, parts)
        (self.disposal, self.blending) = (disposal, blending)
        self.mayBeTransparent = mayBeTransparent
    }

    /// Whether nothing of a canvas of that size is seen through the frame.
    func hides(_ canvas: PixelSize) -> Bool {
        covers(canvas) && (blending == .replace || !mayBeTransparent)
    }

    /// Whether it lies over every pixel of a canvas of that size.
    func covers(_ canvas: PixelSize) -> Bool {
        area.intersection(with: canvas)?.size == canvas
    }
}
