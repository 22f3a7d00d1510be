public import ImageModel

/// Obtains the bytes of URLs. SDWebImage's loader.
///
/// `credit` loads run at a time, each on a thread of its own. A load that nobody wants is over at
/// once, and its thread may end when it will; where more than 16 of these go on, the process ends.
public protocol Loader: Sendable {
    /// Those of the URLs; `schemes` of the pool names them as well.
    var schemes: [String] { get }

    /// Loads at a time, from 1 to 256; 8 where an author says nothing else. `credit` of the pool
    /// may be less.
    var credit: Int { get }

    /// The bytes of an image: 1 to `report.bytesMax`. The URL and the headers are a stranger's: no
    /// path, host or query of them leads anywhere by itself.
    ///
    /// Throws ``Failure`` in a domain of its own, or `ImageError`; whatever else is `internalError`
    /// for the caller, who learns its type.
    func load(_ url: String, headers: [HTTPHeader], _ report: LoadReport) throws -> Loaded
}

extension Loader {
    /// Eight.
    public var credit: Int { 8 }
}
