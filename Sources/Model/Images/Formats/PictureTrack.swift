/// The timed frames of a HEIF file (ISO/IEC 23008-12, 7), with the track of their alpha if there is
/// one.
package struct PictureSequence: Hashable, Sendable {
    /// The color frames.
    package let main: PictureTrack
    /// The alpha of each frame (ISO/IEC 23008-12, 7.5.3).
    package let auxiliary: PictureTrack?
}

/// A picture track as declared by its boxes (ISO/IEC 14496-12, 8). Every number is untrusted.
///
/// The frames are the samples of the first track of handler `pict` that belongs to no other track;
/// their alpha is the first track auxiliary to it that declares no other use, such as depth. A
/// track with incomplete tables doesn't count; of contradictory tables, the frames before the
/// contradiction do. At most 1,048,576 samples are read. Decoding a frame includes those from the
/// nearest earlier sync sample on (`stss`; without that table, the first sample).
package struct PictureTrack: Hashable, Sendable {
    /// The size as coded, before rotation.
    package let size: PixelSize
    /// How often all pictures are played; 0 for an infinite loop.
    package let plays: Int
    /// Time units per second; 0 if not stated.
    package let timescale: Int
    /// The declared number of pictures, at least one.
    package let count: Int
    /// The four-character code of the codec.
    let codec: Int
    /// The range of the sample entry boxes, which describe the pictures.
    let entry: Range<Int>
    /// The track ID.
    let number: Int
    /// The ID of the track that this one belongs to, and the offset of that ID in the file.
    let owner: Int?
    let ownerPlace: Int?
    /// Whether the track can be the alpha of another one (ISO/IEC 23008-12, 7.5.3.1), that is, it
    /// does not declare another type.
    let isAlpha: Bool
    /// The sample tables, without version and flags.
    let (sizes, times, chunks, offsets): (Range<Int>, Range<Int>, Range<Int>, Range<Int>)
    /// Bytes per offset: 4 or 8.
    let offsetBytes: Int
}

extension HeaderBytes {
    /// The number of frames of an AVIF image sequence; 1 for any other file, because secondary
    /// images of a still file are not frames.
    package var avifFrames: Int { avifSequence?.main.count ?? 1 }

    /// The sequence of an AVIF whose brand declares one.
    package var avifSequence: PictureSequence? {
        guard has("ftypavis", at: 4), let sequence = pictureSequence,
            sequence.main.codec == BoxType.av1
        else { return nil }
        return sequence
    }

    /// Whether a HEIF has frames, with or without still images.
    package var hasHEICFrames: Bool {
        let isSequence = ["hevc", "hevx", "msf1"].contains { (brand: StaticString) in
            has("ftyp", at: 4) && has(brand, at: 8)
        }
        return isSequence && pictureSequence != nil
    }

    /// The first picture track that doesn't belong to another, with its alpha; `nil` if there is
    /// none or if the movie box is incomplete.
    var pictureSequence: PictureSequence? {
        let tracks = pictureTracks
        guard let main = tracks.first(where: { $0.owner == nil }) else { return nil }
        let auxiliary = tracks.first {
            $0.owner == main.number && $0.codec == main.codec && $0.isAlpha
        }
        return PictureSequence(main: main, auxiliary: auxiliary)
    }

    /// All picture tracks, in order.
    var pictureTracks: [PictureTrack] {
        guard let movie = box(BoxType.movie, in: 0..<Int.max), !movie.isEmpty,
            byte(movie.upperBound - 1) != nil
        else { return [] }
        return boxes(in: movie).filter { $0.type == BoxType.track }
            .compactMap { pictureTrack(in: $0.content) }
    }

    private func pictureTrack(in track: Range<Int>) -> PictureTrack? {
        guard let header = box(BoxType.trackHeader, in: track),
            let isLong = byte(header.lowerBound).map({ $0 == 1 }),
            let number = bigEndian(4, at: header.lowerBound + (isLong ? 20 : 12)), number > 0,
            let media = box(BoxType.media, in: track), let isAuxiliary = isAuxiliary(media),
            let information = box(BoxType.mediaInformation, in: media),
            let table = box(BoxType.sampleTable, in: information)
        else { return nil }
        let owner = ownerPlace(of: track)
        guard owner != nil || !isAuxiliary else { return nil }
        return pictureTrack(
            number, in: table, plays: plays(of: track, header), timescale: timescale(of: media),
            ownerPlace: owner)
    }

