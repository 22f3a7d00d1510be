import Messages

extension PoolName: FormedText {
    init?(reading text: String, _ field: String) throws(WireError) {
        guard let name = PoolName(text) else { throw .field(field, .unknownValue) }
        self = name
    }

    /// The pools that every stack has, by kind.
    fileprivate static let usual = WorkerKind.allCases.map { PoolName($0) }
}

extension FieldMap {
    /// A pool; absent where it is the one that every stack has of the kind.
    func pool(
        _ value: inout PoolName, of kind: WorkerKind, _ member: inout CText?, _ field: String
    ) throws(WireError) {
        let usual = PoolName.usual[Int(kind.rawValue)]
        var further = value == usual ? nil : value
        try formed(&further, &member, field)
        value = further ?? usual
    }
}
