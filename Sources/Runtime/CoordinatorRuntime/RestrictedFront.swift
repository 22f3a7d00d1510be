import ImageModel
import Messages
import Wire

/// What a front end that speaks for strangers may ask for (SEMANTICS §14.11): it parses what they
/// send, and may have been broken into.
enum RestrictedFront {
    /// The profile of its loads, where the configuration has one of that name.
    static let profile = "web"

    /// Throws for a kind of message that is not for it.
    static func check(_ message: ClientMessage) throws(WireError) {
        switch message {
        case .prefetch: throw .unexpectedKind(.prefetch)
        // An operator's commands are refused further on.
        default: break
        }
    }

    /// Bytes that a load may bring along: enough for the image with which a front end finds out
    /// whether the stack works.
    static let canaryBytesMax: UInt64 = 1_024

    /// Throws for a load that says what strangers have no say in.
    static func check(_ load: LoadRequest) throws(ImageError) {
        let context = load.image.context
        let isNamed = [context.profile, context.cache, context.originalCache, context.loader]
            .contains { $0 != nil }
        try refuse(load.uploadBytes > canaryBytesMax, "bytes of its own")
        try refuse(load.detach, "to go on without whoever asked")
        try refuse(!load.image.headers.isEmpty, "headers for the origin")
        try refuse(isNamed, "a profile, caches or a loader by name")
        try refuse(context.key != nil, "a key of its own")
        try refuse(
            context.serializer != nil || !context.tags.isEmpty, "what is kept beside entries")
        try refuse(context.fallback != nil, "a fallback of its own")
    }

    private static func refuse(_ isAsked: Bool, _ what: String) throws(ImageError) {
        guard isAsked else { return }
        throw ImageError(
            .invalidRequest,
            "at web/ no load may ask for \(what): connect at front/ for that")
    }
}
