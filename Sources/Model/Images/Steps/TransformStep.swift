/// A step of a transformation; the steps of a request run in the given order.
public enum TransformStep: Hashable, Sendable {
    /// Scale to a box in pixels. One side may be 0, in which case it follows from the other one and
    /// the aspect ratio, whatever the mode. `enlarges` determines whether smaller images are
    /// enlarged.
    case resize(PixelSize, ResizeMode, enlarges: Bool)
    /// Scale to a box that may be relative to the image, up to 10,000 %; a side of 0 pixels is
    /// open. `enlarges` defaults to that of the mode. The result is at least as large as `least`,
    /// whose sides of 0 are ignored. The gravity selects the part that `fill` retains, in pixels of
    /// the image before the step. `letterbox` is rejected.
    case resizeTo(
        RelativeSize, ResizeMode, enlarges: Bool? = nil,
        least: PixelSize = PixelSize(width: 0, height: 0), Gravity = .center)
    /// Scale down with the aspect ratio preserved until the pixels fit into this number of bytes,
    /// four per pixel.
    case scaleDown(bytes: Int)
    /// Crop to a rectangle, which is intersected with the image first.
    case crop(PixelRect)
    /// Rotate about the center.
    case rotate(Rotation)
    /// Mirror horizontally, vertically, or both.
    case flip(horizontal: Bool, vertical: Bool)
    /// Composite another image over this one.
    case overlay(Overlay)
    /// Crop to that size around the gravity.
    case cropTo(RelativeSize, Gravity)
    /// Crop to the largest part of that aspect ratio around the gravity.
    case cropRatio(AspectRatio, Gravity)
    /// Trim edges of uniform color, whose samples differ from it by at most `tolerance` (0 to 255).
    /// Without a color that of the top left corner is used. `equal` names opposite edges from which
    /// equally much is removed.
    case trim(tolerance: Double, Color? = nil, equal: EqualMargins? = nil)
    /// Pad to a canvas of at least that size.
    case pad(PixelSize, Gravity, Color)
    /// Pad to the smallest canvas of that aspect ratio.
    case padRatio(AspectRatio, Gravity, Color)
    /// Add margins.
    case extend(Margins, MarginFill)
    /// Composite over an opaque color, which is visible where the image is transparent.
    case flatten(Color)
    /// Convert to grayscale.
    case grayscale
    /// Apply a sepia tone.
    case sepia
    /// Invert brightness and colors.
    case invert
    /// Add a percentage of white, -100 to 100.
    case brightness(Double)
    /// Change the contrast around the midtones, -100 (uniform gray) to 100.
    case contrast(Double)
    /// Change the saturation by a percentage, -100 (gray) to 100.
    case saturation(Double)
    /// Apply a gamma correction with the exponent 1/x; above 1 is lighter.
    case gamma(Double)
    /// Mix red, green and blue by a matrix.
    case colorMatrix(ColorMatrix)
    /// Multiply lightness and chroma by factors up to 10,000, and rotate the hue by degrees up to
    /// 360, in CIE LCh.
    case modulate(lightness: Double = 1, saturation: Double = 1, hue: Double = 0)
    /// Keep the lightness, and replace the colors by that of an opaque color, with an intensity
    /// from 0 to 1.
    case monochrome(Color, intensity: Double = 1)
    /// Apply a Gaussian blur with that standard deviation in pixels, 0 to 100.
    case blur(radius: Double)
    /// Sharpen by an unsharp mask of that radius, 0 to 10: add the difference from a blurred
    /// copy, multiplied by an amount from 0 to 100.
    case sharpen(radius: Double, amount: Double = 1)
    /// Pixelate into uniform squares of that side.
    case pixelate(Int)
    /// Darken the corners by a percentage.
    case vignette(Double)
    /// Round the corners with a radius of at most half the shorter side, and draw a border of that
    /// width in pixels if a color is given.
    case round(radius: Double, Corners = .all, border: Double = 0, Color? = nil)
    /// Blend with a color in that mode; a fully transparent color has no effect.
    case tint(Color, BlendMode = .sourceIn)
    /// Apply a step implemented by a plug-in.
    case custom(CustomStep)

    /// Scale to a box in pixels, enlarging smaller images according to the mode.
    public static func resize(_ box: PixelSize, _ mode: ResizeMode) -> TransformStep {
        .resize(box, mode, enlarges: mode.enlarges)
    }

