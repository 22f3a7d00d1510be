/// Limits of one request, checked at admission (PROTOCOL §7, SEMANTICS §9.7).
public enum RequestLimits {
    /// Bytes of a URL.
    public static let urlBytesMax = 8 * 1024
    /// Headers of a request.
    public static let headersMax = 64
    /// Bytes of all headers together.
    public static let headerBytesMax = 16 * 1024
    /// Bytes of a name: of a profile, cache, loader, filter, serializer, preset or slot.
    public static let nameBytesMax = 128
    /// Options without a field of their own in one context, and bytes of each value.
    public static let otherOptionsMax = 32
    /// See `otherOptionsMax`.
    public static let otherOptionBytesMax = 1024
    /// URLs of one prefetch.
    public static let prefetchMax = 100_000
    /// URLs of a prefetch that are loaded at a time where nobody says how many, as upstream.
    public static let prefetchConcurrency = 3
    /// URLs of a prefetch that are loaded at a time at most.
    public static let prefetchConcurrencyMax = 64
    /// Frames of an animation that can be asked for.
    public static let framesMax = 100_000
    /// Steps of a request.
    public static let stepsMax = 32
    /// Steps of a request that lay another image over its own.
    public static let overlaysMax = 4
    /// Parameters of a step that has a name on the wire.
    public static let parametersMax = 16
    /// Bytes of the value of one.
    public static let parameterBytesMax = 256
    /// Pixels for each pixel of the steps.
    public static let pixelRatios = 0.1...10.0
    /// Pixels on one side of a step's box.
    public static let sideMax = 32_767
    /// Pixels of one image at any step.
    public static let pixelsMax = 268_435_456
    /// Bytes of pixels that a step may scale down to at most.
    public static let scaleDownBytesMax = 4 * pixelsMax
    /// Bytes of pixels to which large images are scaled down where nobody says how many, as
    /// upstream: 60 MiB.
    public static let scaleDownBytes = 60 << 20
    /// Milliseconds of the longest deadline: one hour.
    public static let timeoutMillisecondsMax = 3_600_000
}
