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
