/// A piece of the program that meets bytes of strangers, and what must hold whatever they are.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Frames of every kind in every direction.
    case wire
    /// Workers that announce, close and answer what they like.
    case scheduler
    /// Texts that may be URLs.
    case url
    /// Requests, their keys and what admission says.
    case keys
    /// Small values that are computed from numbers of strangers.
    case values
    /// First bytes of images, read without a codec.
    case headers
    /// Files with frames, walked through without a codec.
    case animations
    /// First bytes of files that still arrive, through the codecs.
    case beginnings
    /// Bitmaps and icons, which are read without a library.
    case bitmaps
    /// Paths of URLs in the grammars of others.
    case grammars
    /// Fields of requests that say what a client accepts, has and wants, and names in answers.
    case webheaders

    /// Feeds the target. Throws where an invariant is broken; what traps is a failure as well.
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
