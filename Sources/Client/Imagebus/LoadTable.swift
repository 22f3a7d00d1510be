import Messages

/// Pending loads by token.
///
/// Each load is looked up four times on its way. A dictionary of tokens would spend a tenth of a
/// hit's instructions on a hash that withstands chosen keys. The kernel chose these
/// (`TokenSource`), so their bits are spread, as those of issued numbers are.
struct LoadTable {
    private struct Key: Hashable {
        let token: Token

        func _rawHashValue(seed: Int) -> Int { token.value.low.spread(seed: seed) }
    }

    private var loads: [Key: PendingLoad] = [:]

    var isEmpty: Bool { loads.isEmpty }
    var count: Int { loads.count }

    /// The load of that token.
    subscript(token: Token) -> PendingLoad? { loads[Key(token: token)] }

    /// Takes a load in; one of the same token goes.
    mutating func insert(_ load: PendingLoad) { loads[Key(token: load.token)] = load }

    /// Takes a load out.
    @discardableResult
    mutating func remove(_ token: Token) -> PendingLoad? {
        loads.removeValue(forKey: Key(token: token))
    }

    mutating func removeAll() { loads.removeAll() }
}

extension LoadTable: Sequence {
    /// In no order.
    func makeIterator() -> some IteratorProtocol<PendingLoad> { loads.values.makeIterator() }
}
