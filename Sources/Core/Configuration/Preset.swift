public import ImageModel

/// Steps and output under one name.
public struct Preset: Hashable, Sendable {
    /// Reduce while decoding.
    public var thumbnail: Thumbnail?
    /// Steps in order.
    public var steps: [TransformStep] = []
    /// How the result is encoded.
    public var output = OutputOptions()

    /// Does nothing.
    public init() {}

    /// Gives a request what it does not say itself.
    func complete(_ request: inout ImageRequest) {
        if request.thumbnail == nil { request.thumbnail = thumbnail }
        if request.steps.isEmpty { request.steps = steps }
        if request.output.isDefault { request.output = output }
    }

    /// Takes the place of what a request says.
    func replace(_ request: inout ImageRequest) {
        (request.thumbnail, request.steps, request.output) = (thumbnail, steps, output)
    }
}
