/// Frames of a HEIF file that follow one another in time (ISO/IEC 23008-12, 7), and the track of
/// their alpha where there is one.
package struct PictureSequence: Hashable, Sendable {
    /// The frames.
    package let main: PictureTrack
    /// What belongs to each of them (ISO/IEC 23008-12, 7.5.3).
    package let auxiliary: PictureTrack?
}

/// A track of pictures as its boxes say (ISO/IEC 14496-12, 8): every number may be a stranger's.
package struct PictureTrack: Hashable, Sendable {
    /// As the pictures are coded, before they are turned.
    package let size: PixelSize
    /// How often all of them are shown; 0: without end.
    package let plays: Int
    /// Parts of a second in which it counts; 0 where it does not say.
    package let timescale: Int
    /// How many pictures it says it has, at least one.
    package let count: Int
    /// What the coded form of each is.
    let codec: Int
    /// Boxes that say how the pictures look.
    let entry: Range<Int>
    /// The number of the track.
    let number: Int
    /// The number of the track that this one belongs to, and where the file says it.
    let owner: Int?
    let ownerPlace: Int?
    /// Whether it can be the alpha of another track (ISO/IEC 23008-12, 7.5.3.1): it does not say
    /// that it is something else.
    let isAlpha: Bool
    /// The tables of its samples, without version and flags.
    let (sizes, times, chunks, offsets): (Range<Int>, Range<Int>, Range<Int>, Range<Int>)
    /// Bytes of an offset: 4 or 8.
    let offsetBytes: Int
}

extension HeaderBytes {
    /// Frames of an AVIF image sequence, 1 of all other files: what lies beside the primary image
    /// of a still one is no frame.
    package var avifFrames: Int { avifSequence?.main.count ?? 1 }

    /// The sequence of an AVIF whose brand says that it is one.
    package var avifSequence: PictureSequence? {
        guard has("ftypavis", at: 4), let sequence = pictureSequence,
            sequence.main.codec == BoxType.av1
        else { return nil }
        return sequence
    }

    /// Whether a HEIF has frames besides images, or without.
    package var hasHEICFrames: Bool {
        let isSequence = ["hevc", "hevx", "msf1"].contains { (brand: StaticString) in
            has("ftyp", at: 4) && has(brand, at: 8)
        }
        return isSequence && pictureSequence != nil
    }

    /// The first track of pictures that belongs to no other; `nil` where there is none, and while
    /// what says it is not there as a whole.
    var pictureSequence: PictureSequence? {
        let tracks = pictureTracks
        guard let main = tracks.first(where: { $0.owner == nil }) else { return nil }
        let auxiliary = tracks.first {
            $0.owner == main.number && $0.codec == main.codec && $0.isAlpha
        }
        return PictureSequence(main: main, auxiliary: auxiliary)
    }

    /// All tracks of pictures, in order.
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

    /// Whether the handler is that of pictures for others (`auxv`), which some files call `pict`;
    /// `nil` for other tracks.
    private func isAuxiliary(_ media: Range<Int>) -> Bool? {
        guard let handler = box(BoxType.handler, in: media) else { return nil }
        if has("auxv", at: handler.lowerBound + 8) { return true }
        return has("pict", at: handler.lowerBound + 8) ? false : nil
    }

    /// libavif, too, takes pictures that do not say what they are for alpha.
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

    /// Samples of which each has a size: the same for all, or one in the table.
    private func sampleCount(_ sizes: Range<Int>) -> Int? {
        guard let common = bigEndian(4, at: sizes.lowerBound),
            let count = bigEndian(4, at: sizes.lowerBound + 4)
        else { return nil }
        return common > 0 || count <= (sizes.count - 8) / 4 ? count : nil
    }

    /// An edit list that is repeated until the track ends says how often (ISO/IEC 23008-12, 9.6.1);
    /// one that is not says once. Without one the file says nothing.
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

    /// `nil` for all ones, which stand for no end, and for what is as good as that.
    private func duration(at offset: Int, isLong: Bool) -> Int? {
        guard isLong else {
            return bigEndian(4, at: offset).flatMap { $0 == UInt32.max ? nil : $0 }
        }
        return byte(offset) == 0 ? bigEndian(7, at: offset + 1) : nil
    }
}

/// Goes through the samples of a track in order: where each lies, and how long it is shown. Each
/// step takes the same time, whatever the tables say.
package struct SampleWalk: Sendable {
    /// One sample.
    package struct Sample: Hashable, Sendable {
        /// Its bytes, which need not be in the file.
        package let range: Range<Int>
        /// In the track's parts of a second.
        package let duration: Int
    }

    private let track: PictureTrack
    private var index = 0
    /// Entries of the table of chunks, the one that holds now, and the first chunk of the next one.
    private let runs: Int
    private var (run, nextRunChunk) = (-1, 1)
    /// The chunk, from 1 on, and samples that it has yet.
    private var (chunk, left) = (0, 0)
    private var samplesOfChunk = 0
    private var offset = 0
    /// Entries of the table of times, the one that holds now, and samples that it has yet.
    private let spans: Int
    private var (span, spanLeft, duration) = (-1, 0, 0)

    /// Before the first sample of a track of that file.
    package init(_ track: PictureTrack, in file: borrowing HeaderBytes) {
        self.track = track
        runs = file.entries(of: track.chunks, bytes: 12)
        spans = file.entries(of: track.times, bytes: 8)
    }

    /// The next sample; `nil` where the tables end before the samples do, and where a number of
    /// them cannot be.
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

    /// Goes on to the chunk of the next sample: of each entry the first number is that of the first
    /// chunk it holds for, which is more than the one before it.
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
        // No file is so long that it takes more.
        return file.byte(place) == 0 ? file.bigEndian(7, at: place + 1) : nil
    }

    /// What the table does not say is 0. Entries for no sample are passed over, a few of them.
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
    /// Entries that a table says it has, as far as its box has room for them.
    fileprivate func entries(of table: Range<Int>, bytes: Int) -> Int {
        guard let count = bigEndian(4, at: table.lowerBound) else { return 0 }
        return min(count, max(0, table.count - 4) / bytes)
    }
}
