/// One step of a transformation; the steps of a request run in the order given.
public enum TransformStep: Hashable, Sendable {
    /// Scale to a box in pixels, of which one side may be 0: it follows from the other one by the
    /// ratio of the image, whatever the mode. `enlarges` says whether a smaller image becomes
    /// larger.
    case resize(PixelSize, ResizeMode, enlarges: Bool)
    /// Scale to a box that may be a part of the image, of 10,000 % at most; a side of 0 pixels is
    /// open. `enlarges` is as the mode does where it is not said. The result is at least as large
    /// as `least`, whose sides of 0 say nothing. Of what it fills `fill` keeps what counts most, in
    /// pixels of the image before the step where the gravity has such. `letterbox` is refused.
    case resizeTo(
        RelativeSize, ResizeMode, enlarges: Bool? = nil,
        least: PixelSize = PixelSize(width: 0, height: 0), Gravity = .center)
    /// Scale down, the ratio kept, until the pixels take so many bytes at most, four each.
    case scaleDown(bytes: Int)
    /// Cut a rectangle out; it is intersected with the image first.
    case crop(PixelRect)
    /// Turn about the centre.
    case rotate(Rotation)
    /// Mirror left to right, top to bottom, or both.
    case flip(horizontal: Bool, vertical: Bool)
    /// Lay another image over it.
    case overlay(Overlay)
    /// Take a part of that size, the one that counts most.
    case cropTo(RelativeSize, Gravity)
    /// Take the largest part of that ratio, the one that counts most.
    case cropRatio(AspectRatio, Gravity)
    /// Cut off an edge of one colour, from which no sample of it differs by more than `tolerance`
    /// (0 to 255); no colour: that of the top left corner.
    case trim(tolerance: Double, Colour? = nil)
    /// Put the image on a canvas of at least that size.
    case pad(PixelSize, Gravity, Colour)
    /// Put the image on the smallest canvas of that ratio.
    case padRatio(AspectRatio, Gravity, Colour)
    /// Add margins.
    case extend(Margins, MarginFill)
    /// Lay the image over an opaque colour, which shows where the image is transparent.
    case flatten(Colour)
    /// Take the colours out.
    case grayscale
    /// Make it brown, as old photographs are.
    case sepia
    /// Turn dark into light and each colour into its complement.
    case invert
    /// Add so many hundredths of white, -100 to 100.
    case brightness(Double)
    /// Spread the tones from the middle, -100 (all grey) to 100.
    case contrast(Double)
    /// Make colours stronger by so many hundredths, -100 (none) to 100.
    case saturation(Double)
    /// Raise tones to the power of 1 by this: above 1 is lighter.
    case gamma(Double)
    /// Blur by a Gaussian of that radius.
    case blur(radius: Double)
    /// Make the edges stand out by what a blur of that radius takes away.
    case sharpen(radius: Double)
    /// Show squares of that side in one colour each.
    case pixelate(Int)
    /// Darken the edges by so many hundredths in the corners.
    case vignette(Double)
    /// Cut corners off in quarters of a circle, of half the shorter side at most, and draw a line
    /// of so many pixels along the edge where there is a colour for it.
    case round(radius: Double, Corners = .all, border: Double = 0, Colour? = nil)
    /// Lay a colour over it, or under it, as the mode says; one that is not seen at all leaves it.
    case tint(Colour, BlendMode = .sourceIn)
    /// Let a worker do what none of ours does.
    case custom(CustomStep)

    /// Scale to a box in pixels; a smaller image becomes larger in all modes but `fit`.
    public static func resize(_ box: PixelSize, _ mode: ResizeMode) -> TransformStep {
        .resize(box, mode, enlarges: mode.enlarges)
    }

    /// Whether it scales to a box.
    package var isResize: Bool {
        switch self {
        case .resize, .resizeTo: true
        default: false
        }
    }

    /// Whether a worker of somebody else does it.
    package var isCustom: Bool {
        if case .custom = self { true } else { false }
    }