    /// Whether the step scales to a box.
    package var isResize: Bool {
        switch self {
        case .resize, .resizeTo: true
        default: false
        }
    }

    /// Whether the step is performed by a plug-in.
    package var isCustom: Bool {
        if case .custom = self { true } else { false }
    }

    /// The properties of the step apart from its pixels.
    package var form: any StepForm {
        switch self {
        case .resize(let box, let mode, let enlarges):
            ResizeStep(box: box, mode: mode, enlarges: enlarges)
        case .resizeTo(let box, let mode, let enlarges, let least, let gravity):
            ResizeToStep(
                box: box, mode: mode, enlarges: enlarges, least: least, gravity: gravity)
        case .scaleDown(let bytes): ScaleDownStep(bytes)
        case .crop(let rect): CropStep(rect: rect)
        case .rotate(let rotation): RotateStep(rotation: rotation)
        case .flip(let horizontal, let vertical):
            FlipStep(horizontal: horizontal, vertical: vertical)
        case .overlay(let overlay): OverlayStep(overlay: overlay)
        case .cropTo(let size, let gravity): CropToStep(extent: size, gravity: gravity)
        case .cropRatio(let ratio, let gravity): CropRatioStep(ratio: ratio, gravity: gravity)
        case .trim(let tolerance, let color, let equal):
            TrimStep(tolerance: tolerance, color: color, equal: equal)
        case .pad(let size, let gravity, let color):
            PadStep(size: size, gravity: gravity, color: color)
        case .padRatio(let ratio, let gravity, let color):
            PadRatioStep(ratio: ratio, gravity: gravity, color: color)
        case .extend(let margins, let fill): ExtendStep(margins: margins, fill: fill)
        case .flatten(let color): FlattenStep(color: color)
        case .grayscale: GrayscaleStep()
        case .sepia: SepiaStep()
        case .invert: InvertStep()
        case .brightness(let amount): BrightnessStep(amount)
        case .contrast(let amount): ContrastStep(amount)
        case .saturation(let amount): SaturationStep(amount)
        case .gamma(let exponent): GammaStep(exponent)
        case .colorMatrix(let matrix): ColorMatrixStep(matrix: matrix)
        case .modulate(let lightness, let saturation, let hue):
            ModulateStep(lightness: lightness, saturation: saturation, hue: hue)
        case .monochrome(let color, let intensity):
            MonochromeStep(color: color, intensity: intensity)
        case .blur(let radius): BlurStep(radius)
        case .sharpen(let radius, let amount): SharpenStep(radius: radius, amount: amount)
        case .pixelate(let side): PixelateStep(side)
        case .vignette(let amount): VignetteStep(amount)
        case .round(let radius, let corners, let border, let color):
            RoundStep(radius: radius, corners: corners, border: border, color: color)
        case .tint(let color, let mode): TintStep(color: color, mode: mode)
        case .custom(let step): step
        }
    }

    /// The syntax of all steps, in the order of the help. A resize takes its mode from a separate
    /// option.
    package static let syntaxes =
        [CropStep.syntax, RotateStep.syntax, FlipStep.syntax] + valued.map { $0.syntax }
        + [OverlayStep.syntax, CustomStep.syntax]

    /// The steps that are identified by name on the wire and have no message of their own.
    static let valued: [any ValuedStep.Type] = [
        ResizeToStep.self, ScaleDownStep.self, CropToStep.self, CropRatioStep.self, TrimStep.self,
        PadStep.self, PadRatioStep.self, ExtendStep.self, FlattenStep.self, GrayscaleStep.self,
        SepiaStep.self, InvertStep.self,
        BrightnessStep.self, ContrastStep.self, SaturationStep.self, GammaStep.self,
        ColorMatrixStep.self, ModulateStep.self, MonochromeStep.self,
        BlurStep.self, SharpenStep.self, PixelateStep.self, VignetteStep.self, RoundStep.self,
        TintStep.self,
    ]

    /// The names of the steps performed by built-in workers.
    package static let ownNames =
        ["resize"] + syntaxes.map(\.name).filter { $0 != CustomStep.syntax.name }
}

extension TransformStep {
    /// SDWebImage's transformer key (SEMANTICS §4.5), or a key of our own for steps that SDWebImage
    /// lacks. In cache keys an overlay is represented by the key of its original (`CacheKey`).
    public var key: String { form.key }

