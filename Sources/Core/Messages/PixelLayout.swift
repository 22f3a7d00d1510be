public import ImageModel

/// How decoded pixels lie in their block (PROTOCOL §7.1): in one plane, their samples interleaved;
/// or in three planes of one sample each, as a JPEG has them: Y, Cb and Cr of BT.601 in full
/// range (JFIF 1.02), the colours with as many samples as the image has or with fewer, sited in
/// the middle of those that they stand for.
public struct PixelLayout: Hashable, Sendable {
    /// One, or three with one band each.
    public var planes: [PixelPlane]
    /// What is still to be done to display them.
    public var orientation: Orientation
    /// What the samples are; in three planes as usual.
    public var samples = SampleForm.usual
    /// Of frames that lie one behind the other, all like the first one, which is what the plane
    /// says: how long each is shown, and how often all.
    public var animation: AnimationFacts?
    /// What lies in the block beside the pixels; each kind once.
    public var enclosures: [Enclosure] = []

    /// Planes as a decoder made them.
    public init(planes: [PixelPlane], orientation: Orientation) {
        self.planes = planes
        self.orientation = orientation
    }

    /// Interleaved pixels as they are displayed, the whole block unless said otherwise.
    public init(
        bands: PixelPlane.Bands, size: PixelSize, stride: Int, samples: SampleForm = .usual,
        activeWidth: Double? = nil, activeHeight: Double? = nil
    ) {
        let plane = PixelPlane(
            bands: bands, size: size, stride: stride, activeWidth: activeWidth,
            activeHeight: activeHeight)
        self.init(planes: [plane], orientation: .upright)
        self.samples = samples
    }

    /// Brightness and colours lie apart.
    public var isPlanar: Bool { planes.count == Self.planesMax }

    /// Planes at most.
    public static let planesMax = 3

    /// Bytes of the block that the pixels and what lies beside them take; `nil` where that
    /// overflows or makes no sense.
    public var byteCount: Int? {
        guard var count = pixelByteCount, Set(enclosures.map(\.kind)).count == enclosures.count
        else { return nil }
        for enclosure in enclosures {
            guard let end = enclosure.end else { return nil }
            count = max(count, end)
        }
        return count
    }

    /// Bytes of the block that the pixels take; `nil` where that overflows or makes no sense.
    public var pixelByteCount: Int? {
        guard planes.count == 1 || isPlanar && planes.allSatisfy({ $0.bands == .grey }),
            mayHaveSamples, mayHaveFrames
        else { return nil }
        var count = 0
        for plane in planes {
            guard let end = plane.end(samples) else { return nil }
            count = max(count, end)
        }
        let (all, overflow) = count.multipliedReportingOverflow(by: frames)
        return overflow ? nil : all
    }

    /// Frames that lie in the block, at least one.
    public var frames: Int { animation.map { max(1, $0.durations.count) } ?? 1 }

    /// The bytes of one frame in those of all.
    public func bytes(ofFrame index: Int) -> Range<Int>? {
        guard let pixelByteCount, (0..<frames).contains(index) else { return nil }
        let count = pixelByteCount / frames
        return index * count..<(index + 1) * count
    }

    /// The same of one frame, which lies at the start.
    public var still: PixelLayout {
        var layout = self
        layout.animation = nil
        return layout
    }

    /// Frames are at least two, of four bands of 8 bits, and whole.
    private var mayHaveFrames: Bool {
        guard let animation else { return true }
        return (2...AnimationFacts.framesMax).contains(animation.durations.count)
            && planes.count == 1 && planes[0].bands == .rgba && planes[0].offset == 0
            && planes[0].isWhole && samples == .usual
    }

    /// Planes that lie apart have 8 bits, and only red, green and blue have a high dynamic range.
    private var mayHaveSamples: Bool {
        guard samples != .usual else { return true }
        let hasColours = planes.allSatisfy { $0.bands == .rgb || $0.bands == .rgba }
        return samples.isPossible && planes.count == 1 && (samples.hdr == nil || hasColours)
    }

    /// Whether of every plane all is image but for a fraction of the last column and row.
    public var isActive: Bool { planes.allSatisfy(\.isActive) }
}