    /// All that is known of it, apart from its pixels.
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
        case .trim(let tolerance, let colour): TrimStep(tolerance: tolerance, colour: colour)
        case .pad(let size, let gravity, let colour):
            PadStep(size: size, gravity: gravity, colour: colour)
        case .padRatio(let ratio, let gravity, let colour):
            PadRatioStep(ratio: ratio, gravity: gravity, colour: colour)
        case .extend(let margins, let fill): ExtendStep(margins: margins, fill: fill)
        case .flatten(let colour): FlattenStep(colour: colour)
        case .grayscale: GrayscaleStep()
        case .sepia: SepiaStep()
        case .invert: InvertStep()
        case .brightness(let amount): BrightnessStep(amount)
        case .contrast(let amount): ContrastStep(amount)
        case .saturation(let amount): SaturationStep(amount)
        case .gamma(let exponent): GammaStep(exponent)
        case .blur(let radius): BlurStep(radius)
        case .sharpen(let radius): SharpenStep(radius)
        case .pixelate(let side): PixelateStep(side)
        case .vignette(let amount): VignetteStep(amount)
        case .round(let radius, let corners, let border, let colour):
            RoundStep(radius: radius, corners: corners, border: border, colour: colour)
        case .tint(let colour, let mode): TintStep(colour: colour, mode: mode)
        case .custom(let step): step
        }
    }

    /// How people write steps, in the order of the help. A resize has a mode beside it, which is an
    /// option of its own.
    package static let syntaxes =
        [CropStep.syntax, RotateStep.syntax, FlipStep.syntax] + valued.map { $0.syntax }
        + [OverlayStep.syntax, CustomStep.syntax]

    /// The steps that have a name on the wire and no message.
    private static let valued: [any ValuedStep.Type] = [
        ResizeToStep.self, ScaleDownStep.self, CropToStep.self, CropRatioStep.self, TrimStep.self,
        PadStep.self, PadRatioStep.self, ExtendStep.self, FlattenStep.self, GrayscaleStep.self,
        SepiaStep.self, InvertStep.self,
        BrightnessStep.self, ContrastStep.self, SaturationStep.self, GammaStep.self,
        BlurStep.self, SharpenStep.self, PixelateStep.self, VignetteStep.self, RoundStep.self,
        TintStep.self,
    ]

    /// The steps that workers of the own program do, by name.
    package static let ownNames =
        ["resize"] + syntaxes.map(\.name).filter { $0 != CustomStep.syntax.name }
}

extension TransformStep {
    /// SDWebImage's transformer key (SEMANTICS §4.5); what upstream does not have has a name of its
    /// own. Keys know an overlay by the name of its original (`CacheKey`).
    public var key: String { form.key }

    /// The word for this step in errors and on the command line.
    public var name: String { form.name }

    /// A step by its name on the wire; `nil` for a name without a point, which is one of ours, that
    /// this version does not know, and for parameters that the step does not have.
    package init?(named name: String, parameters: [String: String]) {
        if CustomStep.isName(name) {
            self = .custom(CustomStep(name, parameters: parameters))
        } else {
            guard let step = Self.valued.first(where: { $0.syntax.name == name })?.read(parameters)
            else { return nil }
            self = step
        }
    }

    /// The size of what the step makes of an image of that size; `nil` where it makes nothing of
    /// it, or where the numbers are beyond all limits.
    public func size(after source: PixelSize) -> PixelSize? {
        guard source.isPositive, max(source.width, source.height) <= Int(Int32.max) else {
            return nil
        }
        return form.size(after: source)
    }
}

/// One kind of step without its pixels: all that keys, limits, sizes and decoders need to know
/// about it. `Transforming` computes its pixels.
package protocol StepForm: Hashable, Sendable {
    /// The word for it in errors.
    var name: String { get }

    /// The transformer key (SEMANTICS §4.5).
    var key: String { get }

    /// What it asks of the pixels of the source, as the first step of those that ask for something.
    var demand: StepDemand { get }

    /// The size of what it makes of an image of that size, whose sides are from 1 to 2³¹ − 1; `nil`
    /// where it makes nothing of it.
    func size(after source: PixelSize) -> PixelSize?

    /// Whether the size depends on what the pixels show: it is that of `size(after:)` at most.
    var looksForItsSize: Bool { get }

    /// The same as far as it is known: `source` is `nil` where the size is not known so far.
    func nominalSize(after source: PixelSize?) -> PixelSize?

    /// The same with so many pixels for each of its pixels; `nil` where it counts none.
    func scaled(by ratio: Double) -> TransformStep?

    /// Whether it takes samples of more than 8 bits, whatever their colours are.
    var takesDepth: Bool { get }

    /// Throws what it is refused for before anything is loaded; `pixelsMax` is the limit of an
    /// image.
    func check(pixelsMax: Int) throws(ImageError)
}

extension StepForm {
    /// Most steps change pixels and leave the size.
    package func size(after source: PixelSize) -> PixelSize? { source }

    package func nominalSize(after source: PixelSize?) -> PixelSize? { source }

    package var looksForItsSize: Bool { false }

    package var takesDepth: Bool { false }

    package func scaled(by ratio: Double) -> TransformStep? { nil }

    /// Most steps need to know of each pixel only what it shows.
    package var demand: StepDemand { .nothing }

    package func check(pixelsMax: Int) throws(ImageError) {}
}

/// What a step asks of the pixels of the source.
package enum StepDemand: Hashable, Sendable {
    /// Nothing: it does the same to fewer of them.
    case nothing
    /// Nothing, and it exchanges columns and rows.
    case transposition
    /// As many as a resize uses.
    case box(PixelSize, ResizeMode)
    /// So many of them, at least 1, as far as there are more.
    case area(Int)
    /// All of them.
    case everything
}

