/// How a resize uses its box (SEMANTICS §11.8). The raw values of the first three are SDWebImage's.
public enum ResizeMode: UInt8, Hashable, Sendable, CaseIterable {
    /// Exactly the box; the aspect ratio changes. SDWebImage's Fill.
    case stretch = 0
    /// Exactly the box; the whole image centered in transparent margins. SDWebImage's AspectFit.
    case letterbox = 1
    /// Exactly the box; the excess is cropped evenly. SDWebImage's AspectFill.
    case fill = 2
    /// Inside the box, with the aspect ratio preserved, without margins, never enlarged. Specific
    /// to Imagebus.
    case fit = 3
    /// The smallest size with the image's aspect ratio that covers the box; nothing is cropped.
    case cover = 4
    /// `cover` if image and box have the same orientation (a square counts as landscape), otherwise
    /// `fit`; never enlarged.
    case auto = 5
    /// `fit` into the box, which is rotated to the orientation of the image.
    case fitTurned = 6
    /// `cover` of the box, which is rotated in the same way.
    case coverTurned = 7
    /// The aspect ratio of the box, whatever that of the image; if the image is smaller, the
    /// largest size of that ratio inside it.
    case reshape = 8

    /// Whether smaller images are enlarged, unless the resize overrides it.
    public var enlarges: Bool {
        switch self {
        case .stretch, .letterbox, .fill, .cover, .coverTurned: true
        case .fit, .auto, .fitTurned, .reshape: false
        }
    }

    /// Whether the aspect ratio is preserved.
    var keepsRatio: Bool { self != .stretch && self != .reshape }
}

/// The sizes involved in a resize.
public struct ResizeGeometry: Hashable, Sendable {
    /// The size to which the whole image is scaled.
    public let scaled: PixelSize
    /// The resulting size: `scaled`, or the box if the mode crops (`fill`) or pads (`letterbox`).
    public let output: PixelSize

    /// Computes the sizes, rounding half up to at least one pixel. `source` and `box` must be
    /// positive with sides of at most 2³¹ − 1, but one side of the box may be 0, which leaves it
    /// open.
    ///
    /// - Parameter enlarges: whether smaller images are enlarged; `nil` for the default of the
    ///   mode.
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

    /// Returns the size if the result would be larger than the image.
    private static func unenlarged(
        _ wanted: PixelSize, _ source: PixelSize, _ box: PixelSize, _ mode: ResizeMode
    ) -> PixelSize {
        switch mode {
        case .stretch where box.isPositive: wanted.part(of: source)
        case .reshape where box.isPositive: inside(source, box)
        default: source
        }
    }

    /// Returns the size without regard to enlargement.
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

    /// Returns the largest size of the source's aspect ratio inside the box: one side is that of
    /// the box.
    static func inside(_ box: PixelSize, _ source: PixelSize) -> PixelSize {
        widthBinds(box, source)
            ? PixelSize(width: box.width, height: min(box.height, height(box, source)))
            : PixelSize(width: min(box.width, width(box, source)), height: box.height)
    }

    /// Returns the smallest size of the source's aspect ratio that covers the box.
    static func around(_ box: PixelSize, _ source: PixelSize) -> PixelSize {
        widthBinds(box, source)
            ? PixelSize(width: max(box.width, width(box, source)), height: box.height)
            : PixelSize(width: box.width, height: max(box.height, height(box, source)))
    }

    /// Returns whether the source is relatively wider than the box.
    private static func widthBinds(_ box: PixelSize, _ source: PixelSize) -> Bool {
        source.width * box.height >= source.height * box.width
    }

    private static func width(_ box: PixelSize, _ source: PixelSize) -> Int {
        rounded(source.width * box.height, over: source.height)
    }

    private static func height(_ box: PixelSize, _ source: PixelSize) -> Int {
        rounded(source.height * box.width, over: source.width)
    }

    /// Uses integers, so that halves are exact.
    private static func rounded(_ product: Int, over divisor: Int) -> Int {
        max(1, (product + divisor / 2) / divisor)
    }
}

extension ResizeMode {
    /// Returns whether the mode rotates the box for that image. Squares are never rotated.
    fileprivate func isTurned(_ source: PixelSize, _ box: PixelSize) -> Bool {
        guard self == .fitTurned || self == .coverTurned, box.isPositive else { return false }
        return (source.width < source.height && box.width > box.height)
            || (source.width > source.height && box.width < box.height)
    }
}

extension PixelSize {
    /// Whether the width is at least the height.
    fileprivate var isWide: Bool { width >= height }
}

