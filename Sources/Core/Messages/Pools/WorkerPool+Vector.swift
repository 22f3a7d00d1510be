package import ImageModel

extension PoolName {
    /// The pool of the decoders that draw: its workers decode drawings and nothing else, and are
    /// closed in more tightly than those of other pools.
    public static let vector: PoolName = {
        guard let name = PoolName("vector") else { preconditionFailure("a name of a pool") }
        return name
    }()

    /// Whether it is that one.
    public var draws: Bool { self == .vector }

    /// The formats that own decoders of this pool have.
    package var family: FormatFamily { draws ? .vector : .raster }
}

extension WorkerPool {
    /// The pool of the decoders that draw, with so many workers.
    public static func vector(workers: Int) -> WorkerPool {
        var pool = WorkerPool(name: .vector, kind: .decode)
        pool.grant.formatsIn = Set(ImageFormat.decodable(.vector).map(\.name))
        pool.workers = workers
        return pool
    }
}

extension [WorkerPool] {
    /// These pools and that of the decoders that draw, with so many workers; as they are where none
    /// is asked for. Where the configuration has this pool, only the number of workers is another.
    public func drawing(workers: Int) -> [WorkerPool] {
        guard workers > 0 else { return self }
        guard let index = firstIndex(where: { $0.name == .vector }) else {
            return self + [.vector(workers: workers)]
        }
        var pools = self
        pools[index].workers = workers
        return pools
    }
}
