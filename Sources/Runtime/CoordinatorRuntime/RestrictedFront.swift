import Configuration
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
        case .cache(let command) where command.action != .removeSelected:
            throw .unexpectedKind(.cacheCommand)
        // An operator's other commands are refused further on.
        default: break
        }
    }

    /// Throws for a removal that the operator does not permit, and for one of more than entries of
    /// one URL, one beginning of keys or one tag, in all caches and tiers.
    static func check(_ command: CacheCommand, _ permitted: FrontPermission) throws(ImageError) {
        guard permitted.removes else {
            throw ImageError(
                .invalidRequest,
                "at web/ nothing may be removed from the caches: permit it under "
                    + "profiles.web.front (removals), or give a gateway of this stack "
                    + "operator-tokens and operator-listen")
        }
        let selection = command.selection
        let isNamed = [selection.url, selection.prefix, selection.tag].count { $0 != nil } == 1
        let hasMore =
            selection.cache != nil || selection.olderThanSeconds != nil || command.tiers != .all
        guard isNamed, !hasMore else {
            throw ImageError(
                .invalidRequest,
                "at web/ a removal names a URL, a prefix or a tag, and neither a cache, a tier nor "
                    + "an age: connect at admin/ for others")
        }
    }

    /// Throws for a load that says what strangers have no say in, or more than the operator permits
    /// them.
    static func check(_ load: LoadRequest, _ permitted: FrontPermission) throws(ImageError) {
        let context = load.image.context
        let isNamed = [context.profile, context.cache, context.originalCache, context.loader]
            .contains { $0 != nil }
        try refuse(
            load.uploadBytes > UInt64(clamping: permitted.uploadBytesMax),
            "more than \(permitted.uploadBytesMax) bytes of its own (upload-bytes)")
        // Probes bring a small image along.
        try refuse(
            load.logContext.isProbe && !(1...probeBytesMax).contains(load.uploadBytes),
            "to be in no log, as probes are")
        try refuse(load.detach, "to go on without whoever asked")
        let headers = load.image.headers.filter {
            !permitted.headers.contains($0.name.lowercased())
        }
        try refuse(!headers.isEmpty, "these headers for the origin (headers)")
        let asking: RequestOptions = [.refreshCached, .fromLoaderOnly, .retryFailed]
        try refuse(
            !permitted.refreshes && load.uploadBytes == 0
                && !load.image.options.isDisjoint(with: asking),
            "the origin to be asked about what is fresh, or has failed (refresh)")
        let tags = context.tags.filter { tag in
            !(permitted.tagPrefix.map { tag.hasPrefix($0) } ?? false)
        }
        try refuse(!tags.isEmpty, "these tags (tag-prefix)")
        try refuse(isNamed, "a profile, caches or a loader by name")
        try refuse(context.key != nil, "a key of its own")
        try refuse(context.serializer != nil, "what is kept beside entries")
        try refuse(context.fallback != nil, "a fallback of its own")
    }

    /// Bytes of the image of a probe.
    private static let probeBytesMax: UInt64 = 1_024

    private static func refuse(_ isAsked: Bool, _ what: String) throws(ImageError) {
        guard isAsked else { return }
        throw ImageError(
            .invalidRequest,
            "at web/ no load may ask for \(what): permit it under profiles.web.front, or connect "
                + "at front/")
    }
}
