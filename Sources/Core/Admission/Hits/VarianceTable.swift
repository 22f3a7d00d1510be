/// The header fields on which answers depend, by the plain text of their original, as far as
/// origins have said so.
///
/// Soft and bounded: what is forgotten is learned again, at worst after a miss.
struct VarianceTable: Sendable {
    private let keysMax: Int
    private var fields: [String: [String]] = [:]

    init(keysMax: Int) { self.keysMax = keysMax }

    var isEmpty: Bool { fields.isEmpty }
    var count: Int { fields.count }

    /// Names of header fields whose values are part of the key.
    subscript(key: String) -> [String]? { fields[key] }

    /// The newest answer counts. Forgets all when full: what is in use comes back at once.
    mutating func learn(_ key: String, _ names: [String]?) {
        guard fields[key] != names else { return }
        if names != nil, fields.count >= keysMax { fields.removeAll(keepingCapacity: true) }
        fields[key] = names
    }
}
