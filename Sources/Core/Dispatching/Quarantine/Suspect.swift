package import ImageModel
import Messages

/// Content and the operation on it that is suspected of killing workers (SEMANTICS §7.5).
///
/// Equal suspects share their evidence: ten sizes of one image that kills decoders are one
/// suspect, while a transform is one with its steps and output. What a drawing costs depends on
/// how large it is drawn, so each size of it is a suspect of its own. Sizes are many, so what is
/// held against one of them counts against the drawing as well (`wider`).
package enum Suspect: Hashable, Sendable {
    /// The transfer of a source.
    case fetch(SourceKey)
    /// Any decode of a source.
    case decode(SourceKey)
    /// Any decode of what a cache of others says of a source under a text: it is no evidence
    /// against the source, whose bytes may be others.
    case kept(SourceKey, text: String)
    /// A drawing of a source for that need.
    case drawing(SourceKey, DecodeNeed)
    /// All drawings of a source, whatever their sizes.
    case drawings(SourceKey)
    /// These steps and this output of a source.
    case transform(ResultKey)
    /// What a serializer makes of anything of a source.
    case transcode(SourceKey, OutputOptions)

    /// Whose bytes.
    var source: SourceKey {
        switch self {
        case .fetch(let source), .decode(let source), .kept(let source, _),
            .drawing(let source, _), .drawings(let source), .transcode(let source, _):
            source
        case .transform(let result): result.decode.source
        }
    }

    /// What the evidence against it counts against as well, and what is not tried without it.
    var wider: Suspect? {
        if case .drawing(let source, _) = self { return .drawings(source) }
        return nil
    }

    /// The weight of evidence that quarantines it: two crashes, or two sizes with two each.
    var weightMax: Int {
        let ofOne = 2 * Evidence.crash.weight
        if case .drawings = self { return 2 * ofOne }
        return ofOne
    }

    /// The stage that would do it.
    var stage: JobStage {
        switch self {
        case .fetch: .fetch
        case .decode, .kept, .drawing, .drawings: .decode
        case .transform, .transcode: .transform
        }
    }
}
