import Messages

/// Pending loads by token. Each load is looked up four times on its way, and a dictionary spends a
/// tenth of its time on a hash that withstands chosen keys: here the kernel chose them
/// (`TokenSource`).
///
/// Open addressing with linear probing; at most half of the places are taken.
struct LoadTable {
    private var places: [PendingLoad?] = Array(repeating: nil, count: placesMin)
    private(set) var count = 0

    private static let placesMin = 64

    var isEmpty: Bool { count == 0 }

    /// The load of that token.
    subscript(token: Token) -> PendingLoad? { places[place(of: token)] }

    /// Takes a load in; one of the same token goes.
    mutating func insert(_ load: PendingLoad) {
        if 2 * (count + 1) > places.count { grow() }
        let place = place(of: load.token)
        if places[place] == nil { count += 1 }
        places[place] = load
    }

    /// Takes a load out.
    @discardableResult
    mutating func remove(_ token: Token) -> PendingLoad? {
        let place = place(of: token)
        guard let load = exchange(&places[place], with: nil) else { return nil }
        count -= 1
        close(place)
        return load
    }

    mutating func removeAll() { self = LoadTable() }

    /// Where a load is, or would be entered.
    private func place(of token: Token) -> Int {
        var place = home(of: token)
        while let load = places[place], load.token != token { place = next(place) }
        return place
    }

    /// Where the search for a token begins.
    private func home(of token: Token) -> Int {
        Int(truncatingIfNeeded: token.value.low) & (places.count - 1)
    }

    private func next(_ place: Int) -> Int { (place + 1) & (places.count - 1) }

    /// Moves up what was entered behind a place that is free now, so that it is still found.
    private mutating func close(_ freed: Int) {
        var (free, place) = (freed, next(freed))
        while let load = places[place] {
            let mask = places.count - 1
            if (place - home(of: load.token)) & mask >= (place - free) & mask {
                places.swapAt(free, place)
                free = place
            }
            place = next(place)
        }
    }

    private mutating func grow() {
        let loads = exchange(&places, with: Array(repeating: nil, count: 2 * places.count))
        for case let load? in loads { places[place(of: load.token)] = load }
    }
}

extension LoadTable: Sequence {
    func makeIterator() -> some IteratorProtocol<PendingLoad> {
        places.lazy.compactMap(\.self).makeIterator()
    }
}
