/// What C callbacks can carry in place of two closures, for the time of one encoding.
struct AVIFCallbacks {
    let sink: (UnsafeRawBufferPointer) -> Bool
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ sink: (UnsafeRawBufferPointer) -> Bool, _ isCancelled: () -> Bool,
        _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(sink) { sink in
            withoutActuallyEscaping(isCancelled) { isCancelled in
                var callbacks = AVIFCallbacks(sink: sink, isCancelled: isCancelled)
                return withUnsafeMutablePointer(to: &callbacks) {
                    body(UnsafeMutableRawPointer($0))
                }
            }
        }
    }
}

func passToSink(
    context: UnsafeMutableRawPointer?, bytes: UnsafePointer<UInt8>?, count: Int
) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until libavif has returned.
    let callbacks = context.assumingMemoryBound(to: AVIFCallbacks.self)
    let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
    return callbacks.pointee.sink(bytes) ? 1 : 0
}

func askWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    return context.assumingMemoryBound(to: AVIFCallbacks.self).pointee.isCancelled() ? 1 : 0
}
