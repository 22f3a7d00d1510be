/// What a C callback can carry in place of a closure, for the time of one call.
struct ZimgCancellation {
    let isCancelled: () -> Bool

    static func withContext<Result>(
        _ isCancelled: () -> Bool, _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result {
        withoutActuallyEscaping(isCancelled) { isCancelled in
            var cancellation = ZimgCancellation(isCancelled: isCancelled)
            return withUnsafeMutablePointer(to: &cancellation) { body(UnsafeMutableRawPointer($0)) }
        }
    }
}

func askWhetherCancelled(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // `withContext` keeps it where it is until zimg has returned.
    let cancellation = context.assumingMemoryBound(to: ZimgCancellation.self)
    return cancellation.pointee.isCancelled() ? 1 : 0
}
