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
        if let step = try cropStep() { steps.append(step) }
        if let step = try resizeStep() { steps.append(step) }
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

    private func cropStep() throws(GrammarError) -> TransformStep? {
        guard let crop, crop.width > 0 || crop.height > 0 else { return nil }
        let gravity = crop.gravity ?? self.gravity
        let size = RelativeSize(width: Self.side(crop.width), height: Self.side(crop.height))
        if gravity.isMoved, gravity.word == "nowe", let rect = Self.rect(crop, gravity) {
            return .crop(rect)
        }
        return .cropTo(size, try gravity.unmoved(of: crop.option))
    }

    private static func side(_ said: Double) -> RelativeSize.Side {
        if said == 0 { return .percent(100) }
        return said < 1 ? .percent(said * 100) : .pixels(Int(said))
    }

    /// A rectangle where all of it is in pixels from the top left corner.
    private static func rect(_ crop: ImgproxyCrop, _ gravity: ImgproxyGravity) -> PixelRect? {
        let isOfPixels =
            min(crop.width, crop.height) >= 1
            && [gravity.x, gravity.y].allSatisfy {
                $0 == 0 || $0 >= 1
            }
        guard isOfPixels else { return nil }
        return PixelRect(
            x: Int(gravity.x.rounded(.toNearestOrEven)),
            y: Int(gravity.y.rounded(.toNearestOrEven)),
            size: PixelSize(width: Int(crop.width), height: Int(crop.height)))
    }

    // MARK: - Size

    /// What the sizes are multiplied with, zoom apart. Without a size, an image that is not
    /// enlarged stays as large as it is.
    private var shownRatio: Double { hasSize || enlarges ? ratio : min(1, ratio) }

    private var hasSize: Bool { width > 0 || height > 0 }

    /// The size that is wanted, in pixels; a side of 0 follows from the other one.
    private var box: PixelSize {
        func side(_ said: Int, _ zoom: Double) -> Int {
            said == 0 ? 0 : max(1, Int((Double(said) * zoom * ratio).rounded()))
        }
        return PixelSize(width: side(width, zoom.across), height: side(height, zoom.down))
    }

    private func resizeStep() throws(GrammarError) -> TransformStep? {
        guard hasSize else {
            guard zoom == (1, 1) else {
                throw .notOffered("zoom", "zoom needs a size here: say a width or a height")
            }
            guard shownRatio == 1 else {
                throw .notOffered("dpr", "dpr needs a size here: say a width or a height")
            }
            return nil
        }
        guard zoom.across == zoom.down || (mode == .force && box.isPositive) else {
            throw .notOffered("zoom", "two zooms need resizing type force and two sides here")
        }
        guard box.isPositive else {
            guard mode != .force else {
                throw .notOffered(
                    modeOption, "force needs two sides here: say both, or use fit")
            }
            return .resize(box, .fit, enlarges: enlarges)
        }
        switch mode {
        case .fit: return .resize(box, .fit, enlarges: enlarges)
        case .force: return .resize(box, .stretch, enlarges: enlarges)
        case .fill: return try fillStep()
        case .fillDown where enlarges: return try fillStep()
        case .fillDown:
            throw .notOffered(
                modeOption, "fill-down is not done here without enlarge: use fill, or enlarge:1")
        case .auto:
            throw .notOffered(
                modeOption, "auto needs the size of the source: use fit or fill")
        }
    }

    /// A cut to the size keeps the middle: no step scales so that the box is covered and leaves
    /// what sticks out.
    private func fillStep() throws(GrammarError) -> TransformStep {
        guard gravity.gravity == .center, !gravity.isMoved else {
            throw .notOffered(
                "gravity", "\(gravity.word): fill keeps the middle here: leave the gravity out")
        }
        return .resize(box, .fill, enlarges: enlarges)
    }

    // MARK: - Margins

    private func extendStep() throws(GrammarError) -> TransformStep? {
        if let extend, extend.isWanted, hasSize { return try pad(extend) }
        guard let extendRatio, extendRatio.isWanted, box.isPositive else { return nil }
        guard enlarges else {
            throw .notOffered(
                extendRatio.option, "an aspect ratio needs enlarge:1 here: say it, or use extend")
        }
        return try pad(extendRatio)
    }

    private func pad(_ extend: ImgproxyExtend) throws(GrammarError) -> TransformStep {
        let canvas = PixelSize(width: max(1, box.width), height: max(1, box.height))
        return .pad(canvas, try extend.gravity.unmoved(of: extend.option), .clear)
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
