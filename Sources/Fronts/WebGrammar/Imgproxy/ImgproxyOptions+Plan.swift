import ImageModel

extension ImgproxyOptions {
    /// What is asked of the stack.
    func request(
        for url: String, _ settings: ImgproxyGrammar.Settings
    ) throws(GrammarError) -> WebRequest {
        var request = WebRequest(ImageRequest(url: url), kind: isRaw ? .source : .image)
        (request.expires, request.cacheBuster) = (expires, cacheBuster)
        (request.fileName, request.isAttachment) = (fileName, isAttachment)
        (request.presets, request.saysPixelRatio) = (presets, saysRatio)
        guard !isRaw else { return try request.checked() }
        request.image.steps = try steps(settings)
        request.image.output = output()
        (request.skippedFormats, request.framesMax) = (skippedFormats, framesMax)
        request.image.context.damaged = damaged
        if format == nil, quality == 0 { request.formatQualities = qualities }
        return try request.checked()
    }

    /// The steps in imgproxy's order, whatever that of the options is: trim, turn, mirror, crop,
    /// scale, cut to the size, blur, sharpen, pixelate, extend, pad, lay over a colour, watermark.
    /// imgproxy crops before it turns, and counts as if it had turned before.
    private func steps(
        _ settings: ImgproxyGrammar.Settings
    ) throws(GrammarError) -> [TransformStep] {
        var steps: [TransformStep] = []
        if let trim { steps.append(trim) }
        if angle != 0 { steps.append(.rotate(Rotation(degreesClockwise: Double(angle)))) }
        if flipsAcross || flipsDown {
            steps.append(.flip(horizontal: flipsAcross, vertical: flipsDown))
        }
        if let step = cropStep() { steps.append(step) }
        steps += try sizeSteps()
        if blur > 0 { steps.append(.blur(radius: blur)) }
        if sharpen > 0 { steps.append(.sharpen(radius: sharpen)) }
        if pixelate > 1 { steps.append(.pixelate(pixelate)) }
        if let step = try extendStep() { steps.append(step) }
        if let step = paddingStep() { steps.append(step) }
        if let background { steps.append(.flatten(background)) }
        if let step = try watermark?.step(of: settings, ratio: shownRatio) { steps.append(step) }
        return steps
    }

    // MARK: - Crop

    private func cropStep() -> TransformStep? {
        guard let crop, crop.width > 0 || crop.height > 0 else { return nil }
        let size = RelativeSize(width: Self.side(crop.width), height: Self.side(crop.height))
        return .cropTo(size, (crop.gravity ?? gravity).cut())
    }

    private static func side(_ said: Double) -> RelativeSize.Side {
        if said == 0 { return .percent(100) }
        return said < 1 ? .percent(said * 100) : .pixels(Int(said))
    }

    // MARK: - Margins

    private func extendStep() throws(GrammarError) -> TransformStep? {
        if let extend, extend.isWanted, hasSize {
            let canvas = PixelSize(width: max(1, box.width), height: max(1, box.height))
            return .pad(canvas, extend.gravity.place(on: canvas, ratio), .clear)
        }
        guard let extendRatio, extendRatio.isWanted, box.isPositive else { return nil }
        guard extendRatio.gravity.word != "fp" else {
            throw .notOffered(
                extendRatio.option, "a focus needs a canvas of a size here: use extend, or a place")
        }
        return .padRatio(AspectRatio(of: box), extendRatio.gravity.cut(ratio), .clear)
    }

    private func paddingStep() -> TransformStep? {
        func side(_ said: Int) -> Int {
            Int((Double(said) * shownRatio).rounded(.toNearestOrEven))
        }
        let margins = Margins(
            left: side(padding.left), top: side(padding.top), right: side(padding.right),
            bottom: side(padding.bottom))
        return margins == Margins() ? nil : .extend(margins, .colour(.clear))
    }
}
