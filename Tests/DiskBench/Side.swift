/// A disk cache under test.
protocol Side: AnyObject {
    /// Accepts an image; may return before it is stored.
    func store(_ number: Int) throws
    /// Waits until all accepted images are stored.
    func finishStores() throws
    /// Reads an image; false on a miss.
    func hit(_ number: Int) throws -> Bool
    /// Whether the bytes read last are exactly that image. Releases them.
    func isRight(_ number: Int) -> Bool
    /// Starts removing the oldest half in the background.
    func beginTrim() throws
    /// Whether the removal is complete.
    func isTrimmed() -> Bool
    /// Stops the cache.
    func stop()
}

extension Side {
    func store(_ number: Int) throws { throw BenchFailure("this side stores nothing") }
    func finishStores() throws {}
    func stop() {}
}
