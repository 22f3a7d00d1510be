extension ImageRequest {
    /// Whether all frames of an animation are wanted: the requested format can hold frames, no
    /// single frame is requested, and all steps are built in. Results from still images are
    /// unaffected.
    package var animates: Bool {
        guard mayHoldFrames, !wantsOriginal, !options.contains(.decodeFirstFrameOnly) else {
            return false
        }
        return options.contains(.transformAnimatedImage) || reducesFrames
    }

    /// Whether all frames of an animation are kept by default because it is only scaled while
    /// decoding, like SDWebImage's thumbnails.
    package var reducesFrames: Bool {
        mayHoldFrames && isReductionOnly && !output.isProgressive && output.colors == nil
    }

    /// Whether restricting an animation to its first frame changes the result.
    package var leavesOutFrames: Bool {
        options.contains(.decodeFirstFrameOnly) && mayHoldFrames && (isPlain || reducesFrames)
    }

    private var mayHoldFrames: Bool {
        frame == nil && !infoOnly && !hasCustomSteps && output.format?.holdsFrames ?? true
    }

    /// Whether the only step is a thumbnail or a byte limit.
    package var isReductionOnly: Bool {
        guard steps.count + (thumbnail == nil ? 0 : 1) == 1 else { return false }
        guard let step = steps.first else { return true }
        guard case .scaleDown = step else { return false }
        return true
    }
}

extension ImageInfo {
    /// Whether the image is an animation or a frame of one.
    package var isOfAnimation: Bool { frames > 1 || stillOf ?? 1 > 1 }
}

extension ImageFormat {
    /// Whether all frames of an animation can be encoded.
    package var holdsFrames: Bool { row.traits.output?.holdsFrames == true }
}

extension ImageRequest {
    /// Multiplies the pixels of the thumbnail and of the steps from the first resize on by the
    /// ratio, and resets it to 1 (SEMANTICS §11.14). An invalid ratio is left for later rejection.
    package mutating func applyPixelRatio() {
        guard pixelRatio != 1, RequestLimits.pixelRatios.contains(pixelRatio) else { return }
        // Exclusivity: the request can't be read while a part of it is modified.
        let ratio = pixelRatio
        if let box = thumbnail?.box { thumbnail?.box = box.scaled(by: ratio) }
        var isResized = thumbnail != nil
        for (index, step) in steps.enumerated() {
            if step.isResize { isResized = true }
            if isResized, let scaled = step.form.scaled(by: ratio) { steps[index] = scaled }
        }
        pixelRatio = 1
    }
}

/// Returns a number of pixels times a ratio, rounding half away from zero; clamped to the range of
/// `Int32`, far beyond all limits.
func scaled(_ count: Int, by ratio: Double) -> Int {
    let most = Double(Int32.max)
    return Int(min(max(-most, (Double(count) * ratio).rounded()), most))
}

extension PixelSize {
    /// A side of at least one pixel remains at least one pixel, and an open side remains open.
    func scaled(by ratio: Double) -> PixelSize {
        func side(_ side: Int) -> Int {
            let product = Model.scaled(side, by: ratio)
            return side > 0 ? max(1, product) : product
        }
        return PixelSize(width: side(width), height: side(height))
    }
}

extension RelativeSize {
    func scaled(by ratio: Double) -> RelativeSize {
        RelativeSize(width: width.scaled(by: ratio), height: height.scaled(by: ratio))
    }
}

extension RelativeSize.Side {
    fileprivate func scaled(by ratio: Double) -> Self {
        guard case .pixels(let count) = self else { return self }
        return .pixels(PixelSize(width: count, height: count).scaled(by: ratio).width)
    }
}

extension ImageRequest {
    /// Converts the byte limit into the first step and clears it: the limit of the context,
    /// otherwise SDWebImage's default if the option is set. A limit replaces a thumbnail
    /// (SEMANTICS §11.18). Properties are always those of the source.
    package mutating func applyScaleDownLimit() {
        let usual = options.contains(.scaleDownLargeImages) ? RequestLimits.scaleDownBytes : nil
        guard !infoOnly, let limit = context.scaleDownLimit ?? usual else { return }
        thumbnail = nil
        context.scaleDownLimit = nil
        // A fallback starts with the steps of its image, which has got the step already.
        guard steps.first != .scaleDown(bytes: limit) else { return }
        steps.insert(.scaleDown(bytes: limit), at: 0)
    }
}

extension ImageRequest {
    /// Converts the context's request for a high dynamic range into an output option and clears it.
    /// Source bytes and properties, which are not encoded, are unaffected.
    package mutating func applyDecodeToHDR() {
        guard context.decodesToHDR else { return }
        context.decodesToHDR = false
        guard !infoOnly, !isPlain else { return }
        output.keepsHDR = true
    }
}

extension ImageRequest {
    /// The size of the result as far as the request determines it independently of the source: for
    /// a `fit`, which may produce less, the box; for a crop of an unknown size, the rectangle; one
    /// pixel if no size is given. The sides of all steps must be positive and at most 2³¹ − 1.
    public var nominalSize: PixelSize {
        var size: PixelSize?
        for step in allSteps { size = step.form.nominalSize(after: size) }
        return size ?? PixelSize(width: 1, height: 1)
    }
}

/// SDWebImage's thumbnail decode (SEMANTICS §11.7): the image is downscaled while decoding.
public struct Thumbnail: Hashable, Sendable {
    /// The box in pixels.
    public var box: PixelSize
    /// Whether the aspect ratio is preserved (inside the box, never enlarged) or the result has
    /// exactly the size of the box.
    public var preservesAspectRatio: Bool

    /// Creates a thumbnail; preserves the aspect ratio by default.
    public init(box: PixelSize, preservesAspectRatio: Bool = true) {
        self.box = box
        self.preservesAspectRatio = preservesAspectRatio
    }

    /// The key suffix: `Thumbnail({100.000000,100.000000},1)` (SEMANTICS §4.4).
    public var key: String {
        "Thumbnail({\(box.width).000000,\(box.height).000000},\(preservesAspectRatio ? 1 : 0))"
    }

    /// The equivalent step, which precedes all others.
    var step: TransformStep { .resize(box, preservesAspectRatio ? .fit : .stretch) }
}
