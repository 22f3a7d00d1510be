import Linux
import Synchronization

/// Who changes what a cache has under a key, one after the other, in the order in which the jobs
/// came; or who changes all keys. So what was removed is not put back by a store from before.
final class CacheTurns: Sendable {
    private struct Place {
        let number: UInt64
        /// `nil`: all keys.
        let key: String?
        var bell: Bell?
    }

    private struct Line {
        var places: [Place] = []
        var last: UInt64 = 0

        /// Whether nobody before it changes the same.
        func isFirst(_ index: Int) -> Bool {
            let key = places[index].key
            return !places[..<index].contains { key == nil || $0.key == nil || $0.key == key }
        }

        func index(_ number: UInt64) -> Int? { places.firstIndex { $0.number == number } }
    }

    /// What somebody waits for.
    private final class Bell: Sendable {
        let event: EventDescriptor
        init() throws(Errno) { event = try EventDescriptor() }
    }

    /// A place in the line, until its end or its last reference goes.
    final class Turn: Sendable {
        private let turns: CacheTurns
        private let number: UInt64

        fileprivate init(_ turns: CacheTurns, _ number: UInt64) {
            (self.turns, self.number) = (turns, number)
        }

        deinit { end() }

        /// Returns once those before it have ended. Throws what `check` throws, which is asked now
        /// and then: whoever is not wanted any more waits for nobody.
        func wait(_ check: () throws -> Void = {}) throws { try turns.wait(number, check) }

        /// Lets those behind it go on.
        func end() { turns.leave(number) }
    }

    private let line = Mutex(Line())

    /// The next place for a key; for all of them without one.
    func take(_ key: String?) -> Turn {
        let number = line.withLock { line in
            line.last += 1
            line.places.append(Place(number: line.last, key: key))
            return line.last
        }
        return Turn(self, number)
    }

    /// How many wait.
    var waitingCount: Int {
        line.withLock { line in line.places.count { $0.bell != nil } }
    }

    private func wait(_ number: UInt64, _ check: () throws -> Void) throws {
        if line.withLock({ line in line.index(number).map(line.isFirst) ?? true }) { return }
        let bell = try Bell()
        let isFirst = line.withLock { line in
            guard let index = line.index(number), !line.isFirst(index) else { return true }
            line.places[index].bell = bell
            return false
        }
        // Once it is the first it stays so: only those before it count.
        guard !isFirst else { return }
        let pause = Self.checkMilliseconds
        while try !bell.event.descriptor.wait(for: .readable, milliseconds: pause) { try check() }
    }

    /// Milliseconds between two looks of one who waits.
    private static let checkMilliseconds = 100

    private func leave(_ number: UInt64) {
        let bells = line.withLock { line in
            if let index = line.index(number) { line.places.remove(at: index) }
            var bells: [Bell] = []
            for index in line.places.indices where line.isFirst(index) {
                if let bell = line.places[index].bell { bells.append(bell) }
                line.places[index].bell = nil
            }
            return bells
        }
        for bell in bells { bell.event.signal() }
    }
}
