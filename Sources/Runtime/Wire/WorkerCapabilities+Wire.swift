import CMessages
import Messages

extension WorkerCapabilities: WireMessage {
    static var begin: (CPart<Imagebus__V1__Capabilities>?) -> Void {
        imagebus__v1__capabilities__init
    }
    static var blank: Self { Self() }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Capabilities>
    ) throws(WireError) {
        try map.entries(&value.schemes, &wire.pointee.schemes, "Capabilities.schemes")
        try map.entries(&value.formatsIn, &wire.pointee.formats_in, "Capabilities.formats_in")
        try map.entries(&value.formatsOut, &wire.pointee.formats_out, "Capabilities.formats_out")
        try map.entries(&value.steps, &wire.pointee.steps, "Capabilities.steps")
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

    static var begin: (CPart<Imagebus__V1__Capabilities__Names>?) -> Void {
        imagebus__v1__capabilities__names__init
    }
    static var blank: Self { Self(names: []) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Capabilities__Names>
    ) throws(WireError) {
        var names = value.names.sorted()
        try map.texts(
            &names, &wire.pointee.n_names, &wire.pointee.names, map.container,
            countMax: WorkerCapabilities.entriesMax, limit: WorkerCapabilities.entryBytesMax)
        guard names.allSatisfy(WorkerCapabilities.isEntry) else {
            throw .field(map.container, .unknownValue)
        }
        value.names = Set(names)
        guard value.names.count == names.count else { throw .field(map.container, .duplicate) }
    }
}