    /// The name in errors and on the command line.
    public var name: String { form.name }

    /// Creates a step from its name on the wire; returns `nil` for an unknown name without a point,
    /// which would be a built-in step, and for parameters that the step doesn't have.
    package init?(named name: String, parameters: [String: String]) {
        if CustomStep.isName(name) {
            self = .custom(CustomStep(name, parameters: parameters))
        } else {
            guard let step = Self.valued.first(where: { $0.syntax.name == name })?.read(parameters)
            else { return nil }
            self = step
        }
    }

    /// Returns the size after the step for an image of that size; `nil` if the step fails for it,
    /// or if the numbers exceed all limits.
    public func size(after source: PixelSize) -> PixelSize? {
        guard source.isPositive, max(source.width, source.height) <= Int(Int32.max) else {
            return nil
        }
        return form.size(after: source)
    }
}

/// A kind of step apart from its pixels: its key, limits, sizes, and what decoders must know of it.
/// The pixel operation is implemented in `Transforming`.
package protocol StepForm: Hashable, Sendable {
    /// The name in errors.
    var name: String { get }

    /// The transformer key (SEMANTICS §4.5).
    var key: String { get }

    /// The demand on the pixels of the source if no earlier step has one.
    var demand: StepDemand { get }

    /// Returns the size after the step for an image of that size, with sides from 1 to 2³¹ − 1;
    /// `nil` if the step fails for it.
    func size(after source: PixelSize) -> PixelSize?

    /// Whether the size depends on the pixel values; `size(after:)` is then the maximum.
    var looksForItsSize: Bool { get }

    /// Returns the size as far as it is known in advance; `source` is `nil` if the size before the
    /// step is unknown.
    func nominalSize(after source: PixelSize?) -> PixelSize?

    /// Returns the step scaled by a pixel ratio; `nil` if it has no pixel values.
    func scaled(by ratio: Double) -> TransformStep?

    /// Whether the step supports samples of more than 8 bits in any color space.
    var takesDepth: Bool { get }

    /// Throws if the step is invalid, before anything is loaded; `pixelsMax` is the limit of an
    /// image.
    func check(pixelsMax: Int) throws(ImageError)
}

extension StepForm {
    /// Most steps change pixels and not the size.
    package func size(after source: PixelSize) -> PixelSize? { source }

    package func nominalSize(after source: PixelSize?) -> PixelSize? {
        source.map { size(after: $0) ?? $0 }
    }

    package var looksForItsSize: Bool { false }

    package var takesDepth: Bool { false }

    package func scaled(by ratio: Double) -> TransformStep? { nil }

    /// Steps that only move pixels work with any number of them.
    package var demand: StepDemand { .nothing }

    package func check(pixelsMax: Int) throws(ImageError) {}
}

/// The demand of a step on the pixels of the source.
package enum StepDemand: Hashable, Sendable {
    /// No particular number: the step has the same effect on a downscaled image.
    case nothing
    /// No particular number; swaps columns and rows.
    case transposition
    /// As many pixels as a resize uses.
    case box(PixelSize, ResizeMode)
    /// At least this number of pixels, if the source has as many; at least 1.
    case area(Int)
    /// Every pixel.
    case everything
}

/// A step encoded on the wire as its name and text parameters, without a message of its own.
/// Decoded by `TransformStep(named:parameters:)`.
package protocol NamedStep: StepForm {
    var parameters: [String: String] { get }
}

extension NamedStep {
    package var parameters: [String: String] { [:] }
}

/// The textual syntax of a step, shared by the command line option and the preset key of the same
/// name.
package struct StepSyntax: Sendable {
    package let name: String
    /// The placeholder of the value in the help; `nil` if the step has none.
    package let value: String?
    /// The description of a valid value in errors.
    package let expected: String
    /// Parses a value, which is empty for a step without one; returns `nil` for invalid texts.
    package let parse: @Sendable (String) -> TransformStep?
    /// Returns which part of an invalid text is wrong; `nil` if that is unknown.
    package var fault: @Sendable (String) -> String? = { _ in nil }

    /// A step with a value.
    init(
        _ name: String, value: String, expected: String,
        _ parse: @escaping @Sendable (String) -> TransformStep?
    ) {
        (self.name, self.value) = (name, value)
        (self.expected, self.parse) = (expected, parse)
    }

    /// A step without a value.
    init(_ name: String, _ step: TransformStep) {
        (self.name, value, expected) = (name, nil, "")
        parse = { $0.isEmpty ? step : nil }
    }
}

