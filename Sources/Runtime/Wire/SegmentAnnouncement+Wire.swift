import CMessages
import Messages

extension SegmentAnnouncement: WireMessage {
    typealias Form = Imagebus__V1__Segments__Segment
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__segments__segment__init }
    static var blank: Self { Self(arena: .stage, number: 0, size: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&arena, &wire.pointee.arena, "Segment.arena")
        try map.number(&number, &wire.pointee.number, "Segment.number")
        try map.number(&size, &wire.pointee.size, "Segment.size")
    }
}

/// Segments that were opened, or that were closed.
struct AnnouncedSegments: WireMessage {
    var segments: [SegmentAnnouncement]

    typealias Form = Imagebus__V1__Segments
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__segments__init }
    static var blank: Self { Self(segments: []) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &segments, &wire.pointee.n_segments, &wire.pointee.segments, "Segments.segments",
            limit: MessageLimits.segmentsMax)
    }
}
