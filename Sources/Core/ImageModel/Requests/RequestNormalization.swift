extension ImageRequest {
    /// Whether all frames of an animation are wanted: no format is named that does not hold them,
    /// nobody names one frame, and all steps are ours. What a still image becomes is the same.
    package var animates: Bool {
        guard mayHoldFrames, !wantsOriginal, !options.contains(.decodeFirstFrameOnly) else {
            return false
        }
        return options.contains(.transformAnimatedImage) || reducesFrames
    }

    /// Whether it is made of all frames of an animation unless told otherwise: it is only scaled
    /// while it is decoded, as upstream's thumbnails are.
    package var reducesFrames: Bool {
        mayHoldFrames && isReductionOnly && !output.isProgressive && output.colours == nil
    }

    /// Whether the first frame alone makes another image than would come otherwise.
    package var leavesOutFrames: Bool {
        options.contains(.decodeFirstFrameOnly) && mayHoldFrames && (isPlain || reducesFrames)
    }

    private var mayHoldFrames: Bool {
        frame == nil && !infoOnly && !hasCustomSteps && output.format?.holdsFrames ?? true
    }

    /// Whether its only step is a thumbnail or a limit of bytes.
    package var isReductionOnly: Bool {
        guard steps.count + (thumbnail == nil ? 0 : 1) == 1 else { return false }
        guard let step = steps.first else { return true }
        guard case .scaleDown = step else { return false }
        return true
    }
}

extension ImageInfo {
    /// Whether it is an animation, or one frame of one.
    package var isOfAnimation: Bool { frames > 1 || stillOf ?? 1 > 1 }
}

extension ImageFormat {
    /// Whether it is written with all frames of an animation.
    package var holdsFrames: Bool { row.traits.output?.holdsFrames == true }
}

extension ImageRequest {
    /// Multiplies the pixels of the thumbnail and of the steps from the first resize on by its
    /// ratio, which then is 1 (SEMANTICS §11.14). A ratio beyond the limits stays, to be refused.
    package mutating func applyPixelRatio() {
        guard pixelRatio != 1, RequestLimits.pixelRatios.contains(pixelRatio) else { return }
        // While a part of a request is changed, no other one can be read.
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

/// So many pixels times a ratio, half a pixel rounded away from zero; far beyond all limits for
/// what is far beyond them.
func scaled(_ count: Int, by ratio: Double) -> Int {
    let most = Double(Int32.max)
    return Int(min(max(-most, (Double(count) * ratio).rounded()), most))
}

extension PixelSize {
    /// No side of at least one pixel becomes less, and an open one stays so.
    func scaled(by ratio: Double) -> PixelSize {
        func side(_ side: Int) -> Int {
            let product = ImageModel.scaled(side, by: ratio)
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
    /// Makes the first step of its limit of bytes, which then says nothing more: the limit of its
    /// context, else upstream's where the option asks for one. A limit wins over a thumbnail
    /// (SEMANTICS §11.18). Facts are those of the source.
    package mutating func applyScaleDownLimit() {
        let usual = options.contains(.scaleDownLargeImages) ? RequestLimits.scaleDownBytes : nil
        guard !infoOnly, let limit = context.scaleDownLimit ?? usual else { return }
        thumbnail = nil
        steps.insert(.scaleDown(bytes: limit), at: 0)
        context.scaleDownLimit = nil
    }
}

extension ImageRequest {
    /// Makes output of the wish of its context for a high dynamic range, which then says nothing
    /// more. What is not encoded stays as it is: the source's bytes, and facts.
    package mutating func applyDecodeToHDR() {
        guard context.decodesToHDR else { return }
        context.decodesToHDR = false
        guard !infoOnly, !isPlain else { return }
        output.keepsHDR = true
    }
}

extension ImageRequest {
    /// The size of the result as far as the request says it, whatever its source: for a `fit`,
    /// inside of which a source may end up smaller, the box; for a crop of what is not known, the
    /// rectangle; one pixel where nothing says a size. The sides of all steps must be positive and
    /// at most 2³¹ − 1.
    public var nominalSize: PixelSize {
        var size: PixelSize?
        for step in allSteps { size = step.form.nominalSize(after: size) }
        return size ?? PixelSize(width: 1, height: 1)
    }
}

/// SDWebImage's thumbnail decode (SEMANTICS §11.7): the image arrives already reduced.
public struct Thumbnail: Hashable, Sendable {
    /// The box in pixels.
    public var box: PixelSize
    /// Keep the ratio (inside the box, never enlarged), or exactly the box.
    public var preservesAspectRatio: Bool

    /// A box; keeps the ratio unless told otherwise.
    public init(box: PixelSize, preservesAspectRatio: Bool = true) {
        self.box = box
        self.preservesAspectRatio = preservesAspectRatio
    }

    /// `Thumbnail({100.000000,100.000000},1)` (SEMANTICS §4.4).
    public var key: String {
        "Thumbnail({\(box.width).000000,\(box.height).000000},\(preservesAspectRatio ? 1 : 0))"
    }

    /// The same as a step: it comes before all others.
    var step: TransformStep { .resize(box, preservesAspectRatio ? .fit : .stretch) }
}
