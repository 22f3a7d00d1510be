/// A component that processes untrusted bytes, and the invariants that must hold for all of them.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Frames of every kind in every direction.
    case wire
    /// Workers that announce, close and answer arbitrarily.
    case scheduler
    /// Texts that may be URLs.
    case url
    /// Requests, their keys and their admission.
    case keys
    /// Small values computed from untrusted numbers.
    case values
    /// First bytes of images, read without a codec.
    case headers
    /// Files with frames, scanned without a codec.
    case animations
    /// Partial files, decoded by the codecs.
    case beginnings
    /// Bitmaps and icons, which are read without a library.
    case bitmaps
    /// URL paths in the grammars of other servers.
    case grammars
    /// Request fields such as accepted formats, validators and ranges, and file names in responses.
    case webheaders

    /// Runs the target on `bytes`. Throws if an invariant is violated; a trap is a failure as well.
    public func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        switch self {
        case .wire: try WireTarget.run(bytes)
        case .scheduler: try SchedulerTarget.run(bytes)
        case .url: try URLTarget.run(bytes)
        case .keys: try KeyTarget.run(bytes)
        case .values: try ValueTarget.run(bytes)
        case .headers: try HeaderTarget.run(bytes)
        case .animations: try AnimationTarget.run(bytes)
        case .beginnings: try BeginningTarget.run(bytes)
        case .bitmaps: try BitmapTarget.run(bytes)
        case .grammars: try GrammarTarget.run(bytes)
        case .webheaders: try WebHeaderTarget.run(bytes)
        }
    }
}
