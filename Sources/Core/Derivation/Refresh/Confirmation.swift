package import ImageModel

/// What an origin said as it confirmed that what is kept is still the same.
package struct Confirmation: Hashable, Sendable {
    /// What it says of keeping it.
    var control: CacheControl
    /// How old its answer was.
    let age: ResponseAge
    /// For whom that is kept.
    let role: CacheRole
    /// Whether it sent all it had to say, with the same bytes. A 304 leaves what it does not say
    /// (RFC 9111 §3.2).
    let isWhole: Bool
    let limits: HTTPExpiry.Limits

    /// Until when what was kept with this expiry may be used from now on.
    package func renewed(_ expiry: HTTPExpiry?) -> HTTPExpiry {
        guard let expiry, !isWhole else { return HTTPExpiry(control, age, role, limits) }
        return expiry.renewed(control, age, role, limits)
    }

    /// The same after an earlier one, whose words count where this one has none.
    package func after(_ earlier: Confirmation) -> Confirmation {
        guard !isWhole, control.field == nil else { return self }
        var both = self
        both.control = earlier.control
        return both
    }
}
