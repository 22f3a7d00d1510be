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
