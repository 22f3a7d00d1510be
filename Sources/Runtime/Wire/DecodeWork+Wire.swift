import CMessages
import ImageModel
import Messages

extension DecodeWork: WireMessage {
    typealias Form = Imagebus__V1__Decode
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decode__init }
    static var blank: Self { Self(source: .blank, need: .blank, limits: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&source, &wire.pointee.source, "Decode.source")
        try map.part(&need, &wire.pointee.need, "Decode.need")
        try map.part(&limits, &wire.pointee.limits, "Decode.limits")
        try map.number(
            &framesMax, within: 1...MessageLimits.blocksPerOutcomeMax, unless: 1,
            &wire.pointee.frames_max, if: &wire.pointee.maybe_frames_max_case, 4,
            "Decode.frames_max")
        try map.part(
            &facts, unless: facts == WantedFacts(), &wire.pointee.facts, "Decode.facts")
        try map.bits(&keeps, &wire.pointee.keeps, "Decode.keeps")
        try map.number(
            &frame, within: 0...RequestLimits.framesMax - 1, &wire.pointee.frame,
            if: &wire.pointee.maybe_frame_case, 7, "Decode.frame")
        map.flag(&wantsAllFrames, &wire.pointee.all_frames, "Decode.all_frames")
        map.flag(&isPartial, &wire.pointee.is_partial, "Decode.is_partial")
        try map.maybe(&passing, &wire.pointee.passing, "Decode.passing")
        map.flag(&showsDamaged, &wire.pointee.shows_damaged, "Decode.shows_damaged")
        guard isPossible else { throw .field("Decode.is_partial", .outOfRange) }
    }
}

extension Passing: WireMessage {
    typealias Form = Imagebus__V1__Passing
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__passing__init }
    static var blank: Self { Self(isUnchanged: false, metadata: .nothing) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&formatBits, &wire.pointee.formats, "Passing.formats")
        map.flag(&isUnchanged, &wire.pointee.is_unchanged, "Passing.is_unchanged")
        try map.word(&metadata, &wire.pointee.metadata, "Passing.metadata")
    }
}
