import CMessages
import Messages

extension SegmentAnnouncement {
    init(_ wire: Imagebus__V1__Segments__Segment, _ read: FieldReader) throws(WireError) {
        self.init(
            arena: try read.known(wire.arena.rawValue, "Segment.arena"), number: wire.number,
            size: wire.size)
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Segments__Segment>
    {
        let wire = try write.make(imagebus__v1__segments__segment__init)
        wire.pointee.arena = .init(rawValue: .init(arena.rawValue))
        wire.pointee.number = number
        wire.pointee.size = size
        return wire
    }

    static func list(_ wire: Imagebus__V1__Segments, _ read: FieldReader) throws(WireError)
        -> [SegmentAnnouncement]
    {
        try read.list(
            wire.n_segments, wire.segments, "Segments.segments", limit: MessageLimits.segmentsMax
        ) { part throws(WireError) in try SegmentAnnouncement(part, read) }
    }

    static func wire(_ segments: [SegmentAnnouncement], _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Segments>
    {
        let wire = try write.make(imagebus__v1__segments__init)
        wire.pointee.n_segments = segments.count
        wire.pointee.segments = try write.list(
            segments, "Segments.segments", limit: MessageLimits.segmentsMax
        ) { segment throws(WireError) in try segment.wire(write) }
        return wire
    }
}
