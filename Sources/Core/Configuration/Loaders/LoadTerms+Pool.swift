import ImageModel

extension LoadTerms {
    /// Throws `invalidDownloadOperation` where rules say of a transfer what the workers of somebody
    /// else's that make it are not told: it would silently not be done, and has secrets of others.
    func checkTransferOfPool() throws(ImageError) {
        guard loader.kind == .pool else { return }
        var told = transfer
        // The coordinator itself takes these out.
        told.removedHeaders = []
        guard !told.isEmpty else { return }
        throw ImageError(
            .invalidDownloadOperation,
            "a rule of the configuration says of this transfer what workers of somebody else's are "
                + "not told: an operator takes request, response, decrypt, credentials, "
                + "client-certificate, cookies and tls-verify out of it")
    }
}
