/// How many connections each address has, and whether it may have one more.
struct PeerConnections {
    /// Connections of one address; 0: any number.
    let most: Int
    private var counts: [PeerAddress: Int] = [:]

    init(most: Int) { self.most = most }

    /// Whether it has as many as it may have. A Unix socket has no addresses to count.
    func isFull(_ peer: PeerAddress) -> Bool {
        most > 0 && peer != .unix && counts[peer, default: 0] >= most
    }

    mutating func add(_ peer: PeerAddress) {
        guard most > 0, peer != .unix else { return }
        counts[peer, default: 0] += 1
    }

    mutating func remove(_ peer: PeerAddress) {
        guard let count = counts[peer] else { return }
        counts[peer] = count > 1 ? count - 1 : nil
    }
}