extension PixelSize {
    /// Throws if the size is invalid as the box of a step.
    func checkAsBox(of step: String) throws(ImageError) {
        try ImageError.require(isPositive, "\(step): width and height must be positive")
        guard max(width, height) <= RequestLimits.sideMax else {
            throw .tooLarge(step, limit: RequestLimits.sideMax, "pixels per side")
        }
    }
}

extension ImageError {
    static func tooLarge(_ step: String, limit: Int, _ unit: String) -> ImageError {
        ImageError(.limitExceeded, "\(step): at most \(limit) \(unit) are allowed") {
            $0.limit = "\(limit)"
            $0.step = step
        }
    }
}

/// Formats an integer for a transformer key.
func sixDecimals(_ value: Int) -> String { "\(value).000000" }

/// A step that no built-in worker performs: its name identifies the vendor, and it is performed by
/// a plug-in that is granted it. It preserves the size of the image.
public struct CustomStep: Hashable, Sendable {
    /// `vendor.step`: words of lowercase letters, digits, `_` and `-`, separated by at least one
    /// point, so that it never collides with a built-in step.
    public let name: String
    /// The parameters by name; their order is not significant.
    public let parameters: [String: String]

    /// Accepts any texts; invalid ones are rejected with the request.
    public init(_ name: String, parameters: [String: String] = [:]) {
        (self.name, self.parameters) = (name, parameters)
    }

    /// Parses `vendor.step` or `vendor.step:KEY=VALUE,…`; returns `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var parameters: [String: String] = [:]
        let pairs = parts.dropFirst().flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        for pair in pairs {
            let words = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard words.count == 2,
                parameters.updateValue(String(words[1]), forKey: String(words[0])) == nil
            else { return nil }
        }
        self.init(String(parts[0]), parameters: parameters)
        guard isValid else { return nil }
    }
}

extension CustomStep: NamedStep {
    /// Values contain no characters that delimit parts of a key.
    package var key: String {
        let texts = parameters.sorted { $0.key < $1.key }.map { ",\($0.key)=\($0.value)" }
        return "ImagebusCustomTransformer(\(name)\(texts.joined()))"
    }

    /// The effect is unknown, so every pixel is kept.
    package var demand: StepDemand { .everything }

    package func check(pixelsMax: Int) throws(ImageError) {
        try ImageError.require(
            isValid,
            "custom: expected \(Self.syntax.expected); at most \(RequestLimits.parametersMax) "
                + "parameters, \(RequestLimits.nameBytesMax) bytes per name and "
                + "\(RequestLimits.parameterBytesMax) per value")
    }

    /// The error if no worker is granted the step.
    package var notGranted: ImageError {
        ImageError(
            .stepFailed,
            "no worker is granted the step \(name): leave it out, or ask the operator to grant it"
        ) { $0.step = name }
    }

    static let syntax = StepSyntax(
        "custom", value: "NAME[:K=V,...]",
        expected: "VENDOR.STEP[:KEY=VALUE,...] of letters, digits, '.', '_', '-' and, in values, "
            + "'+', such as acme.denoise:strength=0.5"
    ) { CustomStep($0).map { .custom($0) } }
}

extension CustomStep {
    /// Returns whether the text is a valid name of a custom step.
    package static func isName(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= RequestLimits.nameBytesMax && words.count > 1
            && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(Self.nameBytes.contains) }
    }

    /// Whether name and parameters are valid.
    package var isValid: Bool {
        Self.isName(name) && parameters.count <= RequestLimits.parametersMax
            && parameters.allSatisfy { Self.isKey($0.key) && Self.isValue($0.value) }
    }

    private static func isKey(_ text: String) -> Bool {
        (1...RequestLimits.nameBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy(nameBytes.contains)
    }

    private static func isValue(_ text: String) -> Bool {
        (1...RequestLimits.parameterBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy(valueBytes.contains)
    }

    private static let nameBytes = Set("abcdefghijklmnopqrstuvwxyz0123456789_-".utf8)
    private static let valueBytes = nameBytes.union("ABCDEFGHIJKLMNOPQRSTUVWXYZ.+".utf8)
}
