/// Carries closures through the callbacks of C code for the duration of one call.
public struct CodecCallbacks {
    fileprivate let sink: (UnsafeRawBufferPointer) -> Bool
    fileprivate let next: (Int) -> UnsafeMutableRawBufferPointer?
    fileprivate let isCancelled: () -> Bool

    /// Calls `body` with the context for the callbacks below, which is only valid during the call.
    ///
    /// - Parameters:
    ///   - sink: called by `passToSink`.
    ///   - next: called by `nextSinkBuffer`.
    ///   - isCancelled: called by `isCancelledCallback`.
    public static func withContext<Result>(
        sink: (UnsafeRawBufferPointer) -> Bool = { _ in true },
        next: (_ minimum: Int) -> UnsafeMutableRawBufferPointer? = { _ in nil },
        isCancelled: () -> Bool, _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(sink) { sink in
            withoutActuallyEscaping(next) { next in
                withoutActuallyEscaping(isCancelled) { isCancelled in
                    var callbacks = CodecCallbacks(
                        sink: sink, next: next, isCancelled: isCancelled)
                    return withUnsafeMutablePointer(to: &callbacks) {
                        body(UnsafeMutableRawPointer($0))
                    }
                }
            }
        }
    }
}

/// Returns the callbacks of a context, which `withContext` keeps in place until the library has
/// returned.
private func callbacks(_ context: UnsafeMutableRawPointer) -> UnsafeMutablePointer<CodecCallbacks> {
    context.assumingMemoryBound(to: CodecCallbacks.self)
}

/// A C callback that passes encoded bytes on; returns 0 to end the call.
public func passToSink(
    context: UnsafeMutableRawPointer?, bytes: UnsafePointer<UInt8>?, count: Int
) -> CInt {
    guard let context else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
    return callbacks(context).pointee.sink(bytes) ? 1 : 0
}

/// A C callback that returns memory for at least `minimum` more bytes, and its size in `count`;
/// `nil` ends the call.
public func nextSinkBuffer(
    context: UnsafeMutableRawPointer?, minimum: Int, count: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UInt8>? {
    guard let context, let count, let memory = callbacks(context).pointee.next(minimum) else {
        return nil
    }
    count.pointee = memory.count
    return memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
}

/// A C callback that returns 1 if the call is to end.
public func isCancelledCallback(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    return callbacks(context).pointee.isCancelled() ? 1 : 0
}
