/// Which connection of a gateway a descriptor stands for at the moment.
///
/// Descriptors are reused at once: a worker that died and one that has just connected may have the
/// same number. A session therefore belongs to descriptor *and* ordinal (DESIGN §1, §5).
struct ConnectionLedger {
    /// One connection, of all there ever were on this socket.
    struct Connection: Hashable {
        let descriptor: Int32
        let ordinal: UInt64
    }

    private var open: [Int32: UInt64] = [:]
    private var ordinals: UInt64 = 0

    /// The socket accepted a connection.
    mutating func accepted(_ descriptor: Int32) {
        ordinals += 1
        open[descriptor] = ordinals
    }

    /// A connection ended; `nil` where it was never accepted.
    mutating func ended(_ descriptor: Int32) -> Connection? {
        open.removeValue(forKey: descriptor).map {
            Connection(descriptor: descriptor, ordinal: $0)
        }
    }

    /// The open connection of a descriptor; `nil` where it has closed by now.
    func current(_ descriptor: Int32) -> Connection? {
        open[descriptor].map { Connection(descriptor: descriptor, ordinal: $0) }
    }

    /// Open connections.
    var count: Int { open.count }
}
