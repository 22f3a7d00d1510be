import Model

// The rules that the options `check` and `via` of imagebus.proto name, which concern several fields
// of a message.

extension BlockReference {
    func check() throws(WireError) {
        guard !offset.addingReportingOverflow(length).overflow else {
            throw .field("Reference.length", .outOfRange)
        }
    }
}

extension PixelLayout {
    /// One plane, or three planes of one band. The total size must fit an `Int`, rows must contain
    /// their columns, and the active area must cover the image except for a fraction of the last
    /// column and row.
    func check() throws(WireError) {
        for plane in planes {
            guard plane.byteCount(samples) != nil else {
                throw .field("PixelPlane.stride", .outOfRange)
            }
            guard plane.isActive else { throw .field("PixelPlane.active", .outOfRange) }
        }
        guard pixelByteCount != nil else { throw .field("PixelLayout.planes", .outOfRange) }
        guard byteCount != nil else { throw .field("PixelLayout.enclosures", .outOfRange) }
    }

    /// Checks that the described layout lies within the referenced bytes.
    fileprivate func check(in reference: BlockReference, _ field: String) throws(WireError) {
        guard let byteCount, UInt64(byteCount) <= reference.length else {
            throw .field(field, .outOfRange)
        }
    }
}

extension DecodedImage.Frame {
    func check() throws(WireError) { try layout.check(in: reference, "Frame.layout") }
}

extension OverlayInput {
    func check() throws(WireError) { try layout.check(in: source, "OverlayInput.layout") }
}

extension TransformWork {
    func check() throws(WireError) { try layout.check(in: source, "Transform.layout") }
}

extension DecodeWork {
    func check() throws(WireError) {
        guard isPossible else { throw .field("Decode.is_partial", .outOfRange) }
    }
}

extension PaintWork {
    func check() throws(WireError) {
        guard size.isPositive else { throw .field("Paint.size", .outOfRange) }
    }
}

extension TransferTerms {
    func check() throws(WireError) {
        guard byteCount <= Self.bytesMax else {
            throw .field("Fetch.terms", .tooLong(limit: Self.bytesMax))
        }
    }
}

extension Chunk {
    func check() throws(WireError) {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
        guard !overflow, end <= total else { throw .field("Piece.offset", .outOfRange) }
    }
}

extension StepByName {
    func check() throws(WireError) {
        guard step != nil else { throw .field("NamedStep.name", .unknownValue) }
    }

    /// Returns `nil` for a step that has a message of its own.
    init?(_ step: TransformStep) {
        guard let named = step.form as? any NamedStep else { return nil }
        self.init(name: named.name, parameters: named.parameters)
    }

    /// The step; `nil` if the name is unknown.
    fileprivate var step: TransformStep? { TransformStep(named: name, parameters: parameters) }
}

extension TransformStep {
    /// The step of a message that was checked.
    init(_ named: StepByName) { self = named.step ?? .blank }
}

extension Resize {
    /// Returns `nil` for a need of another kind.
    init?(_ need: DecodeNeed) {
        guard case .cover(let box, let mode) = need else { return nil }
        self.init(box: box, mode: mode, enlarges: mode.enlarges)
    }
}

extension DecodeNeed {
    init(_ cover: Resize) { self = .cover(cover.box, cover.mode) }
}

/// The target of a client's message: a request, or a group of them.
enum Target: Hashable {
    case token(Token)
    case group(GroupID)
}

extension OriginCaching {
    /// The directives of `Cache-Control` that caches know.
    var directives: String? {
        get { cacheControl.field }
        set { cacheControl = CacheControl(newValue) }
    }
}
