import Model

extension WeservOptions {
    /// Returns the request for the stack.
    func request(for url: String) throws(GrammarError) -> WebRequest {
        var request = request
        request.image.url = url
        request.image.steps = try steps()
        guard request.kind == .image else {
            try requireSupported(
                request.image.isPlain,
                "json describes the source: leave the other parameters out", of: "output")
            request.image.infoOnly = true
            return try request.checked()
        }
        try requireSupported(
            request.image.frame == nil || !keepsFrames, "page cannot be combined with n=-1",
            of: "page")
        return try request.checked()
    }

    private var keepsFrames: Bool { request.framesMax == nil }

    /// Returns the steps in weserv's order, regardless of that of the parameters.
    private func steps() throws(GrammarError) -> [TransformStep] {
        var steps = trim.map { [TransformStep.trim(tolerance: $0, trimmed)] } ?? []
        if cropsFirst {
            steps += turns
            steps += try cropSteps()
            steps += try sizeSteps(turns: [])
        } else {
            steps += try sizeSteps(turns: turns)
            steps += try cropSteps()
        }
        steps += try canvasSteps()
        if isSlanted {
            steps.append(.rotate(Rotation(degreesClockwise: Double(angle % 360))))
            if let corners { steps.append(.flatten(corners)) }
        }
        return try steps + lookSteps + maskSteps()
    }

    // MARK: - Size

    private var hasSize: Bool { width != .pixels(0) || height != .pixels(0) }

    private var enlarges: Bool { !(isNeverEnlarged ?? false) }

    /// The requested size with the pixel ratio.
    private var box: RelativeSize { RelativeSize(width: scaled(width), height: scaled(height)) }

    private func scaled(_ side: RelativeSize.Side) -> RelativeSize.Side {
        switch side {
        case .pixels(let count): .pixels(Int((Double(count) * ratio).rounded()))
        case .percent(let number): .percent(number * ratio)
        }
    }

    /// The requested size; `nil` if a side is in percent.
    private var pixels: PixelSize? {
        guard case .pixels(let width) = box.width, case .pixels(let height) = box.height else {
            return nil
        }
        return PixelSize(width: width, height: height)
    }

    /// The position or kind of content that is most important. As in weserv, the content of an
    /// animation isn't examined.
    private var gravity: Gravity {
        if isFocal { return .point(x: focus.x ?? 0.5, y: focus.y ?? 0.5) }
        return keepsFrames && isOfContent ? .center : position
    }

    private var isOfContent: Bool { position == .attention || position == .entropy }

    private func resize(_ mode: ResizeMode) -> TransformStep {
        guard let pixels else { return .resizeTo(box, mode, enlarges: enlarges) }
        return .resize(pixels, mode, enlarges: enlarges)
    }

    /// Returns the steps that scale and cut to the size. weserv rotates and flips in between.
    private func sizeSteps(turns: [TransformStep]) throws(GrammarError) -> [TransformStep] {
        guard hasSize, ratio > 0 else { return turns }
        switch fit {
        case .inside, .contain: return [resize(.fit)] + turns
        case .outside: return [resize(.cover)] + turns
        case .cover: return try coverSteps(turns)
        case .fill:
            // A side that isn't specified is unchanged.
            func side(_ side: RelativeSize.Side) -> RelativeSize.Side {
                side == .pixels(0) ? .percent(100) : side
            }
            let size = RelativeSize(width: side(box.width), height: side(box.height))
            return [
                size == box ? resize(.stretch) : .resizeTo(size, .stretch, enlarges: enlarges)
            ] + turns
        }
    }

    private func coverSteps(_ turns: [TransformStep]) throws(GrammarError) -> [TransformStep] {
        if turns.isEmpty || (gravity == .center && !isTurned) {
            let isCut = width != .pixels(0) && height != .pixels(0)
            guard isCut, gravity != .center else { return [resize(.fill)] + turns }
            return [.resizeTo(box, .fill, enlarges: enlarges, gravity)] + turns
        }
        let pixels = try inPixels("cover, rotations and flips require w and h in pixels")
        return [resize(.cover)] + turns + [.cropTo(pixels.wholeIfOpen, gravity)]
    }

    private func inPixels(_ message: String) throws(GrammarError) -> PixelSize {
        guard let pixels else { throw .notOffered("fit", message) }
        return pixels
    }

    private func canvasSteps() throws(GrammarError) -> [TransformStep] {
        guard fit == .contain, hasSize, ratio > 0 else { return [] }
        let size = try inPixels("contain requires w and h in pixels")
        let place = isOfContent && !isFocal ? .center : gravity
        let cut: [TransformStep] =
            isTurned && !cropsFirst ? [.cropTo(size.wholeIfOpen, place)] : []
        let area = PixelSize(width: max(1, size.width), height: max(1, size.height))
        return cut + [.pad(area, place, canvas)]
    }

    // MARK: - Rotation and crop

    private var isSlanted: Bool { angle % 90 != 0 }

