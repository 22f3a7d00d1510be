/// One kind of load in the mix.
enum MixedWork: String, CaseIterable, Encodable, Sendable {
    /// A known image in the size that everybody wants.
    case hit
    /// A known image in a size of its own.
    case size
    /// An image that nobody has.
    case cold
    /// The same, given up.
    case cancel

    /// Of a hundred loads.
    var percent: Int {
        switch self {
        case .hit: 65
        case .size: 15
        case .cold: 15
        case .cancel: 5
        }
    }
}