    /// Returns whether the handler is that of auxiliary pictures (`auxv`), which some files call
    /// `pict`; `nil` for other tracks.
    private func isAuxiliary(_ media: Range<Int>) -> Bool? {
        guard let handler = box(BoxType.handler, in: media) else { return nil }
        if has("auxv", at: handler.lowerBound + 8) { return true }
        return has("pict", at: handler.lowerBound + 8) ? false : nil
    }

    /// Returns whether pictures are alpha. Like libavif, accepts pictures that don't declare their
    /// type.
    private func isAlpha(_ entry: Range<Int>) -> Bool {
        guard let kind = box(BoxType.auxiliaryKind, in: entry) else { return true }
        let start = kind.lowerBound + Self.versionBytes
        return has("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0", at: start)
            || has("urn:mpeg:hevc:2015:auxid:1\0", at: start)
    }

    private func timescale(of media: Range<Int>) -> Int {
        guard let header = box(BoxType.mediaHeader, in: media),
            let version = byte(header.lowerBound)
        else { return 0 }
        return bigEndian(4, at: header.lowerBound + (version == 1 ? 20 : 12)) ?? 0
    }

    private func ownerPlace(of track: Range<Int>) -> Int? {
        box(BoxType.trackReferences, in: track)
            .flatMap { box(BoxType.auxiliaryOf, in: $0) }
            .flatMap { $0.count >= 4 ? $0.lowerBound : nil }
    }

    private func pictureTrack(
        _ number: Int, in table: Range<Int>, plays: Int, timescale: Int, ownerPlace: Int?
    ) -> PictureTrack? {
        let parts = boxes(in: table)
        func part(_ types: Int...) -> Box? { parts.first { types.contains($0.type) } }
        guard let description = part(BoxType.sampleDescription),
            let entry = boxes(in: description.content.dropFirst(Self.versionBytes + 4)).first,
            let width = bigEndian(2, at: entry.content.lowerBound + 24),
            let height = bigEndian(2, at: entry.content.lowerBound + 26), min(width, height) > 0,
            let sizes = part(BoxType.sampleSizes)?.content.dropFirst(Self.versionBytes),
            let times = part(BoxType.sampleTimes)?.content.dropFirst(Self.versionBytes),
            let chunks = part(BoxType.samplesOfChunks)?.content.dropFirst(Self.versionBytes),
            let offsets = part(BoxType.chunkOffsets, BoxType.longChunkOffsets),
            let count = sampleCount(sizes), count > 0
        else { return nil }
        let properties = entry.content.dropFirst(78)
        return PictureTrack(
            size: PixelSize(width: width, height: height), plays: plays, timescale: timescale,
            count: count, codec: entry.type, entry: properties, number: number,
            owner: ownerPlace.flatMap { bigEndian(4, at: $0) }, ownerPlace: ownerPlace,
            isAlpha: isAlpha(properties), sizes: sizes, times: times, chunks: chunks,
            offsets: offsets.content.dropFirst(Self.versionBytes),
            offsetBytes: offsets.type == BoxType.chunkOffsets ? 4 : 8)
    }

    /// Returns the number of samples if every sample has a size: a common one, or one in the table.
    private func sampleCount(_ sizes: Range<Int>) -> Int? {
        guard let common = bigEndian(4, at: sizes.lowerBound),
            let count = bigEndian(4, at: sizes.lowerBound + 4)
        else { return nil }
        return common > 0 || count <= (sizes.count - 8) / 4 ? count : nil
    }

    /// An edit list of one entry that repeats until the track ends determines the count (ISO/IEC
    /// 23008-12, 9.6.1): the track's duration divided by the entry's, rounded up; endless for an
    /// endless track. A non-repeating one means once. Without an edit list it is unspecified.
    private func plays(of track: Range<Int>, _ header: Range<Int>) -> Int {
        guard let edits = box(BoxType.edits, in: track),
            let list = box(BoxType.editList, in: edits),
            let flags = bigEndian(3, at: list.lowerBound + 1),
            bigEndian(4, at: list.lowerBound + 4) == 1
        else { return 0 }
        guard flags & 1 == 1 else { return 1 }
        let (isLong, isLongTrack) = (byte(list.lowerBound) == 1, byte(header.lowerBound) == 1)
        let segment = duration(at: list.lowerBound + 8, isLong: isLong)
        let whole = duration(at: header.lowerBound + (isLongTrack ? 28 : 20), isLong: isLongTrack)
        guard let segment, let whole, segment > 0, whole > 0 else { return 0 }
        return min((whole - 1) / segment + 1, Int(UInt32.max))
    }

