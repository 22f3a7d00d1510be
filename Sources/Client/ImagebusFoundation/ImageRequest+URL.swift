public import FoundationEssentials
public import ImageModel
public import Imagebus

extension ImageRequest {
    /// A plain load, as that of the text of its absolute form. A relative URL without a base is
    /// refused with the request.
    public init(url: URL) {
        self.init(url: url.absoluteString)
    }
}

extension ImagebusClient {
    /// Begins a load of a URL.
    public func load(_ url: URL, wantsProgress: Bool = false) -> LoadTask {
        load(ImageRequest(url: url), wantsProgress: wantsProgress)
    }
}
