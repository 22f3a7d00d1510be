public import Model

// Creating animations from separate images.
extension ImagebusClient {
    /// The largest total size of all losslessly encoded frames of an animation, in bytes. It is the
    /// coordinator's default limit for one upload.
    public static let animationBytesMax = 64 << 20

    /// The allowed loop counts; 0 means endless. The range is what GIF and WebP can store.
    public static let animationLoops = 0...65_535

    /// Creates an animation from images, in order, each loaded with its own steps.
    ///
    /// The images are loaded losslessly, four at a time, joined here, uploaded to the stack, and
    /// encoded there according to `request`. All frames also pass through the steps of `request`.
    /// Its format is GIF unless it names PNG or WebP. It must not have a URL, and its options for
    /// single frames are ignored. With a single part, GIF and WebP contain one frame, and PNG is a
    /// still image. Canceling the awaiting task cancels everything.
    ///
    /// Throws the error of a part's load, with the part's number in the details (`frame`);
    /// `stepFailed` if the parts differ in size; `limitExceeded` beyond
    /// `AnimationProperties.framesMax` parts or `animationBytesMax`; `invalidRequest` for durations
    /// or loop counts out of range, and for a format that doesn't support animation; and the error
    /// of the final load.
    public func animation(
        of parts: [AnimationPart], loops: Int = 0, as request: ImageRequest = ImageRequest(url: "")
    ) async throws(ImageError) -> ImageResponse {
        let request = try Self.animating(request)
        let file = try await animationFile(of: parts, loops: loops)
        return try await load(request, uploading: file).response
    }

    /// Returns the file to upload: an animated WebP of all parts. `progress` is called with the
    /// number of parts joined so far.
    package func animationFile(
        of parts: [AnimationPart], loops: Int, progress: (Int) -> Void = { _ in }
    ) async throws(ImageError) -> [UInt8] {
        try Self.check(parts, loops)
        var joined = AnimatedWebP(loops: loops, bytesMax: Self.animationBytesMax)
        // Never holds more images than are loaded at a time.
        var loads: [LoadTask] = []
        defer { for load in loads { load.cancel() } }
        for index in parts.indices {
            var number = index
            do throws(ImageError) {
                while loads.count < min(AnimatedImage.loadsAtATime, parts.count - index) {
                    number = index + loads.count
                    loads.append(try begin(parts[number]))
                }
                number = index
                guard let bytes = try await loads.removeFirst().response.bytes else {
                    throw .noFrameCached
                }
                try bytes.withUnsafeBytes { (file) throws(ImageError) in
                    try joined.add(file, for: parts[index].duration)
                }
            } catch {
                throw error.ofPart(number, of: parts.count)
            }
            progress(index + 1)
        }
        joined.end()
        return joined.bytes
    }

    private func begin(_ part: AnimationPart) throws(ImageError) -> LoadTask {
        guard let read = part.read else { return load(part.pixels) }
        return load(part.pixels, uploading: try read())
    }

    /// Returns the request for the whole animation. Throws `invalidRequest` for a format that
    /// doesn't support animation.
    package static func animating(_ request: ImageRequest) throws(ImageError) -> ImageRequest {
        var whole = request
        (whole.frame, whole.infoOnly, whole.properties) = (nil, false, RequestedProperties())
        whole.options.subtract([.decodeFirstFrameOnly, .progressiveLoad])
        whole.options.insert(.transformAnimatedImage)
        if whole.output.format == nil, whole.output.accepted.isEmpty { whole.output.format = .gif }
        guard whole.url.isEmpty else {
            throw ImageError(
                .invalidRequest, "an animation made of parts must not specify a URL")
        }
        guard whole.animates else {
            throw ImageError(
                .invalidRequest, "the format cannot store an animation: use gif, png or webp")
        }
        return whole
    }

    private static func check(_ parts: [AnimationPart], _ loops: Int) throws(ImageError) {
        guard !parts.isEmpty else {
            throw ImageError(.invalidRequest, "an animation must have at least one frame")
        }
        guard parts.count <= AnimationProperties.framesMax else {
            throw ImageError(
                .limitExceeded,
                "an animation must have at most \(AnimationProperties.framesMax) frames"
            ) { $0.limit = "\(AnimationProperties.framesMax)" }
        }
        guard animationLoops.contains(loops) else {
            throw ImageError(
                .invalidRequest,
                "the number of loops must be 1 to \(animationLoops.upperBound), or 0 for endless")
        }
        let wrong = parts.firstIndex { !AnimationPart.durations.contains($0.duration) }
        if let wrong {
            throw ImageError(.invalidRequest, "the duration of a frame must be 1 ms to 1 hour")
                .ofPart(wrong, of: parts.count)
        }
    }
}

/// One frame of an animation to create (`ImagebusClient.animation`): an image and how long it is
/// shown.
public struct AnimationPart: Sendable {
    /// How the image is loaded: its URL (empty if it has bytes), its steps and, for an animated
    /// source, the frame number. Its output options are ignored.
    public var request: ImageRequest
    /// How long the frame is shown: 1 ms to one hour. As in any animation, less than 11 ms is
    /// played as 100 ms (SEMANTICS §11.30). WebP stores whole milliseconds, GIF hundredths of a
    /// second.
    public var duration: Duration
    /// Reads the bytes of an image that has no URL.
    let read: (@Sendable () throws(ImageError) -> [UInt8])?

    /// The allowed durations of a part.
    public static let durations: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600)

    /// Creates a part from an image with a URL.
    public init(_ request: ImageRequest, for duration: Duration) {
        (self.request, self.duration, read) = (request, duration, nil)
    }

    /// Creates a part whose bytes are read when it is about to be loaded, for instance from a file.
    /// An error thrown by `read` ends the whole operation. `request` must not have a URL.
    public init(
        _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration,
        reading read: @escaping @Sendable () throws(ImageError) -> [UInt8]
    ) {
        (self.request, self.duration, self.read) = (request, duration, read)
    }

    /// Creates a part from an image in memory.
    public init(
        _ bytes: [UInt8], _ request: ImageRequest = ImageRequest(url: ""), for duration: Duration
    ) {
        self.init(request, for: duration) { () throws(ImageError) in bytes }
    }

    /// The request for the pixels of the whole image, losslessly encoded.
    var pixels: ImageRequest {
        var wanted = request
        wanted.output = OutputOptions(format: .webp, quality: 0, lossless: true)
        wanted.output.effort = 0
        (wanted.infoOnly, wanted.properties, wanted.wantsExplanation) = (
            false, RequestedProperties(), false
        )
        wanted.options.subtract([.transformAnimatedImage, .progressiveLoad])
        // Otherwise a thumbnail of an animation would keep all frames.
        if wanted.frame == nil { wanted.options.insert(.decodeFirstFrameOnly) }
        wanted.storeCacheTypes.formIntersection(.memory)
        (wanted.context.encodeOptions, wanted.context.serializer) = (nil, nil)
        return wanted
    }
}

extension ImageError {
    /// Returns the same error with the number of the frame that caused it.
    func ofPart(_ index: Int, of count: Int) -> ImageError {
        guard code != .cancelled else { return self }
        var error = ImageError(code, "frame \(index) of \(count), numbered from 0: \(message)")
        error.includesAdvice = includesAdvice
        error.typedDetails = typedDetails
        if typedDetails[text: \.frame] == nil { error.typedDetails.frame = index }
        return error
    }
}
