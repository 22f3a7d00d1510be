public import ImageModel

// Animations that have no file yet.
extension ImagebusClient {
    /// Bytes of all frames of an animation together, without loss, at most: what a coordinator
    /// takes as one upload, unless it is configured for less.
    public static let animationBytesMax = 64 << 20

    /// How often an animation may be shown; 0: without end. What GIF and WebP can say.
    public static let animationLoops = 0...65_535

    /// Makes an animation of images, in their order, each of which is loaded after its own steps.
    ///
    /// They are loaded without loss, four at a time, joined here, sent to the stack as an upload,
    /// and encoded there as `request` says, whose steps all frames pass through as well. Its format
    /// is GIF unless it names PNG or WebP; it has no URL, and its options for single frames count
    /// for nothing. Of one part alone GIF and WebP have one frame, and PNG is a still image.
    /// Cancelling the awaiting task cancels everything.
    ///
    /// Throws how the load of a part fails, with its number in the details (`frame`); `stepFailed`
    /// where parts have several sizes; `limitExceeded` beyond `AnimationFacts.framesMax` parts and
    /// `animationBytesMax`; `invalidRequest` for durations and loops that cannot be, and for a
    /// format without frames; and how the load of the whole fails.
    public func animation(
        of parts: [AnimationPart], loops: Int = 0, as request: ImageRequest = ImageRequest(url: "")
    ) async throws(ImageError) -> ImageResponse {
        let request = try Self.animating(request)
        let file = try await animationFile(of: parts, loops: loops)
        return try await load(request, uploading: file).response
    }

    /// What is uploaded: an animated PNG of all parts. `told` hears how many there are so far.
    package func animationFile(
        of parts: [AnimationPart], loops: Int, told: (Int) -> Void = { _ in }
    ) async throws(ImageError) -> [UInt8] {
        try Self.check(parts, loops)
        var png = AnimatedPNG(
            frames: parts.count, loops: loops, bytesMax: Self.animationBytesMax)
        var loads = PartLoads(parts, self)
        try await loads.forEach { (index, bytes) throws(ImageError) in
            try bytes.withUnsafeBytes { (file) throws(ImageError) in
                try png.add(file, for: parts[index].duration)
            }
            told(index + 1)
        }
        png.end()
        return png.bytes
    }

    /// How the whole animation is asked for. Throws `invalidRequest` for what has no frames.
    package static func animating(_ request: ImageRequest) throws(ImageError) -> ImageRequest {
        var whole = request
        (whole.frame, whole.infoOnly, whole.facts) = (nil, false, WantedFacts())
        whole.options.subtract([.decodeFirstFrameOnly, .progressiveLoad])
        whole.options.insert(.transformAnimatedImage)
        if whole.output.format == nil, whole.output.accepted.isEmpty { whole.output.format = .gif }
        guard whole.url.isEmpty else {
            throw ImageError(
                .invalidRequest, "an animation that is made of parts has no URL of its own")
        }
        guard whole.animates else {
            throw ImageError(
                .invalidRequest, "no animation can be written so: its format is gif, png or webp")
        }
        return whole
    }

    private static func check(_ parts: [AnimationPart], _ loops: Int) throws(ImageError) {
        guard !parts.isEmpty else {
            throw ImageError(.invalidRequest, "an animation has one frame at least")
        }
        guard parts.count <= AnimationFacts.framesMax else {
            throw ImageError(
                .limitExceeded, "an animation has at most \(AnimationFacts.framesMax) frames",
                details: ["limit": "\(AnimationFacts.framesMax)"])
        }
        guard animationLoops.contains(loops) else {
            throw ImageError(
                .invalidRequest,
                "an animation is shown 1 to \(animationLoops.upperBound) times, or 0: without end")
        }
        let wrong = parts.firstIndex { !AnimationPart.durations.contains($0.duration) }
        if let wrong {
            throw ImageError(.invalidRequest, "a frame is shown for 1 ms to an hour")
                .ofPart(wrong, of: parts.count)
        }
    }
}
