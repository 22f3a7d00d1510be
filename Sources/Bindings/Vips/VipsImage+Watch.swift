internal import CVipsShims

extension VipsImage {
    /// From now on, `shouldStop` is asked every few rows whenever pixels of this image, or of one
    /// derived from it after this call, are computed; when it answers true, the computation fails
    /// with `killed`.
    ///
    /// It is called on the thread that computes, or on one of libvips; it must be quick. Encoders
    /// that take the whole image at once (WebP) do not ask while they run.
    public func watch(_ shouldStop: @escaping @Sendable () -> Bool) {
        let box = Unmanaged.passRetained(VipsWatcher(shouldStop))
        withExtendedLifetime(self) {
            cvips_watch(pointer, askWatcher, box.toOpaque(), releaseWatcher)
        }
    }
}

/// What a C callback can carry in place of a closure.
private final class VipsWatcher: Sendable {
    let shouldStop: @Sendable () -> Bool

    init(_ shouldStop: @escaping @Sendable () -> Bool) {
        self.shouldStop = shouldStop
    }
}

private func askWatcher(context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    // Retained by `watch`, released when the image goes.
    let watcher = Unmanaged<VipsWatcher>.fromOpaque(context).takeUnretainedValue()
    return watcher.shouldStop() ? 1 : 0
}

private func releaseWatcher(context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<VipsWatcher>.fromOpaque(context).release()
}
