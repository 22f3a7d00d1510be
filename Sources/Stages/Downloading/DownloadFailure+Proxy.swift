import ImageModel

extension DownloadFailure {
    /// What a proxy refused by itself is no answer of the origin: it has no `httpStatus`, which
    /// rules could name. What may pass is tried again.
    static func imageError(ofProxy url: String, _ status: Int) -> ImageError {
        let place = place(ofProxy: url)
        let mayPass = status == 429 || status >= 500
        return ImageError(
            mayPass ? .connectionFailed : .invalidDownloadOperation,
            "the proxy \(place) answered \(status) by itself, and the origin was not asked: "
                + advice(status, mayPass: mayPass),
            details: ["proxy": place, "proxyStatus": String(status)])
    }

    private static func advice(_ status: Int, mayPass: Bool) -> String {
        if mayPass { return "it does not reach the origin now" }
        if status == 407 {
            return "it asks for a name and a password, which stand in its URL: "
                + "http://NAME:PASSWORD@HOST:PORT"
        }
        return "it has to permit this host and port, or serve has to be given another --proxy"
    }

    /// Host and port: a password may stand before them.
    private static func place(ofProxy url: String) -> String {
        let authority = url.split(separator: "://", maxSplits: 1).last ?? ""
        return authority.split(separator: "@").last.map(String.init) ?? ""
    }
}
