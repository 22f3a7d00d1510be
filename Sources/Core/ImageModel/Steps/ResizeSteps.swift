/// How a resize fills its box (SEMANTICS §11.8). The raw values of the first three are
/// SDWebImage's.
public enum ResizeMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Exactly the box; the ratio changes. Upstream's Fill.
    case stretch = 0
    /// Exactly the box; the whole image centred in transparent margins. Upstream's AspectFit.
    case letterbox = 1
    /// Exactly the box; what sticks out is cut off evenly. Upstream's AspectFill.
    case fill = 2
    /// Inside the box, the ratio kept, no margins, never enlarged. Ours.
    case fit = 3
    /// The smallest size of the image's ratio that covers the box; nothing is cut off.
    case cover = 4
    /// `cover` where both the image and the box are at least as wide as high, or neither is, else
    /// `fit`; never enlarged.
    case auto = 5
    /// `fit` in the box, which is turned where it stands and the image lies, or the other way.
    case fitTurned = 6
    /// `cover` of the box, turned in the same way.
    case coverTurned = 7
    /// The ratio of the box, whatever that of the image is; where the image is smaller, the
    /// largest size of that ratio that lies in it.
    case reshape = 8

    /// Whether a smaller image becomes larger, unless a resize says something else.
    public var enlarges: Bool {
        switch self {
        case .stretch, .letterbox, .fill, .cover, .coverTurned: true
        case .fit, .auto, .fitTurned, .reshape: false
        }
    }

    /// Whether the image keeps its ratio.
    var keepsRatio: Bool { self != .stretch && self != .reshape }
}

/// The sizes of one resize.
public struct ResizeGeometry: Hashable, Sendable {
    /// What the whole image is scaled to.
    public let scaled: PixelSize
    /// What comes out: `scaled`, or the box where the mode cuts (`fill`) or pads (`letterbox`).
    public let output: PixelSize

    /// Rounds half up and never below one pixel. `source` and `box` must be positive and at most
    /// 2³¹ − 1 a side, but one side of the box may be 0: it is open.
    ///
    /// - Parameter enlarges: whether a smaller image becomes larger; as the mode does unless said.
    public init(source: PixelSize, box: PixelSize, mode: ResizeMode, enlarges: Bool? = nil) {
        let box = mode.isTurned(source, box) ? box.transposed : box
        let wanted = Self.scaled(source, box, mode)
        let isLarger = wanted.width > source.width || wanted.height > source.height
        if !isLarger || enlarges ?? mode.enlarges {
            scaled = wanted
        } else {
            scaled = Self.unenlarged(wanted, source, box, mode)
        }
        switch mode {
        case .letterbox where box.isPositive: output = box
        case .fill where box.isPositive: output = scaled.part(of: box)
        default: output = scaled
        }
    }

    /// Of what would be larger than the image.
    private static func unenlarged(
        _ wanted: PixelSize, _ source: PixelSize, _ box: PixelSize, _ mode: ResizeMode
    ) -> PixelSize {
        switch mode {
        case .stretch where box.isPositive: wanted.part(of: source)
        case .reshape where box.isPositive: inside(source, box)
        default: source
        }
    }

    /// Without a limit.
    private static func scaled(
        _ source: PixelSize, _ box: PixelSize, _ mode: ResizeMode
    ) -> PixelSize {
        if box.height == 0 { return PixelSize(width: box.width, height: height(box, source)) }
        if box.width == 0 { return PixelSize(width: width(box, source), height: box.height) }
        return switch mode {
        case .stretch, .reshape: box
        case .fit, .letterbox, .fitTurned: inside(box, source)
        case .fill, .cover, .coverTurned: around(box, source)
        case .auto: box.isWide == source.isWide ? around(box, source) : inside(box, source)
        }
    }

    /// The largest size of the source's ratio that lies in the box: one side is the box's.
    private static func inside(_ box: PixelSize, _ source: PixelSize) -> PixelSize {
        widthBinds(box, source)
            ? PixelSize(width: box.width, height: min(box.height, height(box, source)))
            : PixelSize(width: min(box.width, width(box, source)), height: box.height)
    }

    /// The smallest size of the source's ratio that covers the box.
    private static func around(_ box: PixelSize, _ source: PixelSize) -> PixelSize {
        widthBinds(box, source)
            ? PixelSize(width: max(box.width, width(box, source)), height: box.height)
            : PixelSize(width: box.width, height: max(box.height, height(box, source)))
    }

    /// Whether the source is wider than the box for its height.
    private static func widthBinds(_ box: PixelSize, _ source: PixelSize) -> Bool {
        source.width * box.height >= source.height * box.width
    }

    private static func width(_ box: PixelSize, _ source: PixelSize) -> Int {
        rounded(source.width * box.height, over: source.height)
    }

    private static func height(_ box: PixelSize, _ source: PixelSize) -> Int {
        rounded(source.height * box.width, over: source.width)
    }

    /// In whole numbers, since a half is exactly a half then.
    private static func rounded(_ product: Int, over divisor: Int) -> Int {
        max(1, (product + divisor / 2) / divisor)
    }
}

