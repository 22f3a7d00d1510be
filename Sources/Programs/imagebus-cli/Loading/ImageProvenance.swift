import Imagebus
import Model
import Reporting

/// Where an image came from and how long that took, over all loads: if the extension of the output
/// file selects another format than that of the source, a second load converts the image.
struct ImageProvenance: Hashable {
    /// The tier that had the image or its original; none if one of the loads fetched it.
    let cacheType: CacheTypes
    /// The sums of the times of all loads.
    let timings: StageTimings
    /// The details of the transfer; `nil` if there was none, or no explanation was requested.
    let fetched: FetchAccount?
    /// Whether the last load produced the image, so that no tier had it.
    private let isProduced: Bool

    /// Creates the provenance of an image that was loaded after the one of `earlier`, if given.
    init(of image: ImageResponse, after earlier: ImageProvenance? = nil) {
        self.init(
            image.cacheType, image.timings, fetched: image.explanation?.fetched, after: earlier)
    }

    init(
        _ cacheType: CacheTypes, _ timings: StageTimings, fetched: FetchAccount? = nil,
        after earlier: ImageProvenance? = nil
    ) {
        isProduced = timings.transform > 0
        guard let earlier else {
            (self.cacheType, self.timings, self.fetched) = (cacheType, timings, fetched)
            return
        }
        self.cacheType = earlier.cacheType == .none ? .none : cacheType
        self.timings = timings.adding(earlier.timings)
        self.fetched = fetched ?? earlier.fetched
    }

    /// A human-readable form. An image produced from a cached original was not itself cached.
    var text: String {
        guard cacheType != .none else { return "loaded" }
        return isProduced ? "made from the original in \(cacheType.name)" : "from \(cacheType.name)"
    }
}

extension StageTimings {
    /// Returns the sums of the times of two loads.
    fileprivate func adding(_ other: StageTimings) -> StageTimings {
        var sum = self
        for part in Self.parts { sum[keyPath: part.path] += other[keyPath: part.path] }
        return sum
    }
}
