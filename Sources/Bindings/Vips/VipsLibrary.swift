// CVips is imported for its link line, which acts only where Swift imports the module.
internal import CVips
internal import CVipsShims
internal import Synchronization

/// libvips, started: whoever holds a value may make images.
///
/// The operation cache is off, all loaders but those that are named are blocked, and so are savers
/// that libvips does not trust. Nothing is written to stderr: what libvips warns of goes to
/// `onWarning`. Pixels are kept in memory, however many there are: whoever opens an image limits
/// its size by the header.
public struct VipsLibrary: Sendable {
    /// Takes one message of libvips or GLib; called on any thread, also on those of libvips.
    public typealias WarningHandler = @Sendable (_ domain: String, _ message: String) -> Void

    private static let warningHandler = Mutex<WarningHandler?>(nil)

    private static let errorBuffer = Mutex<Void>(())

    /// The result of the one start of this process: libvips cannot be started twice.
    private static let started: Result<Void, VipsError> = {
        guard cvips_start(passWarning) == 0 else {
            return .failure(VipsError.take("vips_init", otherwise: .internal))
        }
        return .success(())
    }()

    /// Starts libvips the first time it is called in a process; later calls only set what they
    /// are given.
    ///
    /// - Parameters:
    ///   - concurrency: threads for each image computed, process-wide; 1 where the processes are
    ///     the parallelism. At least 1, at most 1024.
    ///   - loaders: what may be opened, besides what earlier calls named.
    ///   - savers: what may be written besides, of what libvips does not trust.
    ///   - onWarning: replaces the handler of an earlier call, unless it is nil.
    /// - Throws: `VipsError` of kind `internal` when libvips cannot start, or has no such loader or
    ///   saver.
    public init(
        concurrency: Int = 1, loaders: [VipsLoader] = [.jpeg, .png, .webp, .gif],
        savers: [VipsSaver] = [], onWarning: WarningHandler? = nil
    ) throws(VipsError) {
        precondition((1...1024).contains(concurrency), "concurrency is a number of threads")
        if let onWarning { Self.warningHandler.withLock { $0 = onWarning } }
        try Self.started.get()
        try VipsLoader.permit(loaders)
        try VipsSaver.permit(savers)
        cvips_set_concurrency(Int32(concurrency))
    }

    /// Runs `body` while no other thread of the process is in here: libvips has one error buffer
    /// for all, so work whose errors are to be told apart belongs inside. The buffer is emptied
    /// first: loaders leave texts in it that ended no call. Not reentrant.
    public func exclusively<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var result: Swift.Result<Result, Failure>?
        Self.errorBuffer.withLock { _ in
            cvips_forget_errors()
            do throws(Failure) {
                result = .success(try body())
            } catch {
                result = .failure(error)
            }
        }
        guard let result else { preconditionFailure("the closure of a lock runs once") }
        return try result.get()
    }

    /// Bytes that libvips holds for pixels at the moment, in all threads.
    public var pixelBytesInUse: Int { cvips_memory_in_use() }

    /// Files that libvips has open for pixels: none, since it keeps all of them in memory.
    public var pixelFilesInUse: Int { Int(cvips_files_in_use()) }

    fileprivate static func warn(_ domain: String, _ message: String) {
        let handler = warningHandler.withLock { $0 }
        handler?(domain, message)
    }
}

private func passWarning(
    level: CInt, domain: UnsafePointer<CChar>?, message: UnsafePointer<CChar>?
) {
    guard let domain, let message else { return }
    VipsLibrary.warn(String(cString: domain), String(cString: message))
}
