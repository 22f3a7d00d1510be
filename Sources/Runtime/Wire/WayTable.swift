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
    /// How many objects it has.
    public private(set) var count = 0
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

    @inlinable
    func set(_ hash: Int) -> Range<Int> {
        let first = (hash & setMask) * Self.ways
        return first..<(first + Self.ways)
    }

    /// The object of that hash for which `isMeant` holds.
    @inlinable
    public func find(_ hash: Int, where isMeant: (Object) -> Bool) -> Object? {
        for place in set(hash) {
            if let object = places[place], isMeant(object) { return object }
        }
        return nil
    }

    /// Enters an object, in the place of one for which `isOlder` holds, of none, or of any.
    public mutating func enter(_ object: Object, _ hash: Int, for isOlder: (Object) -> Bool) {
        let set = set(hash)
        if let place = set.first(where: { places[$0].map(isOlder) == true }) {
            places[place] = object
            return
        }
        turn &+= 1
        let free = set.first { places[$0] == nil }
        if free != nil { count += 1 }
        places[free ?? set.lowerBound + (turn & (Self.ways - 1))] = object
    }

    /// Takes out the objects of that hash for which `isMeant` holds.
    public mutating func remove(_ hash: Int, where isMeant: (Object) -> Bool) {
        for place in set(hash) { remove(at: place, where: isMeant) }
    }

    /// Takes out all objects for which `isMeant` holds.
    public mutating func removeAll(where isMeant: (Object) -> Bool) {
        for place in places.indices { remove(at: place, where: isMeant) }
    }

    private mutating func remove(at place: Int, where isMeant: (Object) -> Bool) {
        guard let object = places[place], isMeant(object) else { return }
        places[place] = nil
        count -= 1
    }

    /// All objects, in no order.
    public var all: [Object] { places.compactMap(\.self) }
}
