import CMessages
import ImageModel

extension WantedFacts: WireMessage {
    typealias Form = Imagebus__V1__WantedFacts
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__wanted_facts__init }
    static var blank: Self { Self() }

    /// Unknown kinds are for admission.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.bits(&kinds, &wire.pointee.kinds, "WantedFacts.kinds")
        try map.number(
            &blurHash.width, within: Self.blurHashSides, unless: Self.usualBlurHash.width,
            &wire.pointee.blur_hash_columns, if: &wire.pointee.maybe_blur_hash_columns_case, 2,
            "WantedFacts.blur_hash_columns")
        try map.number(
            &blurHash.height, within: Self.blurHashSides, unless: Self.usualBlurHash.height,
            &wire.pointee.blur_hash_rows, if: &wire.pointee.maybe_blur_hash_rows_case, 3,
            "WantedFacts.blur_hash_rows")
    }
}

extension ImageFacts: WireMessage {
    typealias Form = Imagebus__V1__ImageFacts
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__image_facts__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(
            &orientation, within: 1...8, &wire.pointee.orientation,
            if: &wire.pointee.maybe_orientation_case, 1, "ImageFacts.orientation")
        try map.number(
            &bitsPerSample, within: 1...64, &wire.pointee.bits_per_sample,
            if: &wire.pointee.maybe_bits_per_sample_case, 2, "ImageFacts.bits_per_sample")
        try map.name(&profile, &wire.pointee.profile, "ImageFacts.profile")
        try map.exif(&exif, &wire.pointee.n_exif, &wire.pointee.exif)
        try map.colour(
            &average, &wire.pointee.average, if: &wire.pointee.maybe_average_case, 5,
            "ImageFacts.average")
        try map.colour(
            &dominant, &wire.pointee.dominant, if: &wire.pointee.maybe_dominant_case, 6,
            "ImageFacts.dominant")
        var hash = blurHash ?? ""
        try map.text(
            &hash, &wire.pointee.blur_hash, "ImageFacts.blur_hash", limit: Self.blurHashBytesMax)
        blurHash = hash.isEmpty ? nil : hash
        try map.name(&thumbHash, &wire.pointee.thumb_hash, "ImageFacts.thumb_hash")
        try map.maybe(&animation, &wire.pointee.animation, "ImageFacts.animation")
    }
}

extension AnimationFacts: WireMessage {
    typealias Form = Imagebus__V1__AnimationFacts
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__animation_facts__init }
    static var blank: Self { Self(durations: [], loops: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var played = plays == loops ? nil : Optional(plays)
        try map.numbers(
            &durations, &wire.pointee.n_durations, &wire.pointee.durations,
            "AnimationFacts.durations", limit: Self.framesMax, least: 1)
        try map.number(&loops, &wire.pointee.loops, "AnimationFacts.loops")
        try map.number(
            &played, &wire.pointee.plays, if: &wire.pointee.maybe_plays_case, 3,
            "AnimationFacts.plays")
        plays = played ?? loops
    }
}

extension FieldMap {
    /// Each field once, by names that this version knows.
    fileprivate func exif(
        _ value: inout [ExifField: String], _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Detail>?
    ) throws(WireError) {
        let field = "ImageFacts.exif"
        var texts = Dictionary(uniqueKeysWithValues: value.map { ($0.key.rawValue, $0.value) })
        try details(
            &texts, ExifLimits.self, &count, &member, field, limit: ExifField.allCases.count)
        value = [:]
        for (name, text) in texts {
            guard let known = ExifField(rawValue: name) else { throw .field(field, .unknownValue) }
            value[known] = text
        }
    }

    fileprivate func colour(
        _ value: inout Colour?, _ member: inout UInt32,
        if which: inout some RawRepresentable<UInt32>, _ number: UInt32, _ field: String
    ) throws(WireError) {
        var argb = value?.argb
        try self.number(&argb, &member, if: &which, number, field)
        value = argb.map { Colour(argb: $0) }
    }
}

enum ExifLimits: DetailLimits {
    static var nameMax: Int { RequestLimits.nameBytesMax }
    static func valueMax(beside name: String) -> Int { ExifField.valueBytesMax }
}
