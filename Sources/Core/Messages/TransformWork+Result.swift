public import ImageModel

// What a transformation makes is known before it is made: a result that is anything else is none.
extension TransformWork {
    /// The size of the result; `nil` where a step makes nothing of what the steps before it made.
    public var resultSize: PixelSize? {
        var size = sourceInfo.size
        for step in steps {
            guard let next = step.size(after: size) else { return nil }
            size = next
        }
        return size
    }

    /// Frames that the result has at most: all, where its format holds them, else the first one.
    package func framesMax(in format: ImageFormat) -> Int {
        format.holdsFrames ? layout.frames : 1
    }

    /// Whether a result may have that size: `resultSize`, or, where a step looks for it in the
    /// pixels, any within the limits.
    package func mayBecome(_ size: PixelSize) -> Bool {
        guard let known = resultSize else { return false }
        guard steps.contains(where: \.form.looksForItsSize) else { return size == known }
        guard size.isPositive, let area = size.area else { return false }
        return max(size.width, size.height) <= limits.sideMax && area <= limits.pixelsMax
    }

    /// The format asked for, else the first of those accepted that has room for the result, else
    /// the source's where images stay in it, else PNG with alpha and JPEG without.
    ///
    /// An animation is of the first accepted one that holds frames, else of the source's, else
    /// WebP. A still of an animation stays in the source's format, whatever is accepted: who gets
    /// it sees that it is one of many.
    public func resultFormat(hasAlpha: Bool) -> ImageFormat {
        if let format = output.format { return format }
        if layout.animation != nil {
            let accepted = output.accepted.first(where: \.holdsFrames)
            return accepted ?? (sourceInfo.format.holdsFrames ? sourceInfo.format : .webp)
        }
        if sourceInfo.isOfAnimation, sourceInfo.format.holdsFrames { return sourceInfo.format }
        if let format = output.acceptedFormat(for: resultSize ?? sourceInfo.size) { return format }
        if sourceInfo.format.traits.output?.isKept == true { return sourceInfo.format }
        return hasAlpha ? .png : .jpeg
    }
}

extension PaintWork {
    /// PNG, which keeps the colour as it is, where no format is asked for or accepted.
    public var resultFormat: ImageFormat {
        output.format ?? output.acceptedFormat(for: size) ?? .png
    }
}
