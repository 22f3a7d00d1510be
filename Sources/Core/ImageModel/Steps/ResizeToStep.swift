/// A resize whose box is a part of the image, that has a least size, or that keeps another part of
/// what it fills than the middle.
package struct ResizeToStep: ValuedStep {
    /// The box; a side of 0 pixels is open.
    package var box: RelativeSize
    package var mode: ResizeMode
    /// `nil`: as the mode does.
    package var enlarges: Bool?
    /// The result is made so large, whatever the box says; a side of 0 says nothing.
    package var least: PixelSize
    /// What `fill` keeps, in the image before the step.
    package var gravity: Gravity

    package var key: String {
        let enlarges = (enlarges ?? mode.enlarges) ? 1 : 0
        return "ImagebusResizeToTransformer({\(box)},\(mode.rawValue),\(enlarges),"
            + "{\(sixDecimals(least.width)),\(sixDecimals(least.height))},\(gravity))"
    }

    package var demand: StepDemand { .everything }

    /// What is striking is looked for in 8 bits.
    package var takesDepth: Bool { gravity.isPlace }

    package func size(after source: PixelSize) -> PixelSize? { geometry(of: source)?.output }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        guard let source else { return box.pixels?.closed }
        return geometry(of: source)?.output ?? source
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .resizeTo(
            box.scaled(by: ratio), mode, enlarges: enlarges, least: least.scaled(by: ratio),
            gravity.scaled(by: ratio))
    }

    // MARK: - Geometry

    /// What the image is scaled to, and what of that is kept; `nil` where the box has no pixels or
    /// more than there are.
    package func geometry(
        of source: PixelSize
    ) -> (scaled: PixelSize, output: PixelSize)? {
        let sides = 0...Int(Int32.max)
        guard let box = box.box(in: source), sides.contains(box.width), sides.contains(box.height),
            box.closed.isPositive, sides.contains(least.width), sides.contains(least.height)
        else { return nil }
        var scaled = ResizeGeometry(source: source, box: box, mode: mode, enlarges: enlarges).scaled
        if least.width > scaled.width || least.height > scaled.height {
            // A size that was rounded has another ratio.
            let shape = mode.keepsRatio ? source : scaled
            scaled = ResizeGeometry(source: shape, box: least, mode: .cover, enlarges: true).scaled
        }
        guard max(scaled.width, scaled.height) <= Int(Int32.max) else { return nil }
        let isCut = mode == .fill && box.isPositive
        return (scaled, isCut ? scaled.part(of: box) : scaled)
    }

    /// The part of the scaled image that is kept; `nil` where the pixels say which it is.
    package func part(_ output: PixelSize, of scaled: PixelSize, source: PixelSize) -> PixelRect? {
        guard case .pixel(let x, let y) = gravity else { return gravity.part(output, of: scaled) }
        let place = Gravity.point(
            x: min(1, x / Double(source.width)), y: min(1, y / Double(source.height)))
        return place.part(output, of: scaled)
    }

    // MARK: - Values

    package func checkMore(pixelsMax: Int) throws(ImageError) {
        guard mode != .letterbox else {
            throw ImageError(
                .invalidRequest, "resize-to: letterbox is done by fit and a pad behind it",
                details: ["step": name])
        }
        guard let size = box.pixels, size.isPositive, enlarges ?? mode.enlarges,
            mode == .stretch || mode == .fill
        else { return }
        let limit = min(RequestLimits.pixelsMax, pixelsMax)
        guard let area = size.area, area <= limit else {
            throw .tooLarge(name, limit: limit, "pixels")
        }
    }

    package static let values: [StepValue<Self>] = [
        .relativeBox(\.box), .resizeMode(\.mode), .enlarge(\.enlarges), .least(\.least),
        .gravity(\.gravity),
    ]

    package static let blank = ResizeToStep(
        box: RelativeSize(width: .percent(100), height: .percent(100)), mode: .stretch,
        enlarges: nil, least: PixelSize(width: 0, height: 0), gravity: .center)

    package var step: TransformStep {
        .resizeTo(box, mode, enlarges: enlarges, least: least, gravity)
    }

    package static let syntax = StepSyntax(
        "resize-to", value: "WxH[,MODE][,…]",
        "scale into a box in pixels or, with %, of the image, up to 10000%;\n"
            + "0: by the other side; MODE as of --mode (stretch); enlarge or\n"
            + "no-enlarge; WxH: the least size, 0 of no matter; GRAVITY as of\n"
            + "crop-to: what fill keeps (repeatable)",
        expected: "WIDTHxHEIGHT[,MODE][,enlarge][,LEAST][,GRAVITY], sides of 1 to "
            + "\(RequestLimits.sideMax) pixels or up to 10000%, such as 50%x50% or "
            + "300x0,fit,200x200; GRAVITY is one of " + Gravity.expected, parse)
}

extension RelativeSize {
    /// A box of an image; a side of 0 pixels stays open, and `nil` is where both are.
    fileprivate func box(in image: PixelSize) -> PixelSize? {
        guard isPermittedBox else { return nil }
        return PixelSize(width: width.box(in: image.width), height: height.box(in: image.height))
    }

    /// Whether it is that of a resize.
    var isPermittedBox: Bool {
        let isOpen = width == .pixels(0) && height == .pixels(0)
        return width.isPermittedBox && height.isPermittedBox && !isOpen
    }
}

extension RelativeSize.Side {
    fileprivate var isPermittedBox: Bool {
        switch self {
        case .pixels(let count): (0...RequestLimits.sideMax).contains(count)
        case .percent(let number): number > 0 && number <= 10_000
        }
    }

    fileprivate func box(in side: Int) -> Int {
        switch self {
        case .pixels(let count): count
        case .percent(let number): max(1, Int((Double(side) * number / 100).rounded()))
        }
    }
}
