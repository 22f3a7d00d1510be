package import ImageModel

/// What an origin said as it confirmed that what is kept is still the same.
package struct Confirmation: Hashable, Sendable {
    /// What it says of caching.
    var caching: OriginCaching
    /// Whether it sent all it had to say, with the same bytes. A 304 leaves what it does not say
    /// (RFC 9111 §3.2).
    let isWhole: Bool

    init(caching: OriginCaching, isWhole: Bool) {
        (self.caching, self.isWhole) = (caching, isWhole)
    }

    /// What an external cache knows: all that holds by now.
    package init(told caching: OriginCaching) { self.init(caching: caching, isWhole: true) }

    /// What holds from now on of what was kept with these words.
    package func renewed(_ kept: OriginCaching?) -> OriginCaching {
        guard let kept, !isWhole else { return caching }
        return kept.renewed(by: caching)
    }

    /// The same after an earlier one, whose words count where this one has none.
    package func after(_ earlier: Confirmation) -> Confirmation {
        guard !isWhole, caching.cacheControl.field == nil else { return self }
        var both = self
        both.caching.cacheControl = earlier.caching.cacheControl
        return both
    }
}
