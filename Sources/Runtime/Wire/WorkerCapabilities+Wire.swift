import CMessages
import Messages

extension WorkerCapabilities: WireMessage {
    typealias Form = Imagebus__V1__Capabilities
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__capabilities__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.entries(&schemes, &wire.pointee.schemes, "Capabilities.schemes")
        try map.entries(&formatsIn, &wire.pointee.formats_in, "Capabilities.formats_in")
        try map.entries(&formatsOut, &wire.pointee.formats_out, "Capabilities.formats_out")
        try map.entries(&steps, &wire.pointee.steps, "Capabilities.steps")
    }
}

extension FieldMap {
    fileprivate func entries(
        _ value: inout Set<String>?, _ member: inout CPart<Imagebus__V1__Capabilities__Names>?,
        _ field: String
    ) throws(WireError) {
        var list = value.map { CapabilityNames(names: $0) }
        try maybe(&list, &member, field)
        value = list?.names
    }
}

/// A list of which each entry is said once; faults name the list.
struct CapabilityNames: WireMessage {
    var names: Set<String>

    typealias Form = Imagebus__V1__Capabilities__Names
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__capabilities__names__init }
    static var blank: Self { Self(names: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var names = self.names.sorted()
        try map.texts(
            &names, &wire.pointee.n_names, &wire.pointee.names, map.container,
            countMax: WorkerCapabilities.entriesMax, limit: WorkerCapabilities.entryBytesMax)
        guard names.allSatisfy(WorkerCapabilities.isEntry) else {
            throw .field(map.container, .unknownValue)
        }
        self.names = Set(names)
        guard self.names.count == names.count else { throw .field(map.container, .duplicate) }
    }
}