/// A step that is on the wire under its name, with its parameters as texts, and needs no message of
/// its own there. `TransformStep(named:parameters:)` reads it.
package protocol NamedStep: StepForm {
    /// What it is given, by name.
    var parameters: [String: String] { get }
}

extension NamedStep {
    package var parameters: [String: String] { [:] }
}

/// How people write a step: the option of the command line and the key of a preset, which have the
/// same name and the same text.
package struct StepSyntax: Sendable {
    /// The word.
    package let name: String
    /// What stands for the value in the help; `nil`: the step has none.
    package let value: String?
    /// What the help says.
    package let help: String
    /// What an error says of the value.
    package let expected: String
    /// The step of a value, which is empty where it has none; `nil` for other texts.
    package let parse: @Sendable (String) -> TransformStep?
    /// Which part of a text that is none is wrong; `nil` where that is not known.
    package var fault: @Sendable (String) -> String? = { _ in nil }

    /// A step with a value.
    init(
        _ name: String, value: String, _ help: String, expected: String,
        _ parse: @escaping @Sendable (String) -> TransformStep?
    ) {
        (self.name, self.value, self.help) = (name, value, help)
        (self.expected, self.parse) = (expected, parse)
    }

    /// A step without one.
    init(_ name: String, _ help: String, _ step: TransformStep) {
        (self.name, value, self.help, expected) = (name, nil, help, "")
        parse = { $0.isEmpty ? step : nil }
    }
}

extension PixelSize {
    /// Throws where a step may not have it as its box.
    func checkAsBox(of step: String) throws(ImageError) {
        guard isPositive else {
            throw ImageError(.invalidRequest, "\(step): width and height must be positive")
        }
        guard max(width, height) <= RequestLimits.sideMax else {
            throw .tooLarge(step, limit: RequestLimits.sideMax, "pixels a side")
        }
    }
}

extension ImageError {
    static func tooLarge(_ step: String, limit: Int, _ unit: String) -> ImageError {
        ImageError(
            .limitExceeded, "\(step): at most \(limit) \(unit) are accepted",
            details: ["limit": "\(limit)", "step": step])
    }
}

/// A whole number in a transformer key.
func sixDecimals(_ value: Int) -> String { "\(value).000000" }

/// A step that no worker of this project does: its name says whose it is, and a worker that is
/// granted it knows what it means. It leaves the size of the image.
public struct CustomStep: Hashable, Sendable {
    /// `vendor.step`: words of small letters, digits, `_` and `-` with points between them, at
    /// least one of those, so that no step of this project is ever called so.
    public let name: String
    /// Values by name; their order says nothing.
    public let parameters: [String: String]

    /// Takes any texts; those that may not be are refused with the request.
    public init(_ name: String, parameters: [String: String] = [:]) {
        (self.name, self.parameters) = (name, parameters)
    }

    /// `vendor.step` or `vendor.step:KEY=VALUE,…`; `nil` for anything else.
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
    /// Values have no character that a key could be taken apart at.
    package var key: String {
        let texts = parameters.sorted { $0.key < $1.key }.map { ",\($0.key)=\($0.value)" }
        return "ImagebusCustomTransformer(\(name)\(texts.joined()))"
    }

    /// Nobody here knows what it does.
    package var demand: StepDemand { .everything }

    package func check(pixelsMax: Int) throws(ImageError) {
        guard isValid else {
            throw ImageError(
                .invalidRequest,
                "custom: expected \(Self.syntax.expected); at most \(RequestLimits.parametersMax) "
                    + "parameters, \(RequestLimits.nameBytesMax) bytes of each name and "
                    + "\(RequestLimits.parameterBytesMax) of each value")
        }
    }

    /// Why it is not done.
    package var notGranted: ImageError {
        ImageError(
            .stepFailed,
            "no worker here is granted the step \(name): leave it out, or ask the operator",
            details: ["step": name])
    }

    static let syntax = StepSyntax(
        "custom", value: "NAME[:K=V,...]",
        "a step that a worker of the operator's does (repeatable)",
        expected: "VENDOR.STEP[:KEY=VALUE,...] of letters, digits, '.', '_', '-' and, in values, "
            + "'+', such as acme.denoise:strength=0.5"
    ) { CustomStep($0).map { .custom($0) } }
}

extension CustomStep {
    /// Whether a step of somebody else may be called so.
    package static func isName(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= RequestLimits.nameBytesMax && words.count > 1
            && words.allSatisfy { !$0.isEmpty && $0.allSatisfy(Self.nameBytes.contains) }
    }

    /// Whether name and parameters are within their limits.
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