    /// Returns `nil` for all ones, which mean an infinite duration, and for durations that are
    /// practically infinite.
    private func duration(at offset: Int, isLong: Bool) -> Int? {
        guard isLong else {
            return bigEndian(4, at: offset).flatMap { $0 == UInt32.max ? nil : $0 }
        }
        return byte(offset) == 0 ? bigEndian(7, at: offset + 1) : nil
    }
}

/// Iterates over the samples of a track in order, with their location and duration. Each step takes
/// constant time, whatever the tables contain.
package struct SampleWalk: Sendable {
    package struct Sample: Hashable, Sendable {
        /// The range of its bytes, which may lie outside the file.
        package let range: Range<Int>
        /// The duration in the track's timescale.
        package let duration: Int
    }

    private let track: PictureTrack
    private var index = 0
    /// The number of entries in the chunk table, the current entry, and the first chunk of the next
    /// one.
    private let runs: Int
    private var (run, nextRunChunk) = (-1, 1)
    /// The current chunk, counted from 1, and its remaining samples.
    private var (chunk, left) = (0, 0)
    private var samplesOfChunk = 0
    private var offset = 0
    /// The number of entries in the time table, the current entry, and its remaining samples.
    private let spans: Int
    private var (span, spanLeft, duration) = (-1, 0, 0)

    /// Creates an iterator before the first sample of a track of that file.
    package init(_ track: PictureTrack, in file: borrowing HeaderBytes) {
        self.track = track
        runs = file.entries(of: track.chunks, bytes: 12)
        spans = file.entries(of: track.times, bytes: 8)
    }

    /// Returns the next sample; `nil` if the tables end before the samples do or contain an invalid
    /// number.
    package mutating func next(in file: borrowing HeaderBytes) -> Sample? {
        guard index < track.count, findChunk(in: file), let size = size(in: file), size > 0 else {
            return nil
        }
        findTime(in: file)
        let sample = Sample(range: offset..<offset + size, duration: duration)
        (offset, left, spanLeft, index) = (offset + size, left - 1, spanLeft - 1, index + 1)
        return sample
    }

    private func size(in file: borrowing HeaderBytes) -> Int? {
        let table = track.sizes.lowerBound
        guard let common = file.bigEndian(4, at: table), common == 0 else {
            return file.bigEndian(4, at: table)
        }
        return file.bigEndian(4, at: table + 8 + 4 * index)
    }

    /// Advances to the chunk of the next sample. Each table entry begins with its first chunk,
    /// which must be greater than that of the previous entry.
    private mutating func findChunk(in file: borrowing HeaderBytes) -> Bool {
        guard left == 0 else { return true }
        chunk += 1
        if chunk == nextRunChunk {
            run += 1
            guard run < runs else { return false }
            let entry = track.chunks.lowerBound + 4 + 12 * run
            guard file.bigEndian(4, at: entry) == chunk,
                let count = file.bigEndian(4, at: entry + 4), count > 0
            else { return false }
            samplesOfChunk = count
            let next = run + 1 < runs ? file.bigEndian(4, at: entry + 12) : nil
            nextRunChunk = next ?? .max
        }
        guard let start = chunkOffset(in: file) else { return false }
        (left, offset) = (samplesOfChunk, start)
        return true
    }

    private func chunkOffset(in file: borrowing HeaderBytes) -> Int? {
        let bytes = track.offsetBytes
        guard chunk <= file.entries(of: track.offsets, bytes: bytes) else { return nil }
        let place = track.offsets.lowerBound + 4 + bytes * (chunk - 1)
        guard bytes == 8 else { return file.bigEndian(4, at: place) }
        // No file is large enough for an eighth byte.
        return file.byte(place) == 0 ? file.bigEndian(7, at: place + 1) : nil
    }

    /// Missing durations are 0. A few entries without samples are skipped.
    private mutating func findTime(in file: borrowing HeaderBytes) {
        var passed = 0
        while spanLeft <= 0, span + 1 < spans, passed < 8 {
            (span, passed) = (span + 1, passed + 1)
            let entry = track.times.lowerBound + 4 + 8 * span
            spanLeft = file.bigEndian(4, at: entry) ?? 0
            duration = file.bigEndian(4, at: entry + 4) ?? 0
        }
        if spanLeft <= 0 { duration = 0 }
    }
}

extension HeaderBytes {
    /// Returns the declared number of table entries, limited to what fits into the box.
    fileprivate func entries(of table: Range<Int>, bytes: Int) -> Int {
        guard let count = bigEndian(4, at: table.lowerBound) else { return 0 }
        return min(count, max(0, table.count - 4) / bytes)
    }
}
