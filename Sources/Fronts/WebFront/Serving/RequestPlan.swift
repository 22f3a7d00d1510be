import ImageModel
package import WebGrammar

/// What is asked of the stack for one request, and on which of its fields that depends.
package struct RequestPlan: Hashable, Sendable {
    package var request: WebRequest
    /// Names for `Vary`.
    package var varies: [String] = []

    /// Chooses what the path leaves open.
    ///
    /// - Parameter accept: the field `Accept`.
    package init(_ request: WebRequest, accept: String?, _ settings: WebFrontSettings) {
        self.request = request
        self.request.image.timeoutMilliseconds = settings.timeoutMilliseconds
        if request.kind == .image { self.request.image.options.insert(.respectCacheControl) }
        guard request.negotiatesFormat, !settings.offered.isEmpty else { return }
        varies = ["Accept"]
        let header = AcceptHeader(accept)
        // Who does not name them may not be able to show them, whatever `*/*` says.
        let chosen = header.accepted(of: settings.offered.filter { header.names($0) })
        guard let format = chosen.first else { return }
        self.request.image.output.format = format
        self.request.image.output.quality =
            request.formatQualities[format]
            ?? request.image.output.quality
    }
}
