import ImageModel
import Messages

/// Which loads of a client are one message: who joined whom before it went.
///
/// A load leads as soon as another one joins it, and its token names what was sent until that has
/// ended, although it may leave before: then it leads and is no member.
struct SharedLoads {
    private struct Place {
        let leader: Token
        var priority: Priority
    }

    private struct Share {
        /// In the order in which they came, with some who left.
        var members: [Token]
        var count: Int
        /// How many want it how urgently.
        var wishes = [Int](repeating: 0, count: Priority.allCases.count)
    }

    /// A hash is spread already.
    private struct Hash: Hashable {
        let value: Int

        func _rawHashValue(seed: Int) -> Int { value ^ seed }
    }

    /// Of those who have not left.
    private var places: [Token: Place] = [:]
    /// By leader.
    private var shares: [Token: Share] = [:]
    /// What may still be joined, by hash.
    private var open: [Hash: Token] = [:]
    /// Of that, what is on its way to the socket.
    private var leaving: [Hash] = []

    /// Whether no load is shared.
    var isEmpty: Bool { shares.isEmpty }

    /// How many loads may still be joined.
    var openCount: Int { open.count }

    // MARK: - Joining

    /// The newest load of that hash that may be joined.
    func candidate(_ hash: Int) -> Token? { open[Hash(value: hash)] }

    /// A load of that hash may be joined from now on, in the place of the one before.
    mutating func open(_ hash: Int, _ token: Token) { open[Hash(value: hash)] = token }

    /// A load is given to the socket at the end of this turn.
    mutating func isLeaving(_ hash: Int, _ token: Token) {
        let hash = Hash(value: hash)
        if open[hash] == token { leaving.append(hash) }
    }

    /// What was to be sent was given to the socket: who comes now asks anew, since the coordinator
    /// may have answered already.
    mutating func closeLeaving() {
        guard !leaving.isEmpty else { return }
        for hash in leaving { open[hash] = nil }
        leaving.removeAll(keepingCapacity: true)
    }

    /// A load has ended that might have been joined.
    mutating func close(_ hash: Int, _ token: Token) {
        let hash = Hash(value: hash)
        if open[hash] == token { open[hash] = nil }
    }

    /// A load joins another one, which asks for the same.
    mutating func join(_ token: Token, _ priority: Priority, to leader: Token, _ its: Priority) {
        if shares[leader] == nil {
            shares[leader] = Share(members: [], count: 0)
            add(leader, its, to: leader)
        }
        add(token, priority, to: leader)
    }

    private mutating func add(_ token: Token, _ priority: Priority, to leader: Token) {
        places[token] = Place(leader: leader, priority: priority)
        shares[leader]?.members.append(token)
        shares[leader]?.count += 1
        shares[leader]?.wishes[Int(priority.rawValue)] += 1
    }

    // MARK: - Members

    /// Whom a load shares with; `nil` where it shares with nobody.
    func leader(of token: Token) -> Token? { isEmpty ? nil : places[token]?.leader }

    /// Whether it names what others share and has left them.
    func hasLeft(_ token: Token) -> Bool {
        !isEmpty && shares[token] != nil && places[token] == nil
    }

    /// Whether others share what goes by that token, or did before they left.
    func leads(_ token: Token) -> Bool { !isEmpty && shares[token] != nil }

    /// Who shares what that load leads, in the order in which they came; `nil` where it leads
    /// nothing.
    func members(of leader: Token) -> [Token]? {
        guard !isEmpty, let share = shares[leader] else { return nil }
        return share.members.filter { places[$0]?.leader == leader }
    }

    /// How many share what that load leads.
    func count(of leader: Token) -> Int { shares[leader]?.count ?? 0 }

    /// How urgently the most urgent member wants it.
    func priority(of leader: Token) -> Priority? {
        guard let wishes = shares[leader]?.wishes else { return nil }
        return wishes.lastIndex { $0 > 0 }.flatMap { Priority(rawValue: UInt8($0)) }
    }

    /// A member wants it more or less than before.
    mutating func set(_ priority: Priority, of token: Token) {
        guard let place = places[token] else { return }
        places[token]?.priority = priority
        shares[place.leader]?.wishes[Int(place.priority.rawValue)] -= 1
        shares[place.leader]?.wishes[Int(priority.rawValue)] += 1
    }

    /// A member leaves. Returns how many are left.
    mutating func leave(_ token: Token) -> Int {
        guard let place = places.removeValue(forKey: token) else { return 0 }
        guard var share = exchange(&shares[place.leader], with: nil) else { return 0 }
        share.count -= 1
        share.wishes[Int(place.priority.rawValue)] -= 1
        // Those who left are swept out once they are the most.
        if share.members.count > 2 * share.count + Self.leftMin {
            share.members.removeAll { places[$0]?.leader != place.leader }
        }
        shares[place.leader] = share
        return share.count
    }

    /// What a load leads has ended, with all who are members of it.
    mutating func end(_ leader: Token) {
        guard let share = shares.removeValue(forKey: leader) else { return }
        for token in share.members where places[token]?.leader == leader { places[token] = nil }
    }

    private static let leftMin = 16
}
