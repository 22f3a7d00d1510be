import Testing

@testable import Model

/// A full box (version and flags) of 4-byte numbers.
private func table(_ type: String, flags: Int = 0, _ numbers: Int...) -> [UInt8] {
    box(type, big(flags), numbers.flatMap { big($0) })
}

/// Boxes of AVIF image sequences, as specified by ISO/IEC 14496-12.
@Suite struct SequenceWalkTests {
    /// The description of a track.
    private struct Track {
        var number = 1
        var owner: Int?
        var handler = "pict"
        /// Its auxiliary type, if stated.
        var kind: String?
        /// The total duration of the track.
        var whole = 0
        /// The duration of one pass through the track; `nil`: no edit list.
        var segment: Int?
        var repeats = true
        var timescale = 1_000
        /// Sizes of consecutive samples.
        var sizes = [3, 5, 4]
        var chunks: [(first: Int, samples: Int)] = [(1, 2), (2, 1)]
        var offsets = [2_000, 2_100]
        var times: [(count: Int, duration: Int)] = [(2, 40), (1, 70)]

        var bytes: [UInt8] {
            let header = table("tkhd", flags: 1, 0, 0, number, 0, whole, 0, 0, 0, 0, 0, 0)
            let edits = segment.map {
                box("edts", table("elst", flags: repeats ? 1 : 0, 1, $0, 0, 65_536))
            }
            let references = owner.map { box("tref", box("auxl", big($0))) }
            return box("trak", header, edits ?? [], references ?? [], media)
        }

        private var media: [UInt8] {
            let handler = box("hdlr", [UInt8](repeating: 0, count: 8), Array(handler.utf8))
            return box(
                "mdia", table("mdhd", 0, 0, timescale, 0), handler,
                box("minf", box("stbl", samples)))
        }

        private var samples: [UInt8] {
            let entry = box(
                "av01", [UInt8](repeating: 0, count: 24), [0, 8, 0, 6],
                [UInt8](repeating: 0, count: 50),
                kind.map { box("auxi", big(0) + Array($0.utf8) + [0]) } ?? [])
            return box("stsd", big(0) + big(1), entry)
                + entries("stsz", first: [0], sizes.map { [$0] })
                + entries("stsc", chunks.map { [$0.first, $0.samples, 1] })
                + entries("stco", offsets.map { [$0] })
                + entries("stts", times.map { [$0.count, $0.duration] })
        }

        private func entries(
            _ type: String, first: [Int] = [], _ entries: [[Int]]
        ) -> [UInt8] {
            box(type, ([0] + first + [entries.count] + entries.flatMap { $0 }).flatMap { big($0) })
        }
    }

    /// A file of `count` bytes with these tracks.
    private static func file(_ tracks: Track..., count: Int = 3_000) -> [UInt8] {
        let boxes = tracks.map(\.bytes)
        let file =
            box("ftyp", Array("avis".utf8), big(0))
            + box("moov", boxes.flatMap { $0 })
        return file + [UInt8](repeating: 0, count: max(0, count - file.count))
    }

    private static func map(_ bytes: [UInt8], framesMax: Int = 100) throws -> AnimationMap {
        let map = AnimationMap(bytes.span, framesMax: framesMax)
        return try #require(map)
    }

    @Test func samplesLieWhereTheTablesSay() throws {
        let map = try Self.map(Self.file(Track()))
        #expect(map.canvas == PixelSize(width: 8, height: 6))
        #expect(map.frames.map(\.parts) == [[2_000..<2_003], [2_003..<2_008], [2_100..<2_104]])
        #expect(map.frames.map(\.duration) == [40_000, 40_000, 70_000])
        #expect(map.frames.map(\.mayBeTransparent) == [false, false, false])
        #expect(map.end == .whole)
    }

    @Test func alphaIsATrackOfItsOwn() throws {
        var alpha = Track(number: 2, owner: 1)
        alpha.offsets = [2_500, 2_600]
        let map = try Self.map(Self.file(alpha, Track()))
        #expect(map.frames[1].parts == [2_003..<2_008, 2_503..<2_508])
        #expect(map.frames.map(\.mayBeTransparent) == [true, true, true])
        // A frame is complete only when its alpha is.
        let part = Self.file(alpha, Track(), count: 2_504)
        #expect(try Self.map(part).frames.count == 1)
        #expect(try Self.map(part).end == .cut)
    }

