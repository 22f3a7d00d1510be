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
