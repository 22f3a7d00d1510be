import ImageModel
import Messages

/// What goes into a result beside its pixels. Strangers wrote it, and nothing here reads more of it
/// than its first bytes.
struct EnclosedParts {
    private(set) var profile: [UInt8] = []
    private(set) var exif: [UInt8] = []
    private(set) var xmp: [UInt8] = []
    private(set) var iptc: [UInt8] = []
    /// Which samples the profile explains; `nil` without one.
    private(set) var space: ProfileSpace?

    /// Nothing.
    init() {}

    /// Copies of what lies beside pixels: who wrote them may write on.
    ///
    /// - Throws: `internalError` for what lies elsewhere, is larger than it may be, or is not what
    ///   it is said to be.
    init(_ layout: PixelLayout, in bytes: UnsafeRawBufferPointer) throws(ImageError) {
        guard let count = layout.byteCount, count <= bytes.count else { throw Self.unfit }
        for enclosure in layout.enclosures {
            guard let end = enclosure.end else { throw Self.unfit }
            let part = Array(bytes[enclosure.offset..<end])
            switch enclosure.kind {
            case .profile: profile = part
            case .exif: exif = part
            case .xmp: xmp = part
            case .iptc: iptc = part
            }
        }
        try check()
    }

    var isEmpty: Bool { profile.isEmpty && exif.isEmpty && xmp.isEmpty && iptc.isEmpty }

    /// The same beside pixels of that sort: a profile of grey explains no colours.
    func beside(isGrey: Bool) -> EnclosedParts {
        guard space == .grey, !isGrey else { return self }
        var parts = self
        (parts.profile, parts.space) = ([], nil)
        return parts
    }

    /// The same with a small JPEG in EXIF.
    ///
    /// - Throws: `limitExceeded` where both have no room in a segment; `internalError` for EXIF
    ///   without a first directory.
    func with(thumbnail: [UInt8]) throws(ImageError) -> EnclosedParts {
        var parts = self
        guard let block = ExifThumbnail.added(thumbnail, to: exif) else { throw Self.unfit }
        guard block.count <= JPEGSegments.exifBytesMax else {
            throw .over(
                OutputSetting.embedThumbnail.name, "encode",
                "the EXIF that is kept leaves no room for a thumbnail: leave out "
                    + "embed-thumbnail, or keep less metadata")
        }
        parts.exif = block
        return parts
    }

    private mutating func check() throws(ImageError) {
        if !profile.isEmpty {
            space = ProfileSpace(profile)
            guard space == .rgb || space == .grey else { throw Self.unfit }
        }
        let marks: [[UInt8]] = [[0x49, 0x49, 42, 0], [0x4D, 0x4D, 0, 42]]
        guard exif.isEmpty || marks.contains(where: { exif.starts(with: $0) }) else {
            throw Self.unfit
        }
    }

    private static var unfit: ImageError {
        ImageError(.internalError, "what lies beside the pixels is not what it is said to be")
    }
}
