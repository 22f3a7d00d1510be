import ImageModel

/// The facts in `get --json` (SEMANTICS §15.3); every name is always there, null where nothing is
/// known or was asked for.
struct FactsAnswer: Encodable, Sendable {
    let orientation: Int?
    let bitsPerSample: Int?
    let profile: String?
    /// By name, those that the source has.
    let exif: [String: String]
    /// `#AARRGGBB`.
    let average: String?
    let dominant: String?
    let blurHash: String?
    let thumbHash: String?
    let animation: Animation?

    /// Of an animation.
    struct Animation: Encodable, Sendable {
        let frames: Int
        /// Microseconds of each frame.
        let durations: [UInt32]
        /// Of all frames.
        let milliseconds: Int
        /// How often all are played; 0: without end.
        let loops: Int

        init(_ facts: AnimationFacts) {
            (frames, durations, loops) = (facts.durations.count, facts.durations, facts.plays)
            milliseconds = durations.reduce(0) { $0 + Int($1) } / 1_000
        }
    }

    private enum CodingKeys: String, CodingKey {
        case orientation, bitsPerSample, profile, exif, average, dominant, blurHash, thumbHash
        case animation
    }

    init(_ facts: ImageFacts) {
        orientation = facts.orientation
        bitsPerSample = facts.bitsPerSample
        profile = facts.profile
        exif = Dictionary(uniqueKeysWithValues: facts.exif.map { ($0.key.rawValue, $0.value) })
        average = facts.average.map { "#\($0)" }
        dominant = facts.dominant.map { "#\($0)" }
        blurHash = facts.blurHash
        thumbHash = facts.thumbHash
        animation = facts.animation.map { Animation($0) }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(orientation, forKey: .orientation)
        try values.encode(bitsPerSample, forKey: .bitsPerSample)
        try values.encode(profile, forKey: .profile)
        try values.encode(exif, forKey: .exif)
        try values.encode(average, forKey: .average)
        try values.encode(dominant, forKey: .dominant)
        try values.encode(blurHash, forKey: .blurHash)
        try values.encode(thumbHash, forKey: .thumbHash)
        try values.encode(animation, forKey: .animation)
    }

    /// For people, `name: value`, of what is known.
    var lines: [String] {
        let header: [(String, String?)] = [
            ("orientation", orientation.map { "\($0)" }),
            ("bitsPerSample", bitsPerSample.map { "\($0)" }), ("profile", profile),
        ]
        let fields = ExifField.allCases.map { ($0.rawValue, exif[$0.rawValue]) }
        let pixels: [(String, String?)] = [
            ("average", average), ("dominant", dominant), ("blurHash", blurHash),
            ("thumbHash", thumbHash),
        ]
        let frames: [(String, String?)] = [
            ("frames", animation.map { "\($0.frames)" }),
            ("milliseconds", animation.map { "\($0.milliseconds)" }),
            ("loops", animation.map { $0.loops == 0 ? "without end" : "\($0.loops)" }),
        ]
        return (header + fields + pixels + frames).compactMap { name, value in
            value.map { "\(name): \($0)" }
        }
    }
}
