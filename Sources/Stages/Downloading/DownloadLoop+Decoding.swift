import Curl
import Messages

extension DownloadLoop {
    /// Whether there are bytes to decode.
    var isBehind: Bool { active.values.contains { $0.sink.isBehind } }

    /// Decodes something of each body that has bytes to decode. Between two turns everything else
    /// goes on, and cancels and deadlines are obeyed.
    func decodeATurn() {
        let behind = active.values.filter { $0.sink.isBehind }
        for download in behind {
            do throws(DownloadFailure) {
                let room = decoding.room(for: behind.count)
                try pulse.handling(download.sink.job.id) { () throws(DownloadFailure) in
                    try download.sink.decode(through: room)
                }
            } catch {
                // The sink keeps the error.
                finish(download, nil)
                continue
            }
            goOn(download)
        }
    }

    /// Gets what libcurl keeps of the transfer, or tells its result where all is decoded.
    private func goOn(_ download: ActiveDownload) {
        if download.hasAllBytes {
            if !download.sink.isBehind, !download.sink.beginsDecryption() { finish(download, nil) }
            return
        }
        guard download.sink.takesPostponed() else { return }
        do throws(CurlError) {
            try transfers.resume(download.transfer)
            mayStandStill = true
        } catch {
            broke(download, error)
        }
    }
}

/// The room that all bodies share to be decoded in, one after another.
final class DecodingTurn {
    private let room = UnsafeMutableRawBufferPointer.allocate(
        byteCount: DecodingTurn.bytesMax, alignment: 16)

    /// Bytes that all bodies together may take or become in a turn: some milliseconds of work.
    static let bytesMax = 1 << 20
    private static let bytesMin = 4 << 10

    deinit { room.deallocate() }

    /// The share of one of `count` bodies.
    func room(for count: Int) -> UnsafeMutableRawBufferPointer {
        let share = max(Self.bytesMin, Self.bytesMax / max(1, count))
        return UnsafeMutableRawBufferPointer(rebasing: room[..<share])
    }
}
