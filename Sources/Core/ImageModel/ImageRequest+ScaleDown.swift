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
