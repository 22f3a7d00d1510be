package import ImageModel

/// What an animated file says of its frames, as far as its bytes have arrived. It is found without
/// a codec: every byte may be a stranger's. The time is that of one walk from part to part.
package struct AnimationMap: Hashable, Sendable {
    /// Where the walk ended.
    package enum End: Hashable, Sendable {
        /// At the end that the file says.
        case whole
        /// At the end of the bytes: there may be more.
        case cut
        /// At something that the format does not permit.
        case broken
        /// At the most frames that were asked for.
        case limit
    }

    package let format: ImageFormat
    /// The size of every frame as it is shown.
    package var canvas: PixelSize
    /// How often all frames are played; 0: without end.
    package var plays: Int
    /// SDWebImage's loop count: the number that a GIF has; else as often as it is played.
    package var loops: Int { repetitions ?? plays }
    /// The number in a GIF, which counts how often it is repeated, 0: without end; `nil` where the
    /// file has none, and for other formats.
    var repetitions: Int?
    /// The frames that are there as a whole, in order; of the last one a part where it is open.
    package var frames: [FrameRecord] = []
    /// Whether more parts of the last frame may follow, of bytes that end within it.
    package var isLastOpen = false
    /// Parts of the file that each frame needs besides its own: of each kind the first one, as
    /// formats permit no more.
    package var shared: [Range<Int>] = []
    package var end = End.cut

    /// Walks through a file; `nil` for a format without frames of that kind, for a still image, and
    /// while it cannot be said yet.
    package init?(_ bytes: Span<UInt8>, framesMax: Int) {
        let file = HeaderBytes(bytes)
        let format = ImageFormat(file: bytes)
        switch format {
        case .gif: self.init(gif: file, framesMax: framesMax)
        case .png: self.init(png: file, framesMax: framesMax)
        case .webp: self.init(webP: file, framesMax: framesMax)
        case .avif: self.init(avif: file, framesMax: framesMax)
        default: return nil
        }
    }

    /// Before the first frame.
    init(_ format: ImageFormat, canvas: PixelSize, plays: Int) {
        (self.format, self.canvas, self.plays) = (format, canvas, plays)
    }

    /// How many frames are there as a whole for certain.
    package var wholeFrames: Int { frames.count - (isLastOpen ? 1 : 0) }

    /// Bytes of the file that are read anew for each frame.
    package var sharedBytes: Int { shared.reduce(0) { $0 + $1.count } }

    /// Pixels of all frames as they are decoded.
    package var pixelCount: Int { frames.reduce(0) { $0 + $1.pixelCount } }

    /// How long one loop takes, in microseconds.
    package var duration: Int { frames.reduce(0) { $0 + $1.duration } }

    /// The frame from which on the canvas has to be drawn for that one to be right; `drawn` where
    /// all before that one was drawn, and no later one will do.
    func start(of index: Int, drawn: Int) -> Int {
        var start = index
        let least = drawn <= index ? drawn : 0
        while start > least {
            let before = frames[start - 1]
            if before.disposal == .clear, before.covers(canvas) { return start }
            start -= 1
            // What it hides comes back where it is not kept.
            if frames[start].hides(canvas), frames[start].disposal != .restore { return start }
        }
        return start
    }
}
