import Zlib

/// A body that is one or more streams of gzip.
final class GzipBody: BodyCipher {
    private var decoder = BodyDecoder(.gzip)

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(DownloadFailure) -> CipherStep {
        let taken = decoder.hasRoom ? min(input.byteCount, BodyDecoder.pendingBytesMax) : 0
        decoder.append(input.extracting(first: taken))
        let produced: Int
        do throws(ZlibError) {
            produced = try decoder.decode(into: room)
        } catch {
            throw .undecryptable("it is not gzip")
        }
        let isEnd = isLast && taken == input.byteCount && !decoder.isBehind
        guard !isEnd || decoder.isComplete else {
            throw .undecryptable("it ends before its gzip does")
        }
        return CipherStep(consumed: taken, produced: produced, isEnd: isEnd)
    }
}
