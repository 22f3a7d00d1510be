import ImageModel
import Messages

extension RandomValues {
    /// A name is not empty on the wire.
    mutating func name() -> String { "n" + text(RequestLimits.nameBytesMax - 1) }

    mutating func trace() -> TraceContext? {
        TraceContext(trace: identifier(), parent: number(), flags: number())
    }

    mutating func context() -> RequestContext {
        var context = RequestContext()
        context.profile = maybe { $0.name() }
        context.cache = maybe { $0.name() }
        context.originalCache = maybe { $0.name() }
        context.loader = maybe { $0.name() }
        context.key = maybe { $0.bool() ? .filter($0.name()) : .text($0.text(1_000)) }
        context.serializer = maybe { $0.serializer() }
        context.scaleFactor = maybe { $0.finite() }
        context.preset = maybe { $0.name() }
        context.withoutTransformer = bool()
        context.fallback = maybe { $0.fallback() }
        for _ in 0..<number(0...4) { context.others[text(100)] = text(200) }
        return context
    }

    private mutating func serializer() -> Serializer {
        switch number(0...2) {
        case 0: .asIs
        case 1: .transcode(word(), quality: maybe { $0.number() })
        default: .named(name())
        }
    }

    private mutating func fallback() -> Fallback {
        switch number(0...2) {
        case 0: .none
        case 1: .url(text(1_000))
        default: .colour(Colour(argb: number()))
        }
    }
}