extension ResizeMode {
    /// Whether it turns that box for that image. What is as wide as high is never turned.
    fileprivate func isTurned(_ source: PixelSize, _ box: PixelSize) -> Bool {
        guard self == .fitTurned || self == .coverTurned, box.isPositive else { return false }
        return (source.width < source.height && box.width > box.height)
            || (source.width > source.height && box.width < box.height)
    }
}

extension PixelSize {
    /// Whether it is at least as wide as high.
    fileprivate var isWide: Bool { width >= height }
}

/// A resize: what a step and a thumbnail do.
package struct ResizeStep: StepForm {
    /// A side of 0 is open: it follows from the other one by the ratio of the image.
    package let box: PixelSize
    package let mode: ResizeMode
    package let enlarges: Bool

    package var name: String { "resize" }

    /// Modes from `fit` on are not upstream's, nor is one that enlarges where it does not, or the
    /// other way.
    package var key: String {
        let size = "{\(sixDecimals(box.width)),\(sixDecimals(box.height))}"
        guard enlarges == mode.enlarges, mode.rawValue <= ResizeMode.fit.rawValue else {
            return "ImagebusResizingTransformer(\(size),\(mode.rawValue),\(enlarges ? 1 : 0))"
        }
        return mode == .fit
            ? "ImagebusFitTransformer(\(size))"
            : "SDImageResizingTransformer(\(size),\(mode.rawValue))"
    }

    /// A fit that enlarges and a letterbox that does not use as many pixels as the other of the two
    /// usually does, a reshape that enlarges as many as a stretch.
    package var demand: StepDemand {
        switch mode {
        case .fit where enlarges: .box(box, .letterbox)
        case .letterbox where !enlarges: .box(box, .fit)
        case .reshape where enlarges: .box(box, .stretch)
        default: .box(box, mode)
        }
    }

    package var takesDepth: Bool { true }

    package func size(after source: PixelSize) -> PixelSize? {
        let closed = box.closed
        guard closed.isPositive, max(closed.width, closed.height) <= Int(Int32.max) else {
            return nil
        }
        return geometry(of: source).output
    }

    package func geometry(of source: PixelSize) -> ResizeGeometry {
        ResizeGeometry(source: source, box: box, mode: mode, enlarges: enlarges)
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { geometry(of: $0).output } ?? box.closed
    }

    package func scaled(by ratio: Double) -> TransformStep? {
        .resize(box.scaled(by: ratio), mode, enlarges: enlarges)
    }

    /// What it makes of every source; `nil` where that depends on the source.
    package var certainSize: PixelSize? {
        guard box.isPositive else { return nil }
        switch mode {
        case .letterbox: return box
        case .stretch, .fill, .reshape: return enlarges ? box : nil
        case .fit, .cover, .auto, .fitTurned, .coverTurned: return nil
        }
    }

    package func check(pixelsMax: Int) throws(ImageError) {
        try box.closed.checkAsBox(of: name)
        guard let size = certainSize else { return }
        let limit = min(RequestLimits.pixelsMax, pixelsMax)
        guard let area = size.area, area <= limit else {
            throw .tooLarge(name, limit: limit, "pixels")
        }
    }
}

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

/// At most so many bytes of pixels, four for each, and never more than the image has: upstream's
/// limit of bytes (SEMANTICS §11.18).
package struct ScaleDownStep: NumberStep {
    package var number: Int

    package static let traits = NumberTraits<Int>(
        key: "ImagebusScaleDownTransformer", "bytes", in: 1...RequestLimits.scaleDownBytesMax)

    package init(_ number: Int) { self.number = number }

    package var step: TransformStep { .scaleDown(bytes: number) }

    package var demand: StepDemand { .area(max(1, pixels)) }

    /// What is left of the limit once it was divided; 0 for less than four bytes.
    private var pixels: Int { number / 4 }

    package var takesDepth: Bool { true }

    package func size(after source: PixelSize) -> PixelSize? {
        resize(of: source).size(after: source)
    }

    /// What it is for an image of that size: the box is the largest of the image's ratio that has
    /// no more pixels, each side rounded down.
    package func resize(of source: PixelSize) -> ResizeStep {
        ResizeStep(box: source.box(ofPixels: pixels), mode: .fit, enlarges: false)
    }

    package static let syntax = StepSyntax(
        "scale-down", value: "BYTES",
        "scale down what takes more bytes, four a pixel (repeatable)",
        expected: "bytes from 1 to \(RequestLimits.scaleDownBytesMax), such as 4000000", parse)
}

extension PixelSize {
    /// The largest box of the ratio of `self`, whose sides are positive, that has no more pixels,
    /// each side rounded down and at least 1; sides up to 2³¹ − 1.
    func box(ofPixels pixels: Int) -> PixelSize {
        let ratio = Double(height) / Double(width)
        let columns = (Double(pixels) / ratio).squareRoot()
        func side(_ length: Double) -> Int { Int(min(max(1, length), Double(Int32.max))) }
        return PixelSize(width: side(columns), height: side(columns * ratio))
    }
}
