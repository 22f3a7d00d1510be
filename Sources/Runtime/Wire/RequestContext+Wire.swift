import CMessages
import ImageModel
import Messages

private let nameMax = RequestLimits.nameBytesMax

extension RequestContext {
    /// An absent message says nothing.
    init(_ wire: UnsafeMutablePointer<Imagebus__V1__Context>?, _ read: FieldReader)
        throws(WireError)
    {
        self.init()
        guard let part = wire?.pointee else { return }
        profile = try read.name(part.profile, "Context.profile")
        cache = try read.name(part.cache, "Context.cache")
        originalCache = try read.name(part.original_cache, "Context.original_cache")
        loader = try read.name(part.loader, "Context.loader")
        key = try BaseKey(part, read)
        serializer = try part.serializer.map { part throws(WireError) in
            try Serializer(part.pointee, read)
        }
        if part.maybe_scale_factor_case.rawValue != 0 {
            scaleFactor = try read.finite(part.scale_factor, "Context.scale_factor")
        }
        preset = try read.name(part.preset, "Context.preset")
        withoutTransformer = part.without_transformer != 0
        fallback = try part.fallback.map { part throws(WireError) in
            try Fallback(part.pointee, read)
        }
        others = try Self.others(part, read)
    }

    /// `nil` where it says nothing.
    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Context>?
    {
        if isEmpty { return nil }
        let wire = try write.make(imagebus__v1__context__init)
        wire.pointee.profile = try write.name(profile, "Context.profile")
        wire.pointee.cache = try write.name(cache, "Context.cache")
        wire.pointee.original_cache = try write.name(originalCache, "Context.original_cache")
        wire.pointee.loader = try write.name(loader, "Context.loader")
        try key?.put(into: &wire.pointee, write)
        wire.pointee.serializer = try serializer.map { part throws(WireError) in
            try part.wire(write)
        }
        if let scaleFactor {
            wire.pointee.maybe_scale_factor_case =
                IMAGEBUS__V1__CONTEXT__MAYBE_SCALE_FACTOR_SCALE_FACTOR
            wire.pointee.scale_factor = try write.finite(scaleFactor, "Context.scale_factor")
        }
        wire.pointee.preset = try write.name(preset, "Context.preset")
        wire.pointee.without_transformer = withoutTransformer ? 1 : 0
        wire.pointee.fallback = try fallback.map { part throws(WireError) in
            try part.wire(write)
        }
        try putOthers(into: &wire.pointee, write)
        return wire
    }

    private static func others(_ wire: Imagebus__V1__Context, _ read: FieldReader)
        throws(WireError) -> [String: String]
    {
        let pairs = try read.list(
            wire.n_others, wire.others, "Context.others", limit: RequestLimits.otherOptionsMax
        ) { part throws(WireError) in
            (
                try read.text(part.name, "Detail.name", limit: nameMax),
                try read.text(
                    part.value, "Detail.value", limit: RequestLimits.otherOptionBytesMax)
            )
        }
        let others = Dictionary(pairs) { first, _ in first }
        guard others.count == pairs.count else { throw .field("Context.others", .duplicate) }
        return others
    }

    private func putOthers(into wire: inout Imagebus__V1__Context, _ write: FieldWriter)
        throws(WireError)
    {
        guard !others.isEmpty else { return }
        wire.n_others = others.count
        wire.others = try write.list(
            others.sorted { $0.key < $1.key }, "Context.others",
            limit: RequestLimits.otherOptionsMax
        ) { option throws(WireError) in
            let wire = try write.make(imagebus__v1__detail__init)
            wire.pointee.name = try write.text(option.key, "Detail.name", limit: nameMax)
            wire.pointee.value = try write.text(
                option.value, "Detail.value", limit: RequestLimits.otherOptionBytesMax)
            return wire
        }
    }
}

extension BaseKey {
    fileprivate init?(_ wire: Imagebus__V1__Context, _ read: FieldReader) throws(WireError) {
        switch wire.maybe_key_case {
        case IMAGEBUS__V1__CONTEXT__MAYBE_KEY_KEY_FILTER:
            self = .filter(
                try read.text(wire.key_filter, "Context.key_filter", limit: nameMax))
        case IMAGEBUS__V1__CONTEXT__MAYBE_KEY_BASE_KEY:
            self = .text(
                try read.text(
                    wire.base_key, "Context.base_key", limit: RequestLimits.urlBytesMax))
        default: return nil
        }
    }

    fileprivate func put(into wire: inout Imagebus__V1__Context, _ write: FieldWriter)
        throws(WireError)
    {
        switch self {
        case .filter(let name):
            wire.maybe_key_case = IMAGEBUS__V1__CONTEXT__MAYBE_KEY_KEY_FILTER
            wire.key_filter = try write.text(name, "Context.key_filter", limit: nameMax)
        case .text(let text):
            wire.maybe_key_case = IMAGEBUS__V1__CONTEXT__MAYBE_KEY_BASE_KEY
            wire.base_key = try write.text(
                text, "Context.base_key", limit: RequestLimits.urlBytesMax)
        }
    }
}
