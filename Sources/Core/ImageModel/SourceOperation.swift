/// What a load does with a source. A failure of one of them says nothing about the others, but that
/// of a transfer or of a header holds for all (SEMANTICS §7.2).
package enum SourceOperation: Hashable, Sendable {
    /// Its bytes are fetched and its header is read.
    case header
    /// Its pixels are decoded, of an animation as a still image.
    case still
    /// One frame is decoded.
    case frame(Int)
    /// All frames are decoded.
    case allFrames

    /// Which stage is not tried, and of what, for operators.
    package var name: String {
        switch self {
        case .header: "fetch"
        case .still: "decode"
        case .frame(let number): "decode frame \(number)"
        case .allFrames: "decode all frames"
        }
    }
}

extension ImageRequest {
    /// What is done with its source.
    package var operation: SourceOperation {
        guard needsPixels else { return .header }
        return animates ? .allFrames : frame.map { .frame($0) } ?? .still
    }
}

extension DecodeKey {
    /// What is done with the source.
    package var operation: SourceOperation {
        if wantsAllFrames { return .allFrames }
        if let frame { return .frame(frame) }
        return need == .header && !facts.needPixels ? .header : .still
    }
}

extension ImageError {
    /// What cannot be done with a source since decoding it failed so. Bytes without a header are no
    /// image for anybody, and what an external worker says is not told apart.
    package func prevented(of operation: SourceOperation) -> SourceOperation {
        let isOfSource = code == .badImageData && !damagesPixelsOnly
        return isOfSource || code == .foreignFailure ? .header : operation
    }
}
