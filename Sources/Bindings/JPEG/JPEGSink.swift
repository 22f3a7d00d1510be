/// What C callbacks can carry in place of two closures, for the time of one encoding.
struct JPEGSink {
    let next: (Int) -> UnsafeMutableRawBufferPointer?
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ next: (Int) -> UnsafeMutableRawBufferPointer?, _ isCancelled: () -> Bool,
        _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(next) { next in
            withoutActuallyEscaping(isCancelled) { isCancelled in
                var sink = JPEGSink(next: next, isCancelled: isCancelled)
                return withUnsafeMutablePointer(to: &sink) { body(UnsafeMutableRawPointer($0)) }
            }
        }
    }
}

func askSinkWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until libjpeg has returned.
    return context.assumingMemoryBound(to: JPEGSink.self).pointee.isCancelled() ? 1 : 0
}

func takeFromSink(
    context: UnsafeMutableRawPointer?, minimum: Int, count: UnsafeMutablePointer<Int>?
) -> UnsafeMutablePointer<UInt8>? {
    guard let context, let count else { return nil }
    let sink = context.assumingMemoryBound(to: JPEGSink.self)
    guard let memory = sink.pointee.next(minimum) else { return nil }
    count.pointee = memory.count
    return memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
}
