import Glibc

/// A loader pool `photos` whose only worker is controlled by the test. It has the secret of its
/// pool and sends false data.
final class ExternalLoader {
    let worker: WireWorker
    /// The file of its segment, open for reading and writing.
    private let file: Int32
    private let path: String

    /// The configuration of the pool and its scheme.
    static let configuration = """
        pools:
          photos: {kind: download, trust: external, schemes: [photos], credit: 2}
        loaders:
          photos: {kind: pool, pool: photos}

        """

    /// Connects, with `bytes` in its segment.
    init(_ stack: StackHarness, _ bytes: [UInt8], takesReleases: Bool = false) throws {
        worker = try WireWorker(external: "photos", stack, takesReleases: takesReleases)
        guard case .downloadSettings = try worker.receive(within: defaultTimeout) else {
            throw StackFailure("a worker was not told its settings", log: stack.logFile)
        }
        let name = "\(worker.incarnation.value.hex).\(Forgery.segment)"
        path = "\(stack.runtimeDirectory)/arena/photos/\(name)"
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        guard file >= 0, ftruncate(file, off_t(Forgery.segmentBytes)) == 0 else {
            throw StackFailure("no segment: \(errno)")
        }
        write(bytes)
        try worker.announce()
    }

    deinit {
        unlink(path)
        close(file)
    }

    /// Replaces the contents of the segment.
    func write(_ bytes: [UInt8]) { Self.write(bytes, to: file) }

    /// Truncates the file of the segment below the announced size.
    func truncate() { _ = ftruncate(file, 0) }

    private static func write(_ bytes: [UInt8], to file: Int32) {
        _ = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 64) }
    }

    /// The next job.
    func job() throws -> Job {
        guard let job = try worker.job(within: defaultTimeout) else {
            throw StackFailure("the loader got no job")
        }
        return job
    }

    /// A preview that arrived before the end, `count` bytes in the segment after the first `offset`.
    func preview(
        of job: Job, at offset: Int, _ count: Int, _ format: ImageFormat, received: UInt64
    ) -> JobProgress {
        JobProgress(
            id: job.id, attempt: job.attempt, received: received, expected: 1_000,
            arrived: BlockReference(
                segment: Forgery.segment, offset: 64 + UInt64(offset), length: UInt64(count),
                block: BlockID(2)), format: format, isPreview: true)
    }

    /// Reports `count` loaded bytes; `change` falsifies the outcome.
    func answer(
        _ job: Job, _ count: Int, block: BlockID = BlockID(1),
        _ change: (inout FetchedBody) -> Void = { _ in }
    ) throws {
        var body = FetchedBody(
            reference: BlockReference(
                segment: Forgery.segment, offset: 64, length: UInt64(count), block: block),
            httpStatus: 200, effectiveURL: "photos://album/x", format: .png)
        change(&body)
        try worker.send(
            .outcome(
                JobOutcome(
                    id: job.id, attempt: job.attempt, result: .fetched(body),
                    workMicroseconds: 1_000)))
    }

    /// Writes these bytes in turn, as fast as possible, until the gate opens.
    func change(between texts: [[UInt8]], until gate: Gate) -> BackgroundThread {
        let file = dup(file)
        return BackgroundThread {
            while !gate.isOpen {
                for text in texts { Self.write(text, to: file) }
            }
            close(file)
        }
    }
}
