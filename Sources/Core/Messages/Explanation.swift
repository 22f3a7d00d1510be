public import ImageModel

/// How a delivered image came about (SEMANTICS §11.24). For people and tests: nothing depends on
/// what workers say here.
public struct Explanation: Hashable, Sendable {
    /// The stages that the load may go through, in order; ways to the image are tried until one has
    /// it.
    public var plan: [String]
    /// Keys of the steps in order, the thumbnail first, as profile and rules made them; of an
    /// overlay the name alone. Each up to `MessageLimits.textBytesMax` bytes.
    public var steps: [String]
    /// What the encoder was told besides the format, by name; empty where nothing was encoded.
    public var settings: [String: String]
    /// How the source came; `nil`: it was not fetched.
    public var fetched: FetchAccount?
    /// What was decoded; `nil`: nothing was.
    public var decoded: DecodeAccount?
    /// How it was made; `nil`: nothing was encoded.
    public var transformed: TransformAccount?

    /// Nothing was fetched, decoded or encoded.
    public init(
        plan: [String] = [], steps: [String] = [], settings: [String: String] = [:],
        fetched: FetchAccount? = nil, decoded: DecodeAccount? = nil,
        transformed: TransformAccount? = nil
    ) {
        self.fetched = fetched
        self.plan = plan
        self.steps = steps
        self.settings = settings
        self.decoded = decoded
        self.transformed = transformed
    }

    /// Stages, steps and settings at most.
    package static let (stagesMax, stepsMax, settingsMax) = (16, RequestLimits.stepsMax + 1, 32)
}

/// What was decoded for an image.
public struct DecodeAccount: Hashable, Sendable {
    /// Of the source.
    public var format: ImageFormat
    /// Of the source, as it is displayed.
    public var size: PixelSize
    /// Columns and rows that were decoded, as they lie.
    public var pixels: PixelSize
    /// Decoded columns for each of the source: 1 is all of them, 0.125 a scale of 1/8; above 1 for
    /// what is drawn.
    public var scale: Double
    /// Whether brightness and colours came as planes of their own.
    public var isPlanar: Bool

    /// An account of a decode.
    public init(
        format: ImageFormat, size: PixelSize, pixels: PixelSize, scale: Double, isPlanar: Bool
    ) {
        self.format = format
        self.size = size
        self.pixels = pixels
        self.scale = scale
        self.isPlanar = isPlanar
    }

    /// That of pixels that lie like this; `nil` for a layout without planes.
    package init?(_ info: ImageInfo, _ layout: PixelLayout) {
        guard let first = layout.planes.first else { return nil }
        let stored = layout.orientation.transposes ? info.size.transposed : info.size
        self.init(
            format: info.format, size: info.size, pixels: first.size,
            scale: first.activeWidth / Double(max(1, stored.width)),
            isPlanar: layout.planes.count > 1)
    }
}

/// How a transformer made an image.
public struct TransformAccount: Hashable, Sendable {
    /// Whether planes were encoded as planes (the planar lane of SEMANTICS §11.5).
    public var isPlanar: Bool
    /// So many steps, the first ones, were one sampling of planes.
    public var foldedSteps: UInt32
    /// How often it was encoded; 0: not known.
    public var attempts: UInt32
    /// The quality, 0 to 100, that was found for a limit of bytes; `nil` where none was looked for.
    public var quality: UInt32?

    /// An account of a transformation; nothing is known unless it is said.
    public init(
        isPlanar: Bool = false, foldedSteps: UInt32 = 0, attempts: UInt32 = 0,
        quality: UInt32? = nil
    ) {
        self.quality = quality
        self.isPlanar = isPlanar
        self.foldedSteps = foldedSteps
        self.attempts = attempts
    }
}