    /// Whether the image is rotated by an odd number of quarter turns.
    private var isTurned: Bool { !isSlanted && angle % 180 != 0 }

    /// The rotation by quarter turns, followed by the flip.
    private var turns: [TransformStep] {
        var steps: [TransformStep] = []
        if !isSlanted, angle % 360 != 0 {
            steps.append(.rotate(Rotation(degreesClockwise: Double((angle % 360 + 360) % 360))))
        }
        if flipsAcross || flipsDown {
            steps.append(.flip(horizontal: flipsAcross, vertical: flipsDown))
        }
        return steps
    }

    /// A part of the image along one axis.
    private enum Span {
        case whole
        case pixels(start: Int, length: Int)
        case percent(start: Double, length: Double)
    }

    private func span(
        _ start: RelativeSize.Side?, _ length: RelativeSize.Side?, _ option: String
    ) throws(GrammarError) -> Span {
        switch (start ?? .pixels(0), length ?? .pixels(0)) {
        case (.pixels(0), .pixels(0)): .whole
        case (.pixels(let start), .pixels(let length)):
            .pixels(start: start, length: length > 0 ? length : RequestSides.most)
        case (.percent(let start), .pixels(0)): part(start, 100)
        case (.pixels(0), .percent(let length)): part(0, length)
        case (.percent(let start), .percent(let length)): part(start, length)
        default:
            throw .notOffered(option, "use pixels or percent for both position and length")
        }
    }

    /// Returns the part within the image.
    private func part(_ start: Double, _ length: Double) -> Span {
        let start = start < 100 ? start : 0
        let length = min(length, 100 - start)
        return length == 100 ? .whole : .percent(start: start, length: length)
    }

    private func cropSteps() throws(GrammarError) -> [TransformStep] {
        let across = try span(cropLeft, cropWidth, "cx")
        let down = try span(cropTop, cropHeight, "cy")
        var steps: [TransformStep] = []
        var rect = PixelRect(
            x: 0, y: 0, size: PixelSize(width: RequestSides.most, height: RequestSides.most))
        let whole = rect
        if case .pixels(let start, let length) = across {
            rect = PixelRect(
                x: start, y: rect.y, size: PixelSize(width: length, height: rect.size.height))
        }
        if case .pixels(let start, let length) = down {
            rect = PixelRect(
                x: rect.x, y: start, size: PixelSize(width: rect.size.width, height: length))
        }
        if rect != whole { steps.append(.crop(rect)) }
        let (x, y) = (percents(across), percents(down))
        guard x.length < 100 || y.length < 100 else { return steps }
        return steps + [
            .cropTo(
                RelativeSize(width: .percent(x.length), height: .percent(y.length)),
                .moved(
                    x: 0, y: 0, by: GravityOffset(x: .percent(x.start), y: .percent(y.start))))
        ]
    }

    private func percents(_ span: Span) -> (start: Double, length: Double) {
        if case .percent(let start, let length) = span { (start, length) } else { (0, 100) }
    }

    private var isCropped: Bool {
        [cropLeft, cropTop, cropWidth, cropHeight].contains { $0 != nil && $0 != .pixels(0) }
    }

    // MARK: - Appearance

    private var lookSteps: [TransformStep] {
        var steps: [TransformStep] = []
        if brightness != 0 { steps.append(.brightness(Double(brightness))) }
        if let saturation, saturation != 1 {
            let percent = ((saturation - 1) * 100_000_000).rounded() / 1_000_000
            steps.append(.saturation(percent))
        }
        if contrast != 0 { steps.append(.contrast(Double(contrast))) }
        // weserv's exponent is the inverse of that of the step.
        if let gamma { steps.append(.gamma(1 / gamma)) }
        if let sharpen { steps.append(.sharpen(radius: sharpen)) }
        if let filter { steps.append(filter) }
        if let blur { steps.append(.blur(radius: blur)) }
        if let background { steps.append(.flatten(background)) }
        return steps
    }

    /// Returns the steps for a mask. An ellipse in a square is a circle; otherwise a circle is
    /// supported if what lies beside it is cut off.
    private func maskSteps() throws(GrammarError) -> [TransformStep] {
        guard let mask else { return [] }
        let isCut = mask == .circle && trimsMask
        try requireSupported(
            isCut || isSquare,
            "only circles with mtrim, and masks of squares are supported: specify equal w and h "
                + "with fit=cover, contain or fill", of: "mask")
        let square: [TransformStep] = isSquare ? [] : [.cropRatio(Self.square, .center)]
        let behind: [TransformStep] = frame.map { [.flatten($0)] } ?? []
        return square + [.round(radius: Double(RequestSides.most))] + behind
    }

    private static let square = AspectRatio(width: 1, height: 1)

    /// Whether the result is a square, whatever the source.
    private var isSquare: Bool {
        guard let pixels, pixels.isPositive, pixels.width == pixels.height, !isSlanted else {
            return false
        }
        return fit == .contain
            || (fit == .cover || fit == .fill)
                && enlarges && (cropsFirst || !isCropped)
    }
}
