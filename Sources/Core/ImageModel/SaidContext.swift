/// A context that says something, shared by all copies of its request.
final class SaidContext: Hashable, Sendable {
    let context: RequestContext

    init(_ context: RequestContext) { self.context = context }

    static func == (one: SaidContext, other: SaidContext) -> Bool {
        one === other || one.context == other.context
    }

    func hash(into hasher: inout Hasher) { hasher.combine(context) }
}
