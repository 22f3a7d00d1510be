package import Messages

/// Whose share a client's session takes.
package enum ShareOwner: Hashable, Sendable {
    /// That of its process, of which all its sessions have one together.
    case process(Int32)
    /// Its own: which process it is nobody knows.
    case session(ClientID)

    package init(_ process: Int32?, _ session: ClientID) {
        self = process.map { .process($0) } ?? .session(session)
    }
}

/// Whose flows share what one may have.
package struct FlowOwner: Hashable, Comparable, Sendable {
    /// Whether it is about jobs that were given out before.
    let isReturned: Bool
    /// `nil` for the coordinator.
    let owner: ShareOwner?

    private var order: (UInt8, UInt8, UInt64) {
        let rank: UInt8 = isReturned ? 0 : 1
        switch owner {
        case nil: return (rank, 0, 0)
        case .process(let number): return (rank, 1, UInt64(UInt32(bitPattern: number)))
        case .session(let session): return (rank, 2, session.value)
        }
    }

    /// Processes and sessions have numbers that clients do not choose.
    package func _rawHashValue(seed: Int) -> Int {
        let (rank, kind, number) = order
        return (number << 3 | UInt64(rank << 2 | kind)).spread(seed: seed)
    }

    package static func < (left: FlowOwner, right: FlowOwner) -> Bool { left.order < right.order }
}
