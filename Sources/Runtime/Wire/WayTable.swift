/// Objects by hash, in a bounded number of places: each hash has a set of four, and where these are
/// taken a new object takes one of them in turn.
///
/// Four, since with one place each a quarter of 10,000 objects would drive another one out of
/// 32,768 places.
public struct WayTable<Object: AnyObject> {
    @usableFromInline
    var places: [Object?]
    @usableFromInline
    let setMask: Int
    /// Who goes next where a set is full.
    @usableFromInline
    var turn = 0

    @usableFromInline
    static var ways: Int { 4 }

    /// With `1 << bits` places, at least four.
    @inlinable
    public init(bits: Int) {
        let count = max(1 << bits, Self.ways)
        places = Array(repeating: nil, count: count)
        setMask = count / Self.ways - 1
    }

    /// The object of that hash for which `isMeant` holds.
    @inlinable
    public func find(_ hash: Int, where isMeant: (Object) -> Bool) -> Object? {
        let first = (hash & setMask) * Self.ways
        for place in first..<(first + Self.ways) {
            if let object = places[place], isMeant(object) { return object }
        }
        return nil
    }

    /// Enters an object, in the place of one for which `isOlder` holds, of none, or of any.
    @inlinable
    public mutating func enter(_ object: Object, _ hash: Int, for isOlder: (Object) -> Bool) {
        let set = (hash & setMask) * Self.ways..<((hash & setMask) + 1) * Self.ways
        if let place = set.first(where: { places[$0].map(isOlder) == true }) {
            places[place] = object
            return
        }
        turn &+= 1
        let free = set.first { places[$0] == nil }
        places[free ?? set.lowerBound + (turn & (Self.ways - 1))] = object
    }
}
