/// A WebP without its metadata (RFC 9649, section 2): what its pixels, frames and colors need stays
/// as it is, byte for byte.
enum WebPFile {
    private static let headBytes = 12
    private static let frameHeadBytes = 16
    private static let extendedBytes = 10
    private static let exifFlag: UInt8 = 0x08
    private static let xmpFlag: UInt8 = 0x04

    private struct Chunk {
        let start: Int
        /// Of its data.
        let end: Int
        var data: Range<Int> { (start + 8)..<end }
    }

    /// `nil` where the chunks cannot be followed up to the end that the file says. What lies behind
    /// that is left out.
    static func stripped(
        _ file: UnsafeRawBufferPointer, keeping kept: PassedMetadata
    ) -> StrippedFile? {
        guard file.count >= headBytes, file.has("RIFF", at: 0), file.has("WEBP", at: 8) else {
            return nil
        }
        let end = 8 + file.littleEndian(4, 4)
        guard end <= file.count, let chunks = chunks(file, headBytes..<end),
            let first = chunks.first
        else { return nil }
        var body = StrippedFile(of: file)
        if file.has("VP8X", at: first.start) {
            guard first.data.count >= extendedBytes else { return nil }
            body.append(extended(file, first, kept))
            guard append(chunks.dropFirst(), of: file, to: &body) else { return nil }
            append("EXIF", kept.exif, to: &body)
            append("XMP ", kept.xmp, to: &body)
        } else {
            guard isOfPixels(file, first) else { return nil }
            append(first, to: &body)
        }
        var made = StrippedFile(of: file)
        made.append(Array("RIFF".utf8) + little(body.length + 4) + Array("WEBP".utf8))
        made.append(body)
        return made.isWhole ? made : nil
    }

    /// Chunks that fill the range, the last of which may lack the byte that makes it even.
    private static func chunks(
        _ file: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> [Chunk]? {
        var (chunks, place): ([Chunk], Int) = ([], range.lowerBound)
        while place < range.upperBound {
            guard place + 8 <= range.upperBound, chunks.count < 1 << 16 else { return nil }
            let length = file.littleEndian(place + 4, 4)
            guard length <= range.upperBound - place - 8 else { return nil }
            chunks.append(Chunk(start: place, end: place + 8 + length))
            place += 8 + length + length % 2
        }
        return chunks
    }

    /// False where a frame cannot be followed, or nothing has pixels.
    private static func append(
        _ chunks: ArraySlice<Chunk>, of file: UnsafeRawBufferPointer, to body: inout StrippedFile
    ) -> Bool {
        var hasPixels = false
        for chunk in chunks {
            if file.has("ANMF", at: chunk.start) {
                guard let frame = frame(file, chunk) else { return false }
                body.append(frame)
                hasPixels = true
            } else if isOfPixels(file, chunk) {
                append(chunk, to: &body)
                hasPixels = true
            } else if file.has("ICCP", at: chunk.start) || file.has("ANIM", at: chunk.start)
                || file.has("ALPH", at: chunk.start)
            {
                append(chunk, to: &body)
            }
        }
        return hasPixels
    }

    /// A frame of an animation with nothing but its pixels.
    private static func frame(_ file: UnsafeRawBufferPointer, _ chunk: Chunk) -> StrippedFile? {
        guard chunk.data.count >= frameHeadBytes else { return nil }
        let start = chunk.data.lowerBound + frameHeadBytes
        guard let parts = chunks(file, start..<chunk.end) else { return nil }
        var body = StrippedFile(of: file)
        for part in parts where isOfPixels(file, part) || file.has("ALPH", at: part.start) {
            append(part, to: &body)
        }
        var frame = StrippedFile(of: file)
        frame.append(Array("ANMF".utf8) + little(body.length + frameHeadBytes))
        frame.keep(chunk.data.lowerBound..<start)
        frame.append(body)
        return frame
    }

    private static func isOfPixels(_ file: UnsafeRawBufferPointer, _ chunk: Chunk) -> Bool {
        file.has("VP8 ", at: chunk.start) || file.has("VP8L", at: chunk.start)
    }

    /// The features of the file (section 2.7.1), as far as they are left.
    private static func extended(
        _ file: UnsafeRawBufferPointer, _ chunk: Chunk, _ kept: PassedMetadata
    ) -> [UInt8] {
        var data = Array(file[chunk.data].prefix(extendedBytes))
        data[0] &= ~(exifFlag | xmpFlag)
        if !kept.exif.isEmpty { data[0] |= exifFlag }
        if !kept.xmp.isEmpty { data[0] |= xmpFlag }
        return Array("VP8X".utf8) + little(extendedBytes) + data
    }

    private static func append(_ chunk: Chunk, to body: inout StrippedFile) {
        body.keep(chunk.start..<chunk.end)
        if chunk.data.count % 2 == 1 { body.append([0]) }
    }

    private static func append(
        _ name: String, _ data: [UInt8], to body: inout StrippedFile
    ) {
        guard !data.isEmpty else { return }
        let padding = [UInt8](repeating: 0, count: data.count % 2)
        body.append(Array(name.utf8) + little(data.count) + data + padding)
    }

    private static func little(_ number: Int) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
