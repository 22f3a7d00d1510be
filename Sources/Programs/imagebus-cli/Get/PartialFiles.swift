import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import Messages
import StackAccess
import Synchronization

/// `imagebus get --partials`: images of what has arrived so far, as files.
final class PartialFiles: Sendable {
    /// One of them.
    struct File: Encodable, Sendable {
        let file: String
        /// Bytes of the source that had arrived.
        let arrived: UInt64
        let width: Int
        let height: Int
        /// Since the load began.
        let milliseconds: Double
    }

    /// What came of the load before its end.
    struct Account: Encodable, Sendable {
        /// Bytes that had arrived, and milliseconds, when the header was known; null: it never was.
        var infoArrived: UInt64?
        var infoMilliseconds: Double?
        var files: [File] = []

        private enum CodingKeys: String, CodingKey {
            case infoArrived, infoMilliseconds, files
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(infoArrived, forKey: .infoArrived)
            try values.encode(infoMilliseconds, forKey: .infoMilliseconds)
            try values.encode(files, forKey: .files)
        }
    }

    private let files: NumberedFiles
    private let start = MonotonicClock.now()
    private let account = Mutex(Account())
    private let fault = Mutex<OutputError?>(nil)

    /// Makes the directory.
    init(in directory: String) throws(OutputError) {
        files = try NumberedFiles("partial", in: directory, from: 1)
    }

    /// What was written so far.
    var written: Account { account.withLock { $0 } }

    /// What kept a file from being written; none was after it.
    var failure: OutputError? { fault.withLock { $0 } }

    /// Writes what a load shows, until it ends.
    func write(_ events: AsyncStream<LoadEvent>) async {
        for await event in events {
            do throws(OutputError) {
                try take(event)
            } catch {
                return fault.withLock { $0 = error }
            }
        }
    }

    private func take(_ event: LoadEvent) throws(OutputError) {
        switch event {
        case .progress(let progress) where progress.info != nil:
            let now = milliseconds
            account.withLock { account in
                guard account.infoArrived == nil else { return }
                (account.infoArrived, account.infoMilliseconds) = (progress.received, now)
            }
        case .partial(let image): try write(image)
        case .progress, .info, .cached, .end: break
        }
    }

    private func write(_ image: ImageResponse) throws(OutputError) {
        guard let info = image.info else { return }
        let path = files.path(account.withLock { $0.files.count } + 1, info.format)
        try image.withBytes { (bytes) throws(OutputError) in try OutputFile.write(bytes, to: path) }
        let file = File(
            file: path, arrived: image.arrivedBytes ?? 0, width: info.size.width,
            height: info.size.height, milliseconds: milliseconds)
        account.withLock { $0.files.append(file) }
    }

    private var milliseconds: Double {
        (Double(MonotonicClock.now() - start) / 1e3).rounded() / 1e3
    }
}