/// Resizes the image; also implements thumbnails.
package struct ResizeStep: StepForm {
    /// The box in pixels. A side of 0 is open: it follows from the other one and the aspect ratio.
    package let box: PixelSize
    package let mode: ResizeMode
    package let enlarges: Bool

    package var name: String { "resize" }

    /// Modes from `fit` on are not SDWebImage's, nor is a mode with a non-default `enlarges`.
    package var key: String {
        let size = "{\(sixDecimals(box.width)),\(sixDecimals(box.height))}"
        guard enlarges == mode.enlarges, mode.rawValue <= ResizeMode.fit.rawValue else {
            return "ImagebusResizingTransformer(\(size),\(mode.rawValue),\(enlarges ? 1 : 0))"
        }
        return mode == .fit
            ? "ImagebusFitTransformer(\(size))"
            : "SDImageResizingTransformer(\(size),\(mode.rawValue))"
    }

    /// The pixels needed correspond to another mode if `enlarges` is not its default: an enlarging
    /// fit and a non-enlarging letterbox swap roles, and an enlarging reshape needs as many as a
    /// stretch.
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

    /// The size for any source; `nil` if it depends on the source.
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

/// Resizes to a box relative to the image, to a minimum size, or with a gravity other than the
/// center for the part that a fill retains.
package struct ResizeToStep: ValuedStep {
    /// The box; a side of 0 pixels is open.
    package var box: RelativeSize
    package var mode: ResizeMode
    /// Whether smaller images are enlarged; `nil` for the default of the mode.
    package var enlarges: Bool?
    /// The minimum size of the result, regardless of the box; a side of 0 is ignored.
    package var least: PixelSize
    /// The part that `fill` retains, in pixels of the image before the step.
    package var gravity: Gravity

    package var key: String {
        let enlarges = (enlarges ?? mode.enlarges) ? 1 : 0
        return "ImagebusResizeToTransformer({\(box)},\(mode.rawValue),\(enlarges),"
            + "{\(sixDecimals(least.width)),\(sixDecimals(least.height))},\(gravity))"
    }

    /// Saliency is computed on 8-bit samples.
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

    /// Returns the size to which the image is scaled, and the retained part; `nil` if the box is
    /// empty or too large.
    package func geometry(
        of source: PixelSize
    ) -> (scaled: PixelSize, output: PixelSize)? {
        let sides = 0...Int(Int32.max)
        guard let box = box.box(in: source), sides.contains(box.width), sides.contains(box.height),
            box.closed.isPositive, sides.contains(least.width), sides.contains(least.height)
        else { return nil }
        var scaled = ResizeGeometry(source: source, box: box, mode: mode, enlarges: enlarges).scaled
        if least.width > scaled.width || least.height > scaled.height {
            // Rounding changes the aspect ratio, so use that of the source.
            let shape = mode.keepsRatio ? source : scaled
            scaled = ResizeGeometry(source: shape, box: least, mode: .cover, enlarges: true).scaled
        }
        guard max(scaled.width, scaled.height) <= Int(Int32.max) else { return nil }
        let isCut = mode == .fill && box.isPositive
        return (scaled, isCut ? scaled.part(of: box) : scaled)
    }

    /// Returns the part of the scaled image that is retained; `nil` if it depends on the pixels.
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
                .invalidRequest, "resize-to: letterbox is not supported; use fit followed by pad"
            ) { $0.step = name }
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
        "resize-to", value: "WxH[,MODE][,enlarge][,MIN][,GRAVITY]",
        expected: "WIDTHxHEIGHT[,MODE][,enlarge][,MIN][,GRAVITY], sides of 1 to "
            + "\(RequestLimits.sideMax) pixels or up to 10000%, such as 50%x50% or "
            + "300x0,fit,200x200; GRAVITY is one of " + Gravity.expected, parse)
}

extension RelativeSize {
    /// Returns the box in pixels of an image; a side of 0 pixels remains open. Returns `nil` if
    /// both sides are open.
    fileprivate func box(in image: PixelSize) -> PixelSize? {
        guard isPermittedBox else { return nil }
        return PixelSize(width: width.box(in: image.width), height: height.box(in: image.height))
    }

    /// Whether the size is valid as the box of a resize.
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

/// Limits the size of the pixels in bytes, four per pixel, without enlarging: SDWebImage's byte
/// limit (SEMANTICS §11.18).
package struct ScaleDownStep: NumberStep {
    package var number: Int

    package static let traits = NumberTraits<Self>(
        "scale-down", "bytes", in: 1...RequestLimits.scaleDownBytesMax,
        key: "ImagebusScaleDownTransformer",
        expected: "bytes from 1 to \(RequestLimits.scaleDownBytesMax), such as 4000000"
    ) { .scaleDown(bytes: $0) }

    package init(_ number: Int) { self.number = number }

    package var demand: StepDemand { .area(max(1, pixels)) }

    /// The limit in pixels; 0 for fewer than four bytes.
    private var pixels: Int { number / 4 }

    package var takesDepth: Bool { true }

    package func size(after source: PixelSize) -> PixelSize? {
        resize(of: source).size(after: source)
    }

    package func nominalSize(after source: PixelSize?) -> PixelSize? { source }

    /// Returns the equivalent resize for an image of that size: the box is the largest with the
    /// image's aspect ratio and no more pixels, each side rounded down.
    package func resize(of source: PixelSize) -> ResizeStep {
        ResizeStep(box: source.box(ofPixels: pixels), mode: .fit, enlarges: false)
    }
}

extension PixelSize {
    /// Returns the largest box with the aspect ratio of this size (whose sides are positive) and at
    /// most `pixels` pixels. Each side is rounded down, at least 1 and at most 2³¹ − 1.
    func box(ofPixels pixels: Int) -> PixelSize {
        let ratio = Double(height) / Double(width)
        let columns = (Double(pixels) / ratio).squareRoot()
        func side(_ length: Double) -> Int { Int(min(max(1, length), Double(Int32.max))) }
        return PixelSize(width: side(columns), height: side(columns * ratio))
    }
}
