import CMessages
import Messages

private typealias Names = Imagebus__V1__Capabilities__Names

extension WorkerCapabilities {
    init(_ wire: Imagebus__V1__Capabilities, _ read: FieldReader) throws(WireError) {
        self.init(
            schemes: try Self.names(wire.schemes, "Capabilities.schemes", read),
            formatsIn: try Self.names(wire.formats_in, "Capabilities.formats_in", read),
            formatsOut: try Self.names(wire.formats_out, "Capabilities.formats_out", read),
            steps: try Self.names(wire.steps, "Capabilities.steps", read))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Capabilities>
    {
        let wire = try write.make(imagebus__v1__capabilities__init)
        wire.pointee.schemes = try Self.wire(schemes, "Capabilities.schemes", write)
        wire.pointee.formats_in = try Self.wire(formatsIn, "Capabilities.formats_in", write)
        wire.pointee.formats_out = try Self.wire(formatsOut, "Capabilities.formats_out", write)
        wire.pointee.steps = try Self.wire(steps, "Capabilities.steps", write)
        return wire
    }

    /// A list of which each entry is said once.
    private static func names(
        _ wire: UnsafeMutablePointer<Names>?, _ field: String, _ read: FieldReader
    ) throws(WireError) -> Set<String>? {
        guard let wire else { return nil }
        let texts = try read.texts(
            wire.pointee.n_names, wire.pointee.names, field, countMax: entriesMax,
            limit: entryBytesMax)
        guard texts.allSatisfy(isEntry) else { throw .field(field, .unknownValue) }
        let names = Set(texts)
        guard names.count == texts.count else { throw .field(field, .duplicate) }
        return names
    }

    private static func wire(
        _ names: Set<String>?, _ field: String, _ write: FieldWriter
    ) throws(WireError) -> UnsafeMutablePointer<Names>? {
        guard let names else { return nil }
        guard names.allSatisfy(isEntry) else { throw .field(field, .unknownValue) }
        let wire = try write.make(imagebus__v1__capabilities__names__init)
        wire.pointee.n_names = names.count
        wire.pointee.names = try write.texts(
            names.sorted(), field, countMax: entriesMax, limit: entryBytesMax)
        return wire
    }
}
