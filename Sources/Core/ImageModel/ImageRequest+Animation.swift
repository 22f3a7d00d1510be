extension ImageRequest {
    /// Whether all frames of an animation are wanted: no format is named that does not hold them,
    /// nobody names one frame, and all steps are ours. What a still image becomes is the same.
    package var animates: Bool {
        guard options.contains(.transformAnimatedImage), frame == nil, !infoOnly, !wantsOriginal,
            !options.contains(.decodeFirstFrameOnly), !hasCustomSteps
        else { return false }
        return output.format?.holdsFrames ?? true
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
