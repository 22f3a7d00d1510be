internal import CWebP

/// One animated WebP in the making, by libwebpmux's encoder. Frames that are the same may become
/// one; the time that they are shown stays.
public final class WebPAnimation {
    private let animation: OpaquePointer
    private let encoding: WebPEncoding

    /// Milliseconds of a whole animation at most.
    public static let durationMax = Int(CInt.max)

    /// - Parameters:
    ///   - encoding: how each frame becomes a WebP; its size is that of all.
    ///   - plays: how often all frames are shown, 0 to 65,535; 0: without end.
    /// - Throws: `tooLarge`, `outOfMemory`, `internal` where options are none.
    public init(_ encoding: WebPEncoding, plays: Int) throws(WebPError) {
        guard encoding.isPossible, (0...65_535).contains(plays) else {
            throw WebPError(kind: .internal, text: "an animation has impossible options")
        }
        guard encoding.width <= Self.sideMax, encoding.height <= Self.sideMax else {
            throw WebPError(kind: .tooLarge, text: "a side is too long")
        }
        guard let made = cwebp_animation_new(encoding.shim, CInt(plays)) else {
            throw WebPError(kind: .outOfMemory, text: "no animation begins")
        }
        (animation, self.encoding) = (made, encoding)
    }

    deinit { cwebp_animation_free(animation) }

    private static let sideMax = 16_383

    /// Encodes the next frame: RGBA, not premultiplied, rows without gaps.
    ///
    /// - Parameter start: milliseconds from the first frame on, more than that of the one before.
    /// - Throws: `cancelled`, `tooLarge`, `outOfMemory`, `internal`.
    public func add(
        _ pixels: UnsafeRawBufferPointer, from start: Int, isCancelled: () -> Bool
    ) throws(WebPError) {
        guard pixels.count == 4 * encoding.width * encoding.height,
            let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw WebPError(kind: .internal, text: "pixels do not fit") }
        var code: CInt = 0
        let status = WebPCallbacks.withContext({ _ in true }, isCancelled) { context in
            cwebp_animation_add(
                animation, base, CInt(clamping: 4 * encoding.width), CInt(clamping: start),
                cwebp_callbacks(sink: passToSink, stop: askWhetherCancelled, context: context),
                &code)
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: code) }
    }

    /// Hands over the file; nothing may be added afterwards.
    ///
    /// - Parameters:
    ///   - end: when the last frame ends, in milliseconds.
    ///   - sink: takes all bytes at once, or answers false.
    ///   - isCancelled: asked on this thread where frames that are all the same are encoded anew.
    /// - Throws: `refused`, `cancelled`, `outOfMemory`, `internal`.
    public func finish(
        at end: Int, to sink: (UnsafeRawBufferPointer) -> Bool, isCancelled: () -> Bool
    ) throws(WebPError) {
        let status = WebPCallbacks.withContext(sink, isCancelled) { context in
            cwebp_animation_finish(
                animation, CInt(clamping: end),
                cwebp_callbacks(sink: passToSink, stop: askWhetherCancelled, context: context))
        }
        guard status == CWEBP_FINE else { throw WebPError(status, code: 0) }
    }
}
