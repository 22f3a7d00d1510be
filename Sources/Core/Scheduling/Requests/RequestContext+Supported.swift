import ImageModel

extension RequestContext {
    /// Throws what this version reads and does not act upon yet, where a request asks for it.
    func checkSupported() throws(ImageError) {
        if let fallback, fallback != .none { throw ImageError.notSupported("fallback") }
    }
}
