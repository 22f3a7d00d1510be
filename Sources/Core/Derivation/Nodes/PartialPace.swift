import Messages

/// When another look at what has arrived of a source is worth its work (SEMANTICS §2.11).
///
/// A look makes a partial image for each result that wants one and finds a free worker. The next
/// one comes when all of those have ended, enough more bytes are here, and three times as long has
/// passed as they took. So partial images of a source take a worker a quarter of the time at most,
/// and slow bytes cost no more looks than fast ones: some for each doubling of what is here.
struct PartialPace: Sendable {
    /// How a partial image ended.
    enum End: Sendable {
        /// Somebody saw something new.
        case shown
        /// It failed, or there was nothing to be seen yet.
        case fruitless
        /// Nobody wanted it any more, or other work needed its worker.
        case left
    }

    /// Bytes that were here at the last look.
    private var bytes: UInt64 = 0
    /// What the last look began and is under way.
    private(set) var underWay = 0
    /// Milliseconds of worker that the last look took so far.
    private var milliseconds = 0
    private var hasShown = false
    private var hasFailed = false
    /// Looks without fruit since the last one that had some.
    private var fruitless = 0
    /// The next look comes no earlier.
    private var resumes = Instant(nanoseconds: 0)

    /// A look is worth it where the bytes have grown by one part in so many, and by so many bytes.
    private static let growthDivisor: UInt64 = 16
    private static let growthMin: UInt64 = 1_024
    /// For a millisecond of work there are so many without.
    private static let restFactor = 3
    /// Milliseconds of the pause that doubles from one look without fruit to the next, at least
    /// and at most.
    private static let pauseMin = 50
    private static let pauseMax = 10_000
    private static let doublingsMax = 8

    /// Whether it is time for a look at so many bytes of a transfer; 0 `expected`: nobody said how
    /// many will come.
    func permits(_ arrived: UInt64, of expected: UInt64, at now: Instant) -> Bool {
        guard underWay == 0, now >= resumes, arrived > bytes else { return false }
        guard bytes > 0 else { return true }
        let grown = arrived - bytes
        return grown >= bytes / Self.growthDivisor
            && (grown >= Self.growthMin || arrived == expected)
    }

    /// A look at so many bytes begins a partial image, perhaps one more.
    mutating func begins(of arrived: UInt64) {
        if underWay == 0 { (milliseconds, hasShown, hasFailed) = (0, false, false) }
        bytes = arrived
        underWay += 1
    }

    /// A partial image has ended; it took a worker so many milliseconds.
    mutating func ended(_ end: End, after milliseconds: Int, at now: Instant) {
        underWay -= 1
        self.milliseconds += milliseconds
        hasShown = hasShown || end == .shown
        hasFailed = hasFailed || end == .fruitless
        guard underWay == 0 else { return }
        if hasShown { fruitless = 0 } else if hasFailed { fruitless += 1 }
        resumes = now.adding(milliseconds: pause)
    }

    private var pause: Int {
        let least = Self.restFactor * milliseconds
        guard fruitless > 0 else { return least }
        let doubled = max(least, Self.pauseMin) << min(fruitless, Self.doublingsMax)
        return max(least, min(doubled, Self.pauseMax))
    }
}
