import CMessages
import Messages

extension SegmentAnnouncement: WireMessage {
    static var begin: (CPart<Imagebus__V1__Segments__Segment>?) -> Void {
        imagebus__v1__segments__segment__init
    }
    static var blank: Self { Self(arena: .stage, number: 0, size: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Segments__Segment>
    ) throws(WireError) {
        try map.word(&value.arena, &wire.pointee.arena, "Segment.arena")
        try map.number(&value.number, &wire.pointee.number, "Segment.number")
        try map.number(&value.size, &wire.pointee.size, "Segment.size")
    }
}

/// Segments that were opened, or that were closed.
struct AnnouncedSegments: WireMessage {
    var segments: [SegmentAnnouncement]

    static var begin: (CPart<Imagebus__V1__Segments>?) -> Void { imagebus__v1__segments__init }
    static var blank: Self { Self(segments: []) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Segments>
    ) throws(WireError) {
        try map.list(
            &value.segments, &wire.pointee.n_segments, &wire.pointee.segments, "Segments.segments",
            limit: MessageLimits.segmentsMax)
    }
}
