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
