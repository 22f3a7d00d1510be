/// A cache on the disk that is measured.
protocol Side: AnyObject {
    /// Takes an image; may return before it is stored.
    func store(_ number: Int) throws
    /// Waits until all that was taken is stored.
    func finishStores() throws
    /// Reads an image; false where it is not there.
    func hit(_ number: Int) throws -> Bool
    /// Whether what was read last is that image, byte by byte. Lets go of it.
    func isRight(_ number: Int) -> Bool
    /// Begins to remove the oldest half, and goes on with it on the side.
    func beginTrim() throws
    /// Whether it is removed.
    func isTrimmed() -> Bool
    /// Ends what goes on.
    func stop()
}

extension Side {
    func store(_ number: Int) throws { throw BenchFailure("this side stores nothing") }
    func finishStores() throws {}
    func stop() {}
}
