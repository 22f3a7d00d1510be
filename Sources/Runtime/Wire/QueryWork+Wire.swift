import CMessages
import ImageModel
import Messages

extension QueryWork {
    init(_ wire: Imagebus__V1__Query, _ read: FieldReader) throws(WireError) {
        self.init(
            key: try read.text(wire.key, "Query.key", limit: MessageLimits.keyBytesMax),
            tiers: try CacheTypes(wire.tiers, "Query.tiers"),
            destination: try read.known(wire.destination.rawValue, "Query.destination"),
            promotes: wire.promotes != 0)
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Query> {
        let wire = try write.make(imagebus__v1__query__init)
        wire.pointee.key = try write.text(key, "Query.key", limit: MessageLimits.keyBytesMax)
        wire.pointee.tiers = UInt32(tiers.rawValue)
        wire.pointee.destination = .init(rawValue: .init(destination.rawValue))
        wire.pointee.promotes = promotes ? 1 : 0
        return wire
    }
}