    /// Current encoders use the handler `auxv` for such tracks and state their auxiliary type.
    @Test(arguments: [
        (nil, true), ("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", true),
        ("urn:mpeg:mpegB:cicp:systems:auxiliary:depth", false),
    ])
    func onlyATrackOfAlphaIsAlpha(kind: String?, isAlpha: Bool) throws {
        for handler in ["pict", "auxv"] {
            let other = Track(number: 2, owner: 1, handler: handler, kind: kind)
            let file = Self.file(other, Track())
            let map = try Self.map(file)
            #expect(map.frames.map(\.mayBeTransparent) == [isAlpha, isAlpha, isAlpha])
            #expect(AVIFPatches(HeaderBytes(file.span), ofTracks: true).all.isEmpty == isAlpha)
        }
        let nobodys = Self.file(Track(handler: "auxv"))
        #expect(AnimationMap(nobodys.span, framesMax: 9) == nil)
    }

    /// ISO/IEC 23008-12, 9.6.1.
    @Test func anEditListSaysHowOften() throws {
        for (whole, segment, repeats, plays) in [
            (450, 150, true, 3), (451, 150, true, 4), (150, 150, true, 1),
            (0xFFFF_FFFF, 150, true, 0), (150, nil, true, 0), (450, 150, false, 1),
            (450, 0, true, 0), (0, 150, true, 0),
        ] as [(Int, Int?, Bool, Int)] {
            let track = Track(whole: whole, segment: segment, repeats: repeats)
            #expect(
                try Self.map(Self.file(track)).plays == plays, "\(whole), \(segment ?? -1)")
        }
    }

    @Test func tablesThatCannotBeEndTheWalk() throws {
        #expect(try Self.map(Self.file(Track(sizes: [3, 0, 4]))).frames.count == 1)
        #expect(try Self.map(Self.file(Track(chunks: [(2, 2)]))).end == .broken)
        #expect(try Self.map(Self.file(Track(chunks: [(1, 0)]))).end == .broken)
        #expect(try Self.map(Self.file(Track(offsets: [2_000]))).frames.count == 2)
        #expect(try Self.map(Self.file(Track(offsets: [0xFFFF_FFFF, 9]))).end == .cut)
        #expect(try Self.map(Self.file(Track()), framesMax: 2).end == .limit)
        #expect(AnimationMap(Self.file(Track(sizes: [])).span, framesMax: 9) == nil)
    }

    @Test func timesThatCannotBeAreUsualOnes() throws {
        let durations = try [
            Track(timescale: 0), Track(times: []), Track(times: [(3, 5)]),
            Track(timescale: 1, times: [(0, 9), (3, 0xFFFF_FFFF)]),
        ].map { try Self.map(Self.file($0)).frames.map(\.duration) }
        #expect(durations[..<3].allSatisfy { $0 == [100_000, 100_000, 100_000] })
        #expect(durations[3] == [0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF])
    }

    @Test func framesComeAsTheirBytesDo() throws {
        let whole = Self.file(Track())
        var counts: [Int] = []
        for count in stride(from: 0, through: whole.count, by: 7) {
            let map = AnimationMap(whole.span.extracting(first: count), framesMax: 9)
            counts.append(map?.frames.count ?? 0)
        }
        #expect(counts == counts.sorted())
        #expect(Set(counts).isSubset(of: [0, 1, 2, 3]) && counts.last == 3)
    }

    /// The brand determines whether a file is shown as a sequence.
    @Test func aStillImageIsNoSequence() {
        var bytes = Self.file(Track())
        bytes.replaceSubrange(8..<12, with: Array("avif".utf8))
        #expect(AnimationMap(bytes.span, framesMax: 9) == nil)
        #expect(HeaderBytes(bytes.span).avifFrames == 1)
    }
}
