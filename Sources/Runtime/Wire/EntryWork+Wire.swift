import CMessages
import ImageModel
import Messages

extension EntryWork {
    init(_ wire: Imagebus__V1__Entry, _ read: FieldReader) throws(WireError) {
        self.init(
            action: try read.known(wire.action.rawValue, "Entry.action"),
            key: try read.text(wire.key, "Entry.key", limit: MessageLimits.keyBytesMax),
            tiers: try CacheTypes(wire.tiers, "Entry.tiers"))
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Entry> {
        let wire = try write.make(imagebus__v1__entry__init)
        wire.pointee.action = .init(rawValue: .init(action.rawValue))
        wire.pointee.key = try write.text(key, "Entry.key", limit: MessageLimits.keyBytesMax)
        wire.pointee.tiers = UInt32(tiers.rawValue)
        return wire
    }
}
