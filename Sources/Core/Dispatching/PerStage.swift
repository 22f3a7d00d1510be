public import Messages

/// One value for each stage.
public struct PerStage<Value: Hashable & Sendable>: Hashable, Sendable {
    /// Of stores, deliveries included.
    public var store: Value
    /// Of queries of a cache.
    public var query: Value
    /// Of transfers.
    public var fetch: Value
    /// Of decodes.
    public var decode: Value
    /// Of steps and encodes.
    public var transform: Value

    /// Names all of them.
    public init(store: Value, query: Value, fetch: Value, decode: Value, transform: Value) {
        (self.store, self.query, self.fetch) = (store, query, fetch)
        (self.decode, self.transform) = (decode, transform)
    }

    /// The value of one stage.
    public subscript(stage: JobStage) -> Value {
        switch stage {
        case .store: store
        case .query: query
        case .fetch: fetch
        case .decode: decode
        case .transform: transform
        }
    }
}
