public import ImageModel

/// One frame of an animation that is to be made (`ImagebusClient.animation`): an image, and how
/// long it is shown.
public struct AnimationPart: Sendable {
    /// How the image is loaded: its URL, which is empty where it has bytes, its steps, and of an
    /// animation which frame. What it says of its output counts for nothing.
    public var request: ImageRequest
    /// How long it is shown: 1 ms to an hour. Less than 11 ms is 100 ms, as in any animation
    /// (SEMANTICS §11.30); WebP has whole milliseconds, GIF hundredths of a second.
    public var duration: Duration
    /// The bytes of an image that has no URL.
    let read: (@Sendable () throws(ImageError) -> [UInt8])?

    /// What a part may take.
    public static let durations: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600)

    /// An image that has a URL.
    public init(_ request: ImageRequest, for duration: Duration) {
        (self.request, self.duration, read) = (request, duration, nil)
    }

    /// An image whose bytes are asked for when their turn comes, such as those of a file; what is
    /// thrown ends the work. `request` has no URL.
    public init(
        _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration,
        reading read: @escaping @Sendable () throws(ImageError) -> [UInt8]
    ) {
        (self.request, self.duration, self.read) = (request, duration, read)
    }

    /// An image whose bytes are there.
    public init(
        _ bytes: [UInt8], _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration
    ) {
        self.init(request, for: duration) { () throws(ImageError) in bytes }
    }

    /// Pixels of the whole image, without loss.
    var pixels: ImageRequest {
        var wanted = request
        wanted.output = OutputOptions(format: .png, compression: 1)
        (wanted.infoOnly, wanted.facts, wanted.wantsExplanation) = (false, WantedFacts(), false)
        wanted.options.subtract([.transformAnimatedImage, .progressiveLoad])
        wanted.storeCacheTypes.formIntersection(.memory)
        (wanted.context.encodeOptions, wanted.context.serializer) = (nil, nil)
        return wanted
    }
}
